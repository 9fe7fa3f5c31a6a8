r"""A quantile over all rows: where the estimated share of rows at or below a value crosses q.

For a value t, the share of rows with :math:`y \le t` is a mean, estimated like any other. The interval
holds the values t whose share is not told apart from q: it is a test, inverted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from twinviews.estimates.difference_estimator import MeanEstimate
from twinviews.estimates.interval_ends import critical_value

# How unlikely it is at the most that values beyond the thresholds matter.
_BEYOND = 1e-4
_MOST_THRESHOLDS = 120
_ROUNDING = 1e-9
# With fewer distinct labels than this share of them there are ties.
_DISTINCT = 0.9


def thresholds(y: np.ndarray, q: float, weight: np.ndarray) -> np.ndarray:
    """Values to look at: labels around their weighted quantile, and the middles between them.

    ``weight`` (n,) is for how much a label stands. Many labels may have the same value: those around
    the quantile are found by the share of labels at or below, not by their place among the values.
    """
    ordered, place = np.unique(y, return_inverse=True)
    weight = weight if weight.any() else np.ones(len(y))
    at_most = np.bincount(place.ravel(), weight).cumsum() / weight.sum()
    n = max(1, int(weight.sum() ** 2 / np.square(weight).sum()))  # as many as labels that count alike
    low, high = binom.ppf([_BEYOND, 1 - _BEYOND], n, q) / n
    first, last = np.searchsorted(at_most, [low - _ROUNDING, high + _ROUNDING])
    some = ordered[max(0, first - 1) : last + 2]
    every = max(1, len(some) * 2 // _MOST_THRESHOLDS)
    some = some[np.unique(np.append(np.arange(0, len(some), every), len(some) - 1))]
    return np.unique(np.concatenate([some, (some[1:] + some[:-1]) / 2]))


def quantile_and_ends(
    values: np.ndarray, shares: Sequence[MeanEstimate], q: float, coverage: float, *, ties: bool
) -> tuple[float, float, float]:
    """The quantile and the ends of its interval, from the estimated share at each of some values.

    With ``ties`` many rows have the same value, which is the quantile; else it may lie between two.
    """
    share = np.array([one.value for one in shares])
    half = np.array([critical_value(coverage, one.degrees) * np.sqrt(one.variance) for one in shares])
    return (
        _crossing(values, share, q, between=not ties),
        _crossing(values, share + half, q, between=not ties, below=-np.inf),
        _crossing(values, share - half, q, between=not ties, above=np.inf),
    )


def has_ties(y: np.ndarray) -> bool:
    """Whether many labels are the same."""
    return len(np.unique(y)) < _DISTINCT * len(y)


def _crossing(
    values: np.ndarray,
    curve: np.ndarray,
    q: float,
    *,
    between: bool,
    below: float | None = None,
    above: float | None = None,
) -> float:
    """Where a curve, made to rise, reaches q; ``below`` and ``above`` are for beyond the values."""
    rising = np.maximum.accumulate(curve)
    at = int(np.searchsorted(rising, q))
    if at == 0:
        return float(values[0]) if below is None else below
    if at == len(values):
        return float(values[-1]) if above is None else above
    if not between:
        return float(values[at])
    before, after = rising[at - 1], rising[at]
    return float(values[at - 1] + (q - before) / (after - before) * (values[at] - values[at - 1]))
