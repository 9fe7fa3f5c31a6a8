r"""Ridge regression with a penalty per coefficient, and leave-one-out in closed form.

Everywhere the weights sum to one and the loss is a mean:

.. math:: \min_{\beta, a} \sum_i w_i (y_i - a - z_i^\top\beta)^2 + \sum_j p_j \beta_j^2

Leaving row i out of n leaves n - 1 of n equal weights; a mean over those with the same penalty is the
same as a sum over them with the penalty times 1 - 1/n. So the leave-one-out predictions of a fit on
n - 1 rows come from one fit on n rows with that smaller penalty, exactly. For unequal weights the
left-out row is counted at the mean weight in that factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

# Products of features lose the digits of a direction that is penalised by less than this share of
# their size; without such a direction they are exact enough, and up to ten times as fast as QR.
_SAFE_PRODUCT = 1e-6
# A row whose leverage is this close to one determines a coefficient by itself.
_LEAST_FREEDOM = 1e-12


class LabeledBlock(NamedTuple):
    """Some of the labeled rows."""

    Z: np.ndarray  # (rows, p) features
    Y: np.ndarray  # (rows, t) labels
    weight: np.ndarray  # (rows,)


class LabeledFactor(NamedTuple):
    """A triangular factor of the labeled rows, however many: all that the solve needs.

    R^T R = Z^T W Z and R^T S = Z^T W Y for features and labels about their means (about zero without
    an intercept). A factor keeps the digits that the product Z^T W Z would lose.
    """

    R: np.ndarray  # (q, p)
    S: np.ndarray  # (q, t)
    z_mean: np.ndarray  # (p,)
    y_mean: np.ndarray  # (t,)
    n: int  # labeled rows
    intercept: bool


class RidgeFit(NamedTuple):
    coef: np.ndarray  # (p, t)
    intercept: np.ndarray  # (t,)


def solve_ridge(
    blocks: Callable[[], Iterable[LabeledBlock]], penalty: np.ndarray, *, n: int, intercept: bool
) -> tuple[RidgeFit, np.ndarray]:
    """The minimiser and the (n, t) leave-one-out predictions, by the fastest accurate method."""
    first = next(iter(blocks()))
    if len(first.weight) == n:
        solution = _solve_by_products(*first, penalty, intercept=intercept)
        if solution is not None:
            return solution
    factor = labeled_factor(blocks(), intercept=intercept)
    return penalised_ridge(factor, penalty), leave_one_out(factor, penalty, blocks())


def _solve_by_products(
    Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, penalty: np.ndarray, *, intercept: bool
) -> tuple[RidgeFit, np.ndarray] | None:
    """The same from A^T A or A A^T, whichever is smaller, where that is safe.

    A (n, p) holds the centred features, each divided by the root of its penalty, so that the penalty
    becomes 1 for all: the smallest eigenvalue of what is factored.
    """
    n, p = Z.shape
    if p == 0 or penalty.min() <= 0:
        return None
    z_mean, y_mean = (weight @ Z, weight @ Y) if intercept else (np.zeros(p), np.zeros(Y.shape[1]))
    root_weight, root_penalty = np.sqrt(weight)[:, None], np.sqrt(penalty)
    A = root_weight * (Z - z_mean) / root_penalty
    if not np.square(A).sum() <= 1 / _SAFE_PRODUCT:
        return None
    B = root_weight * (Y - y_mean)
    kappa = 1 - 1 / n  # of the penalty, for the fit on n - 1 rows
    if p < n:  # with p = n, centring leaves a direction empty that A^T A would fill with rounding
        products, b = A.T @ A, A.T @ B
        coef = cho_solve(_cholesky(products, 1.0), b)
        root, _ = _cholesky(products, kappa)
        T = solve_triangular(root, A.T, trans=1)
        residual = B - T.T @ solve_triangular(root, b, trans=1)
        rest = 1 - intercept * weight - np.square(T).sum(axis=0)
    else:
        products = A @ A.T
        coef = A.T @ cho_solve(_cholesky(products, 1.0), B)
        # The constant, which centring took out of A, put back as a direction as large as the others.
        # With size zero it would dominate the inverse, and the rest would be a difference of nearly
        # equal numbers. B has no component along it.
        size = intercept * np.diag(products).max()
        factor = _cholesky(products + size * (root_weight @ root_weight.T), kappa)
        residual = kappa * cho_solve(factor, B)
        constant = intercept * weight / (kappa + size)
        rest = kappa * (np.diag(dpotri(factor[0])[0]) - constant)
    coef /= root_penalty[:, None]
    left_out = Y - residual / (root_weight * _freedom(rest)[:, None])
    return RidgeFit(coef, y_mean - z_mean @ coef), left_out


def _cholesky(products: np.ndarray, ridge: float) -> tuple[np.ndarray, bool]:
    """The upper factor of products + ridge I, as cho_solve takes it."""
    return cholesky(products + ridge * np.eye(len(products)), check_finite=False), False


def labeled_factor(blocks: Iterable[LabeledBlock], *, intercept: bool) -> LabeledFactor:
    """The factor of blocks (Z, Y, weight), one after the other, by repeated QR decomposition.

    With a column of ones in front, the first step of QR is centring: it leaves the means in its first
    row and what remains is the factor of the centred columns.
    """
    factor = np.zeros((0, 0))
    n = p = 0
    for Z, Y, weight in blocks:
        n, p = n + len(Z), Z.shape[1]
        rows = np.sqrt(weight)[:, None] * np.hstack([np.ones((len(Z), 1)), Z, Y])
        factor = triangle(np.vstack([factor.reshape(-1, rows.shape[1]), rows]))
    means = factor[0, 1:] / factor[0, 0] if intercept else np.zeros(factor.shape[1] - 1)
    R, S = np.hsplit(factor[int(intercept) :, 1:], [p])
    return LabeledFactor(R, S, means[:p], means[p:], n, intercept)


def penalised_ridge(factor: LabeledFactor, penalty: np.ndarray) -> RidgeFit:
    """The minimiser; of least norm where there are several."""
    root = _penalised_root(factor, penalty)
    coef = root.inverse(root.labels)
    return RidgeFit(coef, factor.y_mean - factor.z_mean @ coef)


def leave_one_out(
    factor: LabeledFactor, penalty: np.ndarray, blocks: Iterable[LabeledBlock]
) -> np.ndarray:
    """(rows, t) prediction of each of the rows by the fit without it; NaN where there is no such fit.

    With leverage h_i, the residual of row i when it is left out is its residual over 1 - h_i.
    """
    root = _penalised_root(factor, (1 - 1 / factor.n) * penalty)
    predictions = []
    for Z, Y, weight in blocks:
        T = root.inverse_transposed((Z - factor.z_mean).T).T
        leverage = weight * (np.square(T).sum(axis=1) + factor.intercept)
        residual = Y - factor.y_mean - T @ root.labels
        predictions.append(Y - residual / _freedom(1 - leverage)[:, None])
    return np.concatenate(predictions)


def left_out_fits(
    block: LabeledBlock, penalty: np.ndarray, *, some: int, intercept: bool
) -> tuple[RidgeFit, np.ndarray]:
    """The fits of one target without each of the first ``some`` rows, a column each; their residuals.

    To leave row i out changes the fit by its left-out residual times its influence,
    w_i (Z^T W Z + penalty)^(-1) z_i.
    """
    factor = labeled_factor([block], intercept=intercept)
    smaller = (1 - 1 / factor.n) * penalty
    coef, constant = penalised_ridge(factor, smaller)
    root = _penalised_root(factor, smaller)
    Z, Y, weight = first = LabeledBlock(*(part[:some] for part in block))
    residual = (Y - leave_one_out(factor, penalty, [first]))[:, 0]
    pull = weight * residual
    change = root.inverse(root.inverse_transposed((Z - factor.z_mean).T)) * pull
    constants = constant + (factor.z_mean @ change - intercept * pull)
    return RidgeFit(coef - change, constants), residual


class _Root(NamedTuple):
    """A triangular or, if that is singular, a pseudo-inverted root of Z^T W Z + diag(penalty).

    The labels are turned as the features are. Products R^T S would bring rounding into directions that
    nothing but the penalty holds, and a small penalty would make much of it.
    """

    inverse: Callable[[np.ndarray], np.ndarray]
    inverse_transposed: Callable[[np.ndarray], np.ndarray]
    labels: np.ndarray  # (k, t) inverse_transposed(R^T S)


def _penalised_root(factor: LabeledFactor, penalty: np.ndarray) -> _Root:
    p, t = len(penalty), factor.S.shape[1]
    stacked = np.vstack([factor.R, np.diag(np.sqrt(penalty))])
    labels = np.vstack([factor.S, np.zeros((p, t))])
    both = triangle(np.hstack([stacked, labels]))
    U = both[:p, :p]
    diagonal = np.abs(np.diag(U))
    if p > 0 and diagonal.min() > 1e-14 * diagonal.max():
        solve = partial(solve_triangular, U)
        return _Root(solve, partial(solve, trans=1), both[:p, p:])
    V, s, Wt = np.linalg.svd(stacked, full_matrices=False)
    kept = s > len(stacked) * np.finfo(float).eps * s.max(initial=0)
    pseudo_inverse = Wt[kept].T / s[kept]
    turned = V[:, kept].T @ labels
    return _Root(partial(np.matmul, pseudo_inverse), partial(np.matmul, pseudo_inverse.T), turned)


def triangle(A: np.ndarray) -> np.ndarray:
    """R of A = QR."""
    R: np.ndarray = np.linalg.qr(A, mode="r")  # type: ignore[assignment]  # NumPy's hints miss the mode
    return R


def _freedom(rest: np.ndarray) -> np.ndarray:
    """1 - h, or NaN for a row that alone determines a coefficient."""
    return np.where(rest > _LEAST_FREEDOM, rest, np.nan)


def ridge_path_errors(
    Z: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    penalty: np.ndarray,
    ridges: np.ndarray,
    *,
    intercept: bool,
) -> np.ndarray:
    """(len(ridges), t) mean squared leave-one-out error with penalty + ridge, for every ridge at once.

    One eigendecomposition of Z^T W Z + penalty serves them all. It is accurate enough to choose by;
    the error that is reported comes from :func:`leave_one_out`.
    """
    kappa = 1 - 1 / len(Y)
    Zc, Yc = _centred(Z, weight, intercept), _centred(Y, weight, intercept)
    weighted = weight[:, None] * Zc
    S = Zc.T @ weighted
    S[np.diag_indices_from(S)] += kappa * penalty
    alpha, Q = np.linalg.eigh(S)
    T = Zc @ Q
    curvature = np.maximum(alpha, 0)[:, None] + kappa * ridges  # (p, ridges)
    seen = curvature > 1e-14 * curvature.max(initial=0)
    inverse = np.divide(1, curvature, out=np.zeros_like(curvature), where=seen)
    b = Q.T @ (weighted.T @ Yc)  # (p, t)
    fitted = np.tensordot(T, inverse[:, :, None] * b[:, None, :], axes=1)  # (n, ridges, t)
    leverage = weight[:, None] * (np.square(T) @ inverse + intercept)
    errors = (Yc[:, None, :] - fitted) / _freedom(1 - leverage)[:, :, None]
    return np.einsum("i,irt->rt", weight, np.square(errors))


def nested_leave_one_out(
    Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, *, intercept: bool
) -> np.ndarray:
    """(p, t) mean squared leave-one-out error of least squares on the first s features, s = 1 ... p.

    One orthogonalisation serves them all: leverages and fits are running sums over its columns.
    """
    root = np.sqrt(weight)[:, None]
    residual = root * _centred(Y, weight, intercept)
    Q, _ = np.linalg.qr(root * _centred(Z, weight, intercept))
    leverage = intercept * weight
    errors = np.empty((Q.shape[1], Y.shape[1]))
    for s, q in enumerate(Q.T):
        residual = residual - np.outer(q, q @ residual)
        leverage = leverage + np.square(q)
        errors[s] = np.square(residual / _freedom(1 - leverage)[:, None]).sum(axis=0)
    return errors


def _centred(A: np.ndarray, weight: np.ndarray, intercept: bool) -> np.ndarray:
    return A - weight @ A if intercept else A
