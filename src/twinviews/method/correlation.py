"""Canonical correlation analysis of two views, from their covariance blocks."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

# Second moments are summed in double precision, so variances below this share of the largest are noise.
_VARIANCE_RCOND = 1e-8
# A direction the views agree on less than this is dropped: its penalty (1 - lambda)/lambda would be
# beyond 10,000 times the variance it could explain.
_SMALLEST_CORRELATION = 1e-4


class CanonicalBasis(NamedTuple):
    """Directions of the two views, each scaled so that its projection has unit variance."""

    B1: Annotated[np.ndarray, "r1 k"]  # columns are the directions b_j of view 1
    B2: Annotated[np.ndarray, "r2 k"]
    correlations: Annotated[np.ndarray, "k", ">= 0"]  # 1 >= lambda_1 >= ... >= lambda_k > 0

    @property
    def effective_dimension(self) -> float:
        """sum_j lambda_j^2, which bounds the variance in Theorem 1."""
        return float(np.square(self.correlations).sum())


class WhiteningFactors(NamedTuple):
    """Eigenvectors and eigenvalues of a view's covariance, computed once for every ridge."""

    U: np.ndarray  # (r, k)
    s: np.ndarray  # (k,) > 0

    def whiten(self, correlation_ridge: float) -> np.ndarray:
        """(r, k)  U (s + rho)^(-1/2)"""
        return self.U / np.sqrt(self.s + correlation_ridge)

    def deviations(self, B: np.ndarray) -> np.ndarray:
        """(k,) standard deviation of each projection b_j . z"""
        return np.sqrt(self.s @ np.square(self.U.T @ B))


def whitening_factors(C: np.ndarray) -> WhiteningFactors:
    s, U = np.linalg.eigh((C + C.T) / 2)
    kept = s > _VARIANCE_RCOND * s.max(initial=0)
    return WhiteningFactors(U[:, kept], s[kept])


def canonical_correlation(
    first: WhiteningFactors,
    C12: np.ndarray,
    second: WhiteningFactors,
    *,
    correlation_ridge: float = 0.0,
) -> CanonicalBasis:
    r"""Directions of most correlation, with a ridge rho inside.

    The views are whitened with :math:`(C + \rho I)^{-1/2}`; lambda are the singular values of the
    whitened cross-covariance. With rho = 0 this is CCA: projections are orthonormal and their
    cross-moments are diag(lambda).

    With rho > 0 a direction of variance s has, in two identical views, lambda = s / (s + rho). Each
    projection is scaled to unit variance, as it is without rho, so that the canonical norm
    (1 - lambda)/lambda = rho/s of its coefficient is rho times the squared coefficient of z itself:
    identical views give kernel ridge with ridge rho, exactly.
    """
    W1, W2 = first.whiten(correlation_ridge), second.whiten(correlation_ridge)
    U, correlations, Vt = np.linalg.svd(W1.T @ C12 @ W2, full_matrices=False)
    kept = correlations > _SMALLEST_CORRELATION
    B1, B2 = W1 @ U[:, kept], W2 @ Vt[kept].T
    signs = _signs(B1)
    return CanonicalBasis(
        B1 * (signs / first.deviations(B1)),
        B2 * (signs / second.deviations(B2)),
        correlations[kept].clip(0, 1),
    )


def _signs(B: np.ndarray) -> np.ndarray:
    """(k,) that make the largest entry of each direction positive: a basis has no sign of its own."""
    if B.size == 0:
        return np.ones(B.shape[1])
    return np.sign(B[np.abs(B).argmax(axis=0), np.arange(B.shape[1])])


def canonical_penalty(correlations: np.ndarray, canonical_weight: float = 1.0) -> np.ndarray:
    """(k,)  eta (1 - lambda_j) / lambda_j, the weights of the canonical norm."""
    return canonical_weight * (1 - correlations) / correlations
