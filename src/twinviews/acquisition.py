r"""Which rows are worth a label: where a fit is in doubt, and has no label nearby yet.

A ridge fit is a Gaussian belief about its coefficients: their covariance is
:math:`\Sigma = (Z^\top W Z + P)^{-1}`, in units of the noise, with W the labels' weights and P the
penalty. With :math:`\Sigma = L L^\top` and :math:`t = L^\top z`, the prediction at a row has the
variance :math:`|t|^2`: how open it is. A label at a row s takes
:math:`(t \cdot s)^2 / (1 + |s|^2)` off it, whatever the label says: what is settled by a batch of rows
is known before any of them is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular


@dataclass(frozen=True)
class Openness:
    """What the labels so far leave open, as a root of the covariance of the coefficients."""

    L: np.ndarray  # (p, p), or with one row more in front for the constant
    intercept: bool

    @classmethod
    def of(cls, Z: np.ndarray, weight: np.ndarray, penalty: np.ndarray, *, intercept: bool) -> Openness:
        """Of a fit to labeled rows with features Z (n, p); weights sum to the number of labels.

        The penalty belongs to a mean loss, as everywhere; the constant has none.
        """
        root_penalty = np.sqrt(weight.sum() * penalty)
        rows = np.sqrt(weight)[:, None] * Z
        if intercept:
            rows = np.hstack([np.sqrt(weight)[:, None], rows])
            root_penalty = np.concatenate([[0.0], root_penalty])
        R: np.ndarray = np.linalg.qr(  # type: ignore[assignment]  # NumPy's hints miss the mode
            np.vstack([rows, np.diag(root_penalty)]), mode="r"
        )
        diagonal = np.abs(np.diag(R))
        # A direction that neither a label nor the penalty holds is left wide open, but not infinitely.
        floor = 1e-8 * (diagonal.max(initial=0) or 1.0)
        R[np.diag_indices_from(R)] = np.where(diagonal < floor, floor, np.diag(R))
        return cls(solve_triangular(R, np.eye(len(R))), intercept)

    def directions(self, Z: np.ndarray) -> np.ndarray:
        """(rows, q) t of each row; its squared length is the variance there."""
        if not self.intercept:
            return Z @ self.L
        return self.L[0] + Z @ self.L[1:]

    def variance(self, Z: np.ndarray) -> np.ndarray:
        """(rows,) of the prediction, in units of the noise."""
        return np.square(self.directions(Z)).sum(axis=1)


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
