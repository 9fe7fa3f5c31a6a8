r"""Lift: how many times as many rows of a class the likeliest rows hold as any rows do.

Whoever can look at a tenth of the rows looks at those with the highest probabilities. With r of all
rows of the class among them, the lift is :math:`r / 0.1`: 1 is guessing, 10 is all of them. So it is
known as well as the share r, and its interval is that of r, from as many labels as the class has.

``share`` (m, K) is the share of each class in the labels of a row, ``weight`` (m,) sums to one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinviews.method.error_estimate import error_rate

TOP = 0.1


class Lift(NamedTuple):
    """Of the likeliest tenth of the rows, with its 90% interval; NaN where unknown."""

    value: float
    low: float
    high: float


UNKNOWN_LIFT = Lift(np.nan, np.nan, np.nan)


def lift(share: np.ndarray, scores: np.ndarray, weight: np.ndarray, n_other: int) -> Lift:
    """Of the rarer of two classes, and of more the mean over the classes that there are.

    ``scores`` (m, K) grow with the probability of a class; ``n_other`` rows are to come.
    """
    of_class = weight @ share
    there = np.flatnonzero((of_class > 0) & (of_class < 1))
    if len(there) == 0 or not np.isfinite(scores).all():
        return UNKNOWN_LIFT
    if len(of_class) == 2:
        there = there[[of_class[there].argmin()]]
    inside = np.column_stack([share_in_top(scores[:, k], weight) for k in there])
    mass = weight[:, None] * share[:, there] / (len(there) * of_class[there])
    counted = mass > 0
    to_come = int(n_other * of_class[there].sum())
    outside = error_rate(1 - inside[counted], mass[counted], to_come)
    # Of a class with more rows than the tenth, some are always outside.
    most = float(np.minimum(1.0, TOP / of_class[there]).mean()) / TOP
    ends = (min((1 - end) / TOP, most) for end in (outside.value, outside.high, outside.low))
    return Lift(*ends)


def share_in_top(score: np.ndarray, weight: np.ndarray, top: float = TOP) -> np.ndarray:
    """(m,) how much of each row is in the top share of the weight; rows of equal score are so alike."""
    _, level = np.unique(score, return_inverse=True)
    of_level = np.bincount(level, weight)
    above = np.append(of_level[::-1].cumsum()[::-1][1:], 0.0)
    part = np.divide(top - above, of_level, out=np.zeros_like(above), where=of_level > 0)
    return np.asarray(np.clip(part, 0, 1)[level])
