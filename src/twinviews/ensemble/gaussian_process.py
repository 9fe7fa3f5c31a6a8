r"""A Gaussian process with a width for each column, by marginal likelihood.

.. math:: k(x, x') = a\, \kappa\bigl(\sum_d v_d^2 (x_d - x'_d)^2\bigr), \qquad
          y \sim N(0, K + s\,\mathrm{diag}(1 / (m w)))

with the Gaussian kernel, or the Matern kernel of smoothness 3/2 for rougher targets. The gradient for
all widths costs two matrix products: with H the derivative of the likelihood with respect to K, times
:math:`-2 a \kappa'`, that of :math:`\log v_d` is
:math:`-2 v_d^2 (\sum_i r_i x_{id}^2 - x_d^\top H x_d)` with r the row sums of H.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import OptimizeResult, minimize

from twinviews.ensemble.column_association import associated_columns, associations
from twinviews.ensemble.kernel_ridge import KernelRidge, diagonal_of
from twinviews.ensemble.learned_metric import InMetric, Metric
from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.kernels import SHIFT_INVARIANT

MOST_COLUMNS_FOR_WIDTHS = 64
# Rows for the likelihood while widths are chosen: each evaluation costs their number cubed.
_MOST_ROWS = 200
_FIRST_STEPS, _STEPS = 10, 40
# Logarithms of amplitude, noise (the variance of the labels is 1) and widths.
_AMPLITUDES, _NOISES, _INVERSE_WIDTHS = (-5.0, 7.0), (-11.0, 2.0), (-8.0, 3.0)
# A normal prior on the log inverse widths, so that a column differs from the others only if the labels
# support that. Its centre is somewhat below the best width for all columns: most matter less.
_PRIOR, _PRIOR_CENTRE = 0.2, -0.5
# Pure noise has a loss of 1/2 per label. Widths that do little better may be a local optimum, in which
# no column matters: then the search starts again from columns that are associated with the labels.
_LITTLE_EXPLAINED = 0.25
# Inverse width of a column that is not associated with the labels, relative to the one that is most.
_LEAST_ASSOCIATION = 1e-3


class _Problem(NamedTuple):
    X: np.ndarray
    Y: np.ndarray  # of mean 0 and variance 1
    noise_share: np.ndarray  # (m,) 1 / (m w)


def _gaussian(half_squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    K = np.exp(-half_squares)
    return K, K


def _matern32(half_squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r = np.sqrt(6 * half_squares)
    decay = np.exp(-r)
    return (1 + r) * decay, 3 * decay


# Kernels of half the squared distance, and -2 times their derivative by the squared distance.
_KERNELS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "gaussian": _gaussian,
    "matern32": _matern32,
}


@dataclass(frozen=True)
class ColumnWidths:
    kernel: str = "gaussian"

    @property
    def names(self) -> tuple[str, ...]:
        rough = "" if self.kernel == "gaussian" else f"{self.kernel}, "
        return (f"{rough}width for each column",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        return self.fit_after(labeled, unlabeled, [])

    def fit_after(
        self, labeled: Labeled, unlabeled: np.ndarray, folds: Sequence[Sequence[Predictor]]
    ) -> list[Predictor]:
        """The fit on all labels: its search starts from the widths of the folds' fits, too."""
        mean = labeled.weight @ labeled.Y
        Y = labeled.Y - mean
        spread = float(np.sqrt(np.mean(labeled.weight @ np.square(Y)))) or 1.0
        chosen = associated_columns(labeled.X, Y, MOST_COLUMNS_FOR_WIDTHS)
        problem = _Problem(labeled.X[:, chosen], Y / spread, 1 / (len(Y) * labeled.weight))
        starts = [fit.metric.L[chosen] for (fit,) in folds if isinstance(fit, InMetric)]
        amplitude, noise, inverse_widths = _most_likely(problem, self.kernel, starts)
        L = np.zeros(labeled.X.shape[1])
        L[chosen] = inverse_widths
        metric = Metric(L)
        Z = metric(labeled.X)
        columns = SHIFT_INVARIANT[self.kernel].against(Z, 1.0)
        C = amplitude * columns(Z)
        diagonal_of(C)[:] += noise * problem.noise_share
        alpha = amplitude * spread * np.linalg.solve(C, problem.Y)
        fit = KernelRidge(columns, alpha, mean)
        return [InMetric(metric, fit, self.kernel, labeled.origin, labeled.chosen)]


