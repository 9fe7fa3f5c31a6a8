"""Labels in two units: some are a hundredth or a thousandth of what the others are."""

from __future__ import annotations

import numpy as np

from twinviews.data_checks.data_finding import Finding, Rows, number_text, place, range_text

_FEWEST_LABELS, _FEWEST_APART = 20, 3
# Per cent and fractions, metres and centimetres; kilograms and grams, a thousands sign read as decimal.
_FACTORS = (100, 1000)
# Between the two groups nothing lies, for at least this factor.
_GAP = 5.0


def check_units(labels: np.ndarray, known: np.ndarray, rows: Rows) -> list[Finding]:
    """Whether a smaller group of positive labels, times a factor, lies among the others."""
    if len(labels) < _FEWEST_LABELS or labels.min() <= 0:
        return []
    order = np.sort(labels)
    cut = int(np.argmax(np.diff(np.log(order)))) + 1  # their ratio may be beyond all numbers
    low, high = order[:cut], order[cut:]
    few, many, is_low = (low, high, True) if len(low) < len(high) else (high, low, False)
    if high[0] < _GAP * low[-1] or len(few) < _FEWEST_APART:
        return []
    for factor in _FACTORS:
        other = few * factor if is_low else few / factor
        middle = np.quantile(many, [0.1, 0.9])
        if (
            middle[0] <= np.median(other) <= middle[1]
            and many[0] / 2 <= other[0] <= other[-1] <= 2 * many[-1]
        ):
            return [_finding(labels, known, rows, few, many, factor, is_low)]
    return []


def _finding(
    labels: np.ndarray,
    known: np.ndarray,
    rows: Rows,
    few: np.ndarray,
    many: np.ndarray,
    factor: int,
    is_low: bool,
) -> Finding:
    first = int(np.argmax(np.isin(labels, few)))
    what = f"a factor of {factor:,} {'below' if is_low else 'above'} the others"
    message = (
        f"{len(few):,} of {len(labels):,} labels are {range_text(few)} (the first is "
        f"{number_text(labels[first])}, {place(int(known[first]), rows)}), {what}, which are "
        f"{range_text(many)}: in another unit, or a decimal sign for a thousands sign?"
    )
    return Finding(
        "two units",
        message,
        "Bring all labels to one unit if so.",
        "Bring all labels to one unit in the table if so.",
    )
