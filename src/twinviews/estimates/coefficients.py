r"""Coefficients of a linear or logistic regression over all rows, from few labels and predictions.

With z the columns and a constant, the coefficients over all rows solve
:math:`\sum w z (y - \mu(z'\beta)) = 0`, where :math:`\mu` is the identity or the logistic function.
Everything but :math:`b = \sum w z y` is known. It is estimated by labels, predictions, and the
regression :math:`\gamma` of residuals on z over the labels:

.. math:: \hat b = \sum_L w z y + \lambda \sum_U w z f + \Big(\sum_U w z z'\Big) \hat\gamma .

With :math:`M = \sum_U w z z'`, :math:`A = \sum_L a w z z'`, :math:`e = r - z'\hat\gamma` and leverages
h, its variance is that of :math:`M \hat\gamma` and that of what rows without a label differ by:

.. math:: V = \sum_L g g' e^2 / (1 - h)^2 + \hat\sigma^2 \sum_U w^2 z z', \qquad g = M A^{-1} a w z .

The first is HC3 (MacKinnon and White 1985). :math:`M A^{-1}` is near 1 where labels are like all rows,
and large where few rows decide a coefficient and no label is like them, as z is known of every row.
Where rows of a cluster depend on each other, g e is summed over each, with :math:`(I - H)^{-1}` of the
cluster in place of :math:`1 / (1 - h)` (Bell and McCaffrey 2002). The variance of the fits is added
as for means. That of the coefficients follows with the inverse of
:math:`\sum w \mu' z z'`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

_STEPS = 50
_CLOSE = 1e-10
# A label that decides a coefficient alone counts no more than this.
_MOST_LEVERAGE = 0.99


class Curvature(NamedTuple):
    """Sums over all rows at some coefficients."""

    gradient: np.ndarray  # (p,) sum of w z mu
    hessian: np.ndarray  # (p, p) sum of w mu' z z'

    def merge(self, other: Curvature) -> Curvature:
        return Curvature(self.gradient + other.gradient, self.hessian + other.hessian)


def logistic_curvature(Z: np.ndarray, weight: np.ndarray, beta: np.ndarray) -> Curvature:
    p = expit(Z @ beta)
    weighted = Z * weight[:, None]
    return Curvature(weighted.T @ p, (weighted * (p * (1 - p))[:, None]).T @ Z)


class Products(NamedTuple):
    """The estimated sum of w z y over all rows."""

    total: np.ndarray  # (p,)
    variance: np.ndarray  # (p, p)
    lever: np.ndarray  # (units, p) what the total moves by with each label, or cluster of them
    scores: np.ndarray  # (units, p) the same times their errors


def estimated_products(
    Z: np.ndarray,
    y: np.ndarray,
    predicted: np.ndarray,
    stands_for: np.ndarray,
    weight: np.ndarray,
    moments: np.ndarray,
    products: np.ndarray,
    power: float,
    squares: np.ndarray,
    variance: np.ndarray | float = 0.0,
    cluster: np.ndarray | None = None,
) -> Products:
    """From labeled rows Z (n, p), and sums of w z z' and of w z times predictions over the others.

    ``squares`` (p, p) is the sum of w^2 z z' over these, ``cluster`` (n,) are codes of labels that
    depend on each other.

    ``variance`` (p, p) is that of the last, for the fits that made them.
    """
    residual = y - power * predicted
    v = stands_for * weight
    A = (Z * v[:, None]).T @ Z
    if np.linalg.matrix_rank(A) < A.shape[0]:
        raise ValueError(
            f"The {len(y)} labeled rows do not tell {Z.shape[1]} coefficients apart: some column does "
            f"not vary among them, or follows from others. Leave it out."
        )
    inverse = np.linalg.inv(A)
    gamma = inverse @ (Z.T @ (v * residual))
    error = residual - Z @ gamma
    leverage = np.minimum(v * np.einsum("np,pq,nq->n", Z, inverse, Z), _MOST_LEVERAGE)
    lever = (Z * v[:, None]) @ inverse @ moments
    noise = float(v @ np.square(error)) / float(v @ (1 - leverage))
    scores, grown = lever * (error / (1 - leverage))[:, None], 1.0
    if cluster is not None:
        apart = float(np.square(scores).sum())
        scores = _of_clusters(lever, _without_own_cluster(Z, v, inverse, error, cluster), cluster)
        lever = np.sqrt(_of_clusters(np.square(lever), np.ones(len(y)), cluster))
        # Rows without a label depend on each other as labels do.
        grown = max(1.0, float(np.square(scores).sum()) / max(apart, 1e-300))
    total = Z.T @ (weight * y) + power * products + moments @ gamma
    found = scores.T @ scores + grown * noise * squares + power**2 * variance
    return Products(total, found, lever, scores)


def _of_clusters(lever: np.ndarray, error: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """(clusters, p) sums over each."""
    codes = np.unique(cluster, return_inverse=True)[1]
    found = np.zeros((int(codes.max()) + 1, lever.shape[1]))
    np.add.at(found, codes, lever * error[:, None])
    return found


def _without_own_cluster(
    Z: np.ndarray, v: np.ndarray, inverse: np.ndarray, error: np.ndarray, cluster: np.ndarray
) -> np.ndarray:
    """(n,) errors of a regression without the label's cluster."""
    found = np.empty(len(error))
    for one in np.unique(cluster):
        own = np.flatnonzero(cluster == one)
        H = Z[own] @ inverse @ (Z[own] * v[own][:, None]).T
        if np.abs(np.linalg.eigvals(H)).max() > _MOST_LEVERAGE:  # the cluster decides a coefficient
            H = np.diag(np.minimum(np.diag(H), _MOST_LEVERAGE))
        found[own] = np.linalg.solve(np.eye(len(own)) - H, error[own])
    return found