def _most_likely(
    problem: _Problem, kernel: str, starts: Sequence[np.ndarray] = ()
) -> tuple[float, float, np.ndarray]:
    """Amplitude, noise and inverse widths: first one width for all columns, then one for each.

    ``starts`` (D,) each are inverse widths of other fits; the search starts from the likeliest of them.
    """
    few = _Problem(*(part[:_MOST_ROWS] for part in problem))
    D = few.X.shape[1]
    start = np.array([0.0, np.log(0.1), -0.5 * np.log(D)])
    common = _minimized(_common_width_loss, start, (few, kernel), _FIRST_STEPS).x
    each = (few, kernel, common[2] + _PRIOR_CENTRE)
    found = _minimized(_loss, np.append(common[:2], np.full(D, common[2])), each, _STEPS)
    again = []
    if found.fun > _LITTLE_EXPLAINED * few.Y.size:
        for associated in associations(few.X, few.Y):
            widths = np.log(np.maximum(associated, _LEAST_ASSOCIATION))
            again.append(np.append(start[:2], widths))
    if starts:
        least = np.exp(_INVERSE_WIDTHS[0])  # of a column that another fit has not chosen
        others = [np.append(found.x[:2], np.log(np.maximum(widths, least))) for widths in starts]
        again.append(min(others, key=lambda logs: _loss(logs, *each)[0]))
    searches = [found, *(_minimized(_loss, logs, each, _STEPS) for logs in again)]
    found = min(searches, key=lambda search: float(search.fun))
    amplitude, noise = np.exp(found.x[:2])
    return float(amplitude), float(noise), np.exp(found.x[2:])


def _minimized(loss: Any, start: np.ndarray, parameters: tuple[Any, ...], steps: int) -> OptimizeResult:
    bounds = [_AMPLITUDES, _NOISES, *[_INVERSE_WIDTHS] * (len(start) - 2)]
    options = {"maxiter": steps}
    return minimize(
        loss, start, args=parameters, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )


def _common_width_loss(logs: np.ndarray, problem: _Problem, kernel: str) -> tuple[float, np.ndarray]:
    D = problem.X.shape[1]
    each = np.concatenate([logs[:2], np.full(D, logs[2])])
    loss, gradient = negative_log_likelihood(each, *problem, kernel)
    return loss, np.array([gradient[0], gradient[1], gradient[2:].sum()])


def _loss(logs: np.ndarray, problem: _Problem, kernel: str, centre: float) -> tuple[float, np.ndarray]:
    loss, gradient = negative_log_likelihood(logs, *problem, kernel)
    off = logs[2:] - centre
    gradient[2:] += _PRIOR * off
    return loss + 0.5 * _PRIOR * float(off @ off), gradient


def negative_log_likelihood(
    logs: np.ndarray, X: np.ndarray, Y: np.ndarray, noise_share: np.ndarray, kernel: str = "gaussian"
) -> tuple[float, np.ndarray]:
    """Negative log likelihood of all targets, up to a constant, and its gradient.

    ``logs`` holds the logarithms of amplitude, noise and the inverse width of each column.
    """
    amplitude, noise = np.exp(logs[:2])
    Z = X * np.exp(logs[2:])
    K, pull = (amplitude * part for part in _KERNELS[kernel](_half_squares(Z)))
    C = K.copy()
    diagonal_of(C)[:] += noise * noise_share
    root, failed = dpotrf(C, lower=1)
    if failed:  # not positive definite to machine precision: the worst value
        return 1e10, np.zeros_like(logs)
    weights, _ = dpotrs(root, Y, lower=1)
    inverse, _ = dpotri(root, lower=1)
    inverse += inverse.T  # only the lower half was filled
    diagonal_of(inverse)[:] /= 2
    t = Y.shape[1]
    loss = 0.5 * float(np.sum(Y * weights)) + t * float(np.log(root.diagonal()).sum())
    derivative = 0.5 * (t * inverse - weights @ weights.T)
    H = derivative * pull
    gradient = np.empty_like(logs)
    gradient[0] = np.sum(derivative * K)
    gradient[1] = noise * (derivative.diagonal() @ noise_share)
    gradient[2:] = -2 * (H.sum(axis=1) @ np.square(Z) - np.einsum("id,id->d", Z, H @ Z))
    return loss, gradient


def _half_squares(Z: np.ndarray) -> np.ndarray:
    """(m, m) half the squared distances between rows, which come centred or nearly so."""
    products = Z @ Z.T
    halves = 0.5 * products.diagonal()
    distances = np.maximum(halves[:, None] + halves - products, 0)
    np.fill_diagonal(distances, 0)
    return distances
