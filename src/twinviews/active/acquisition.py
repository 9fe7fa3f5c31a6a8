"""Which rows are worth a label: where a fit is uncertain, and earlier picks do not resolve that.

With the directions t of :mod:`twinviews.method.predictive_variance`, a label at a row s takes
(t . s)^2 / (1 + |s|^2) off the variance at t, whatever the label says: what a batch of rows resolves is
known before any of them is labeled.
"""

from __future__ import annotations

import numpy as np


def settle(T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The directions of the rows T after a label at the row with direction t.

    The covariance I of directions becomes I - t t^T / (1 + |t|^2) = S S^T with S = I - c t t^T.
    """
    squared = t @ t
    if squared == 0:
        return T
    c = (1 - 1 / np.sqrt(1 + squared)) / squared
    return T - np.outer(T @ (c * t), t)


def best_of_handfuls(
    T: np.ndarray, doubt: np.ndarray, k: int, handful: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """k of the rows, in the order to be labeled, and what each was worth when it was chosen.

    Each is the best of a handful of rows drawn at random: doubt, times the share of its variance that
    the rows chosen before it leave open. So a region is asked about at most ``handful`` times as often
    as it occurs, and outliers, of which every model is in doubt, do not take over.
    """
    k = min(k, len(T))
    before = np.square(T).sum(axis=1)
    free = np.ones(len(T), dtype=bool)
    chosen, worth = np.empty(k, dtype=np.intp), np.empty(k)
    for place in range(k):
        some = np.flatnonzero(free)
        if len(some) > handful:
            some = rng.choice(some, handful, replace=False)
        left = np.square(T[some]).sum(axis=1) / np.where(before[some] > 0, before[some], 1.0)
        values = doubt[some] * left
        best = int(values.argmax())
        chosen[place], worth[place] = some[best], values[best]
        free[some[best]] = False
        T = settle(T, T[some[best]])
    return chosen, worth