def products_of_fits_variance(
    Z: np.ndarray,
    v: np.ndarray,
    fold: np.ndarray,
    moved: np.ndarray,
    moved_sums: np.ndarray,
    moments: np.ndarray,
) -> np.ndarray:
    """(p, p) what fits that depend on the labels add to the variance of the sums, at the most.

    ``moved`` (n, folds) is what the fits without each fold predict of labeled rows, less the fit on all
    labels; ``moved_sums`` (folds, p) are the sums of z times that over the others, ``moments`` (p, p)
    their sum of z z'.
    """
    K, weighted = len(moved_sums), Z * v[:, None]
    slope = moments @ np.linalg.pinv(weighted.T @ Z)
    found = np.zeros((Z.shape[1], Z.shape[1]))
    for k in range(K):
        own = fold == k
        at_labels = moved[own].T @ weighted[own] @ slope.T
        effects = np.delete(at_labels - float(v[own].sum() / v.sum()) * moved_sums, k, axis=0)
        found += effects.T @ effects
    return found


class Coefficients(NamedTuple):
    beta: np.ndarray  # (p,) the constant first
    variance: np.ndarray  # (p, p)
    degrees: np.ndarray  # (p,) of freedom, of each variance
    skewness: np.ndarray  # (p,) of the error of each


def _coefficients(beta: np.ndarray, products: Products, inverse: np.ndarray) -> Coefficients:
    """Degrees of freedom are fewer where few labels decide a coefficient (Bell and McCaffrey 2002)."""
    squares = np.square(products.lever @ inverse)
    degrees = np.square(squares.sum(axis=0)) / np.square(squares).sum(axis=0) - 1
    variance = inverse @ products.variance @ inverse
    third = np.power(products.scores @ inverse, 3).sum(axis=0)
    deviation = np.sqrt(np.maximum(np.diag(variance), 1e-60))
    return Coefficients(beta, variance, degrees, third / deviation**3)


def linear_coefficients(products: Products, moments: np.ndarray) -> Coefficients:
    """``moments`` (p, p) is the sum of w z z' over all rows."""
    inverse = np.linalg.inv(moments)
    return _coefficients(inverse @ products.total, products, inverse)


def logistic_coefficients(
    products: Products, curvature_at: Callable[[np.ndarray], Curvature]
) -> Coefficients:
    """By Newton's method; ``curvature_at`` sums over all rows."""
    beta = np.zeros(len(products.total))
    for _ in range(_STEPS):
        found = curvature_at(beta)
        step = np.linalg.solve(found.hessian, products.total - found.gradient)
        beta = beta + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() <= _CLOSE * (1 + np.abs(beta).max()):
            return _coefficients(beta, products, np.linalg.inv(found.hessian))
        if np.abs(beta).max() > 1e3:
            break
    raise ValueError(
        "The logistic regression has no finite coefficients: some column tells the classes apart "
        "without an error. Leave it out, or give other columns."
    )
