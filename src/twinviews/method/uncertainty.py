"""How certain predictions are: probabilities of classes, and the variance of a ridge fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax

from twinviews.method.regression import triangle


def class_log_probabilities(decision: np.ndarray, scale: float) -> np.ndarray:
    """(rows, K) log-probabilities; a larger ``scale`` makes them more certain, with the same ranking.

    Two classes have one decision value f in (rows, 1): p = 1 / (1 + exp(-scale f)). More have one
    each: p = softmax(scale f).
    """
    if decision.shape[1] == 1:
        return np.column_stack([log_expit(-scale * decision), log_expit(scale * decision)])
    return log_softmax(scale * decision, axis=1)


def expected_errors(log_p: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(rows,) probability that the chosen class is wrong."""
    return np.asarray(-np.expm1(log_p[np.arange(len(log_p)), chosen]))


def class_shares(coded: np.ndarray) -> np.ndarray:
    """(rows, K) share of each class, from labels coded 1 and -1 (means of them for merged rows)."""
    in_class = (coded + 1) / 2
    return in_class if coded.shape[1] > 1 else np.column_stack([1 - in_class, in_class])


def calibrated_scale(decision: np.ndarray, coded: np.ndarray, weight: np.ndarray) -> float:
    """The scale of greatest likelihood on leave-one-out decision values.

    With few labels all may be right, and the likelihood would grow without bound. As in Platt (1999) a
    row of a class with k labels counts as being of that class with probability (k + 1) / (k + 2) only,
    the rest going to the other classes.
    """
    share = class_shares(coded)
    known = ~np.isnan(decision).any(axis=1)
    if not known.any():
        return 1.0
    decision, share, weight = decision[known], share[known], weight[known]
    count = len(share) * (weight @ share) / weight.sum()
    smoothing = share / (count + 2)
    target = (
        share - smoothing + (smoothing.sum(axis=1, keepdims=True) - smoothing) / (share.shape[1] - 1)
    )

    def loss(log_scale: float) -> float:
        log_p = class_log_probabilities(decision, np.exp(log_scale))
        return -float(weight @ (target * log_p).sum(axis=1))

    return float(np.exp(minimize_scalar(loss, bounds=(-4, 6), method="bounded").x))


@dataclass(frozen=True)
class PredictiveVariance:
    r"""A root L of the covariance of the coefficients, given the labels so far.

    A ridge fit is a Gaussian belief about its coefficients: their covariance is
    :math:`\Sigma = (Z^\top W Z + P)^{-1}`, in units of the noise, with W the labels' weights and P the
    penalty. With :math:`\Sigma = L L^\top` and :math:`t = L^\top z`, the prediction at a row has the
    variance :math:`|t|^2`.
    """

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
        R = triangle(np.vstack([rows, np.diag(root_penalty)]))
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
