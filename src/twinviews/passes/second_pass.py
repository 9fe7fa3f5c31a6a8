"""The second pass over a table: sums over all rows of the columns of both views."""

from __future__ import annotations

from functools import partial

import numpy as np

from twinviews.method.kernel_values import Columns
from twinviews.method.landmarks import row_priorities
from twinviews.method.moments import Moments, sketch_rows
from twinviews.tables import Block


def moments_of(
    block: Block,
    *,
    columns: Columns,
    shift: np.ndarray,
    sketch_ratio: float | None = None,
    seed: int = 0,
) -> Moments:
    """The moments of a block of a table; with ``sketch_ratio``, of a sketch of its rows."""
    sketch = None
    if sketch_ratio is not None:
        priorities = row_priorities(block.X, seed)
        sketch = partial(sketch_rows, priorities=priorities, ratio=sketch_ratio)
    return Moments.of(columns(block.X), shift, block.weight, sketch)
