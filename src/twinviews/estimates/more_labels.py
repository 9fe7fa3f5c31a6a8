r"""How many labels an interval of some width needs.

The variance of an estimate for N rows falls with the number n of random labels like
:math:`1/n - 1/N`, as long as predictions stay as good as they are. More labels make them better, so the
number is rather too large than too small. For the population the rows were drawn from, even a label
for every row leaves a variance, and some widths are out of reach.
"""

from __future__ import annotations

import math


def labels_needed(n_labels: int, n_rows: int, half_width: float, wanted: float) -> int:
    """Labels in all, of which ``n_labels`` are there and give ``half_width``."""
    if not half_width > wanted:
        return n_labels
    if not math.isfinite(half_width) or n_labels == 0:
        return n_rows
    now = 1 / n_labels - 1 / n_rows
    return min(n_rows, math.ceil(1 / ((wanted / half_width) ** 2 * now + 1 / n_rows)))
