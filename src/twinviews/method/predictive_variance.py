r"""Variance of a ridge fit's predictions.

A ridge fit is a Gaussian belief about its coefficients: their covariance is
:math:`\Sigma = (Z^\top W Z + P)^{-1}`, in units of the noise, with W the labels' weights and P the
penalty. With :math:`\Sigma = L L^\top` and :math:`t = L^\top z`, the prediction at a row has the
variance :math:`|t|^2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular


@dataclass(frozen=True)
class PredictiveVariance:
    """A root of the covariance of the coefficients, given the labels so far."""

    L: np.ndarray  # (p, p), or with one row more in front for the constant
    intercept: bool

    @classmethod
    def of(
        cls, Z: np.ndarray, weight: np.ndarray, penalty: np.ndarray, *, intercept: bool
    ) -> PredictiveVariance:
        """The variance of a fit to labeled rows with features Z (n, p); weights sum to n.

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
        # A direction that neither labels nor penalty determine gets a large but finite variance.
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
