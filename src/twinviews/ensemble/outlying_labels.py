"""Labels so far from what the others predict that they would decide the fit: found, and judged.

A slip of the decimal sign or a total among the labels has a residual many times as large as the others,
and squared losses make the whole fit follow it. Such labels are left out of a second fit, and held-out
predictions decide between both. Labels that are far for a reason stay: their rows are unlike the other
labeled rows, or alike in some column, or they improve the predictions of each other.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import chdtrc, ndtri  # scipy.stats takes long to import

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
# Rows as far from their nearest labeled rows as these are, by chance, this often.
_SURELY_UNLIKE, _NEAREST = 0.02, 3
# Of very many labels that are not far, so many are enough to compare with.
_MOST_OTHERS = 2000
# A label is absurd if it is beyond the others by this many times the length of their range.
_ABSURD = 10.0
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


def are_unlike_others(X: np.ndarray, y: np.ndarray, far: np.ndarray) -> bool:
    """Whether rows of far labels are far from all others: what such rows are like, only they tell.

    Slips happen in any row, and most rows have others nearby, with other labels. So the distance of
    each row from its nearest labeled rows is ranked among those of the others, and the ranks are
    combined (Fisher 1925). A label that is beyond the range of the others by many times its length is
    a slip all the same.
    """
    others, k = np.flatnonzero(~far), int(far.sum())
    low, high = y[others].min(), y[others].max()
    reach = _ABSURD * (high - low)
    if k == 0 or (y[far] < low - reach).any() or (y[far] > high + reach).any():
        return False
    others = others[:_MOST_OTHERS]
    distances = cdist(X, X[others])
    distances[others, np.arange(len(others))] = np.inf
    near = np.sort(distances, axis=1)[:, :_NEAREST].mean(axis=1)
    farther = (near[others] >= near[far][:, None]).sum(axis=1)
    tails = (1 + farther) / (1 + len(others))
    return bool(chdtrc(2 * k, -2 * np.log(tails).sum()) <= _SURELY_UNLIKE)


def _ranks(values: np.ndarray) -> np.ndarray:
    """(m,) from 0, equal values with their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count + 1) / 2)[place]
