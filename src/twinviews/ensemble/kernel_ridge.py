r"""Kernel ridge regression on weighted rows, its ridge by leave-one-out, and its gradients.

With :math:`S = \mathrm{diag}(\sqrt{w})`, weights that sum to one, and P the projection that takes the
constant out,

.. math:: f(x) = a + k(x)^\top S\beta, \qquad (P S K S P + \gamma I)\,\beta = P S y.

One eigendecomposition of the centred kernel serves every ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twinviews.method.kernel_values import Columns

RIDGES = 10.0 ** np.arange(-6, 0.51, 0.5)
_LEAST_FREEDOM = 1e-9


class KernelFit(NamedTuple):
    alpha: np.ndarray  # (m, t) coefficients of k(., x_i)
    constant: np.ndarray  # (t,)
    ridge: float
    error: float  # leave-one-out, over all targets; NaN where one ridge was given


@dataclass(frozen=True)
class KernelRidge:
    columns: Columns
    alpha: np.ndarray
    constant: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.columns(X) @ self.alpha + self.constant


def fit_kernel_ridge(
    K: np.ndarray, Y: np.ndarray, weight: np.ndarray, ridges: np.ndarray = RIDGES
) -> KernelFit:
    """The fit with the least leave-one-out error over all targets, among the given ridges."""
    root = np.sqrt(weight)
    mean_column, mean = weight @ K, weight @ Y
    centred = (K - mean_column - mean_column[:, None] + weight @ mean_column) * np.outer(root, root)
    B = root[:, None] * (Y - mean)
    if len(ridges) == 1:
        ridge, error = float(ridges[0]), np.nan
        diagonal_of(centred)[:] += ridge
        beta = np.linalg.solve(centred, B)
    else:
        spectrum, V = np.linalg.eigh(centred)
        spectrum, T = np.maximum(spectrum, 0), V.T @ B
        squares = np.square(V)
        errors = [_left_out_error(spectrum, V, squares, T, weight, ridge) for ridge in ridges]
        ridge, error = float(ridges[np.argmin(errors)]), min(errors)
        beta = V @ (T / (spectrum + ridge)[:, None])
    alpha = root[:, None] * beta
    return KernelFit(alpha, mean - mean_column @ alpha, ridge, error)


def _left_out_error(
    spectrum: np.ndarray,
    V: np.ndarray,
    squares: np.ndarray,
    T: np.ndarray,
    weight: np.ndarray,
    ridge: float,
) -> float:
    """Weighted squared error of the rows, each left out: its residual over one minus its leverage.

    ``squares`` are those of V, which all ridges share. The constant is a direction of its own, of
    eigenvalue zero in the centred kernel.
    """
    shrunk = ridge / (spectrum + ridge)
    residual = V @ (shrunk[:, None] * T)
    freedom = np.maximum(squares @ shrunk - weight, _LEAST_FREEDOM)
    return float(np.square(residual / freedom[:, None]).sum())


def diagonal_of(A: np.ndarray) -> np.ndarray:
    """(m,) a view of the diagonal to write to, in a tenth of the time of indices."""
    return np.einsum("ii->i", A)


def mean_gradient_product(
    slopes: np.ndarray, alpha: np.ndarray, X: np.ndarray, at: np.ndarray, *, diagonal: bool
) -> np.ndarray:
    """(D,) or (D, D) mean over the rows ``at`` of the outer product of the fit's gradient.

    ``slopes`` (rows, m) holds s(x, x_i) with grad k(x, x_i) = s(x, x_i) (x_i - x).
    """
    if diagonal and alpha.shape[1] > X.shape[1]:
        return _mean_squares_by_column(slopes, alpha, X, at)
    total = np.zeros(X.shape[1] if diagonal else (X.shape[1],) * 2)
    for coefficients in alpha.T:
        pull = slopes * coefficients
        gradient = pull @ X - pull.sum(axis=1)[:, None] * at
        total += np.square(gradient).sum(axis=0) if diagonal else gradient.T @ gradient
    return total / len(at)


def _mean_squares_by_column(
    slopes: np.ndarray, alpha: np.ndarray, X: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """The same (D,) with one matrix product for each column, not for each of many targets."""
    along = slopes @ alpha
    squares = [
        np.square(slopes @ (alpha * x[:, None]) - along * x_at[:, None]).sum()
        for x, x_at in zip(X.T, at.T, strict=True)
    ]
    return np.array(squares) / len(at)
