"""Labels so far from what the others predict that they would decide the fit: found, and judged.

A slip of the decimal sign or a total among the labels has a residual many times as large as the others,
and squared losses make the whole fit follow it. Such labels are left out of a second fit, and held-out
predictions decide between both. Labels that are far for a reason stay: their rows are alike in some
column, or they improve the predictions of each other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri  # scipy.stats takes long to import

# Deviations of a normal distribution in one median of absolute values.
_PER_MEDIAN = 1.4826
# A residual is far beyond this many deviations of the residuals and this many of the labels. Where
# there is hardly any noise, residuals at the edge of the data are many times the others, yet small.
_FAR, _WIDE = 6.0, 2.0
# Far labels decide the fit if they have this share of the squared residuals.
_DECISIVE = 0.5
# More labels than this share are no slips.
_MOST = 0.1
# Leaving them out must lower the squared error of the other labels to this share,
_CLEARLY_LOWER = 0.8
# and what the fit with them explains of their own squared residuals must leave this share.
_UNEXPLAINED = 0.8
# Rows as different from the others in some column as these are, by chance, in one table of a hundred.
_SURELY_ALIKE = 0.01
# Fewer rows are too few to be a kind: one alone may well have a rare value in some column.
_FEWEST_ALIKE = 3


def far_labels(residual: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(m,) which labels are so far from their held-out predictions that they decide the fit."""
    far = np.abs(residual) > _bound(residual, y)
    squares = weight * np.square(residual)
    decide = squares[far].sum() >= _DECISIVE * squares.sum()
    return far if decide and far.mean() <= _MOST else np.zeros_like(far)


def _bound(residual: np.ndarray, y: np.ndarray) -> float:
    """The largest residual that is not far."""
    return max(_FAR * _deviation_of_most(residual), _WIDE * _deviation_of_most(y - np.median(y)))


def _deviation_of_most(centred: np.ndarray) -> float:
    """A standard deviation that a minority of numbers, however far, cannot move far."""
    return _PER_MEDIAN * float(np.median(np.abs(centred)))


def is_better_without(
    with_far: np.ndarray, without: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> bool:
    """Whether the fit without far labels is the better one, by the held-out residuals of both.

    It must predict the other labels clearly better; losses are bounded, so that the far labels do not
    decide. And the fit with far labels must not predict those of them that it has not seen any better:
    else they belong to rows of their own kind, and are right.
    """
    bound = _bound(without, y)
    others = [weight @ np.square(np.clip(r, -bound, bound)) for r in (with_far, without)]
    far = np.abs(without) > bound
    of_far = [weight[far] @ np.square(r[far]) for r in (with_far, without)]
    return bool(others[1] < _CLEARLY_LOWER * others[0] and of_far[0] >= _UNEXPLAINED * of_far[1])


def are_alike(X: np.ndarray, far: np.ndarray) -> bool:
    """Whether the rows of far labels differ from the others in some column: then they are of one kind.

    By the rank-sum test of Wilcoxon in each of the (m, D) columns, corrected for their number.
    """
    m, k = len(far), int(far.sum())
    if k < _FEWEST_ALIKE:
        return False
    ranks = np.array([_ranks(column) for column in X.T])  # (D, m)
    deviation = np.sqrt(ranks.var(axis=1) * (m - k) / ((m - 1) * k))
    off = np.abs(ranks[:, far].mean(axis=1) - (m - 1) / 2)
    return bool((off > -ndtri(_SURELY_ALIKE / (2 * len(ranks))) * deviation).any())


def _ranks(values: np.ndarray) -> np.ndarray:
    """(m,) from 0, equal values with their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count + 1) / 2)[place]
