r"""Coefficients of a linear or logistic regression over all rows, from few labels and predictions.

With z the columns and a constant, the coefficients over all rows solve
:math:`\sum w z (y - \mu(z'\beta)) = 0`, where :math:`\mu` is the identity or the logistic function.
Everything but :math:`b = \sum w z y` is known. It is estimated by labels, predictions, and the
regression :math:`\gamma` of residuals on z over the labels:

.. math:: \hat b = \sum_L w z y + \lambda \sum_U w z f + \Big(\sum_U w z z'\Big) \hat\gamma .

Its variance is :math:`\sum_L a (1 + a) w^2 z z' e^2 / (1 - h)^2` with :math:`e = r - z'\hat\gamma` and
leverages h (HC3, MacKinnon and White 1985), to which the variance of the fits is added as for means.
That of the coefficients follows with the inverse of :math:`\sum w \mu' z z'`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

_STEPS = 50
_CLOSE = 1e-10


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
    leverages: np.ndarray  # (n, p) of labels: z times the root of their factor


def estimated_products(
    Z: np.ndarray,
    y: np.ndarray,
    predicted: np.ndarray,
    stands_for: np.ndarray,
    weight: np.ndarray,
    moments: np.ndarray,
    products: np.ndarray,
    power: float,
    variance: np.ndarray | float = 0.0,
) -> Products:
    """From labeled rows Z (n, p), and sums of z z' and of z times predictions over the others.

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
    leverage = np.minimum(v * np.einsum("np,pq,nq->n", Z, inverse, Z), 0.99)
    scale = np.sqrt(stands_for * (1 + stands_for)) * weight
    scores = Z * (scale * error / (1 - leverage))[:, None]
    total = Z.T @ (weight * y) + power * products + moments @ gamma
    return Products(total, scores.T @ scores + power**2 * variance, scale[:, None] * Z)


def products_by_fold_variance(
    Z: np.ndarray,
    v: np.ndarray,
    fold: np.ndarray,
    moved: np.ndarray,
    by_fold: np.ndarray,
    moments: np.ndarray,
) -> np.ndarray:
    """(p, p) the jackknife's variance over folds of what sums of z times predictions move by.

    ``moved`` (n, folds) is what predictions of labeled rows move by, ``by_fold`` (folds, p) are the
    sums of the others, ``moments`` (p, p) is their sum of z z'.
    """
    effects = []
    for number in np.unique(fold):
        outside = fold != number
        weighted = Z[outside] * v[outside][:, None]
        slope = np.linalg.lstsq(
            weighted.T @ Z[outside], weighted.T @ moved[outside, number], rcond=None
        )[0]
        effects.append(by_fold[number] - moments @ slope)
    off = np.array(effects) - np.mean(effects, axis=0)
    return np.asarray((len(effects) - 1) / len(effects) * off.T @ off)


class Coefficients(NamedTuple):
    beta: np.ndarray  # (p,) the constant first
    variance: np.ndarray  # (p, p)
    degrees: np.ndarray  # (p,) of freedom, of each variance


def _coefficients(beta: np.ndarray, products: Products, inverse: np.ndarray) -> Coefficients:
    """Degrees of freedom are fewer where few labels decide a coefficient (Bell and McCaffrey 2002)."""
    squares = np.square(products.leverages @ inverse)
    degrees = np.square(squares.sum(axis=0)) / np.square(squares).sum(axis=0) - 1
    return Coefficients(beta, inverse @ products.variance @ inverse, degrees)


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
