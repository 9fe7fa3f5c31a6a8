r"""More labels than kernel methods can be fitted to: which members go on, and how.

Time and memory of a kernel method grow with the cube and the square of its labels. So all members are
fitted to some labels first. Those that have a weight there go on to all labels, with trees, and are
weighted anew by held-out predictions of all of them. A kernel member keeps what it has learned from
some labels, its metric, and is fitted to all labels on landmarks:

.. math:: f(x) = a + k(x, Z)\,\alpha, \qquad
          \min_{a, \alpha} \sum_i w_i (y_i - f(x_i))^2 + \gamma\, \alpha^\top K_{ZZ}\, \alpha,

where Z are p of the labeled rows: one sum over blocks of labels, and a solve of size p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from twinviews.ensemble.boosted_trees import Boosting
from twinviews.ensemble.gaussian_process import ColumnWidths
from twinviews.ensemble.kernel_ridge import KernelRidge
from twinviews.ensemble.learned_metric import InMetric, MetricRidges, TunedWidth
from twinviews.ensemble.member import (
    Labeled,
    MemberSpec,
    Predictor,
    Recipe,
    RecipeWithStarts,
)
from twinviews.method.kernel_values import Columns
from twinviews.method.kernels import SHIFT_INVARIANT

# Labels that all members are fitted to, and that a kernel member learns its metric from.
SOME_LABELS = 1000
# Kernel members that go on, fewer of very many labels: the next ones would cost as much and add little.
_MOST_KERNEL_MEMBERS, _LEAST_KERNEL_MEMBERS, _LABELS_OF_MOST = 4, 2, 20_000
# Landmarks: fewer where that many products with all labels would take long.
_MOST_LANDMARKS, _LEAST_LANDMARKS, _PRODUCTS = 1000, 300, 1.5e10
_RIDGES = 10.0 ** np.arange(-10, 0.51, 0.5)
_BLOCK_ROWS = 4096
_ROUNDING = 1e-10


def specs_for_some_labels(specs: Sequence[MemberSpec]) -> list[MemberSpec]:
    """Members that are fitted to some labels first."""
    return [spec for spec in specs if not spec.of_all_labels]


def specs_for_all_labels(
    specs: Sequence[MemberSpec], weights: Sequence[tuple[str, str, float]], n_labels: int
) -> list[MemberSpec]:
    """Members that have a weight with some labels, those of the user, and trees, which gain by more.

    ``weights`` has names, scales and weights of the members fitted to some labels.
    """
    fewer = _MOST_KERNEL_MEMBERS * np.sqrt(_LABELS_OF_MOST / n_labels)
    n_kernels = int(np.clip(fewer, _LEAST_KERNEL_MEMBERS, _MOST_KERNEL_MEMBERS))
    heaviest = sorted(weights, key=lambda member: -member[2])
    of = {(name, scale) for name, scale, _ in heaviest}
    kernels = {
        (name, spec.scale)
        for spec in specs
        if isinstance(spec.recipe, _KERNEL_RECIPES)
        for name in spec.recipe.names
    }
    going_on = [member[:2] for member in heaviest if member[:2] in kernels][:n_kernels]
    found = []
    for spec in specs:
        names = [name for name in spec.recipe.names if (name, spec.scale) in of]
        if isinstance(spec.recipe, _KERNEL_RECIPES):
            names = [name for name in names if (name, spec.scale) in going_on]
            if names:
                found.append(spec._replace(recipe=OnLandmarks(_only(spec.recipe, names))))
        elif names or spec.given or isinstance(spec.recipe, Boosting):
            found.append(spec)
    return found


_KERNEL_RECIPES = (ColumnWidths, MetricRidges, TunedWidth)


def _only(recipe: Recipe, names: Sequence[str]) -> Recipe:
    return recipe.only(names, metric_alone=True) if isinstance(recipe, MetricRidges) else recipe


@dataclass(frozen=True)
class OnLandmarks:
    """A kernel member fitted to all labels, in the metric that it learns from some of them."""

    recipe: Recipe

    @property
    def names(self) -> tuple[str, ...]:
        return self.recipe.names

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        some = labeled.take(np.arange(min(SOME_LABELS, len(labeled.Y))))
        return [_on_landmarks(fit, labeled) for fit in self.recipe.fit(some, unlabeled)]

    def fit_after(
        self, labeled: Labeled, unlabeled: np.ndarray, folds: Sequence[Sequence[Predictor]]
    ) -> list[Predictor]:
        if not isinstance(self.recipe, RecipeWithStarts):
            return self.fit(labeled, unlabeled)
        some = labeled.take(np.arange(min(SOME_LABELS, len(labeled.Y))))
        fits = self.recipe.fit_after(some, unlabeled, folds)
        return [_on_landmarks(fit, labeled) for fit in fits]


def _on_landmarks(fit: Predictor, labeled: Labeled) -> InMetric:
    assert isinstance(fit, InMetric), "kernel members are"
    m = len(labeled.Y)
    p = int(np.clip(np.sqrt(_PRODUCTS / m), _LEAST_LANDMARKS, _MOST_LANDMARKS))
    rows = np.arange(min(p, m))
    Z = fit.metric(labeled.X[rows])
    columns = SHIFT_INVARIANT[fit.kernel].against(Z, 1.0)
    alpha, constant = landmark_ridge(columns, Z, fit.metric(labeled.X), labeled.Y, labeled.weight)
    chosen = rows if labeled.chosen is None else labeled.chosen[rows]
    ridge = KernelRidge(columns, alpha, constant)
    return InMetric(fit.metric, ridge, fit.kernel, labeled.origin, chosen)


def landmark_ridge(
    columns: Columns,
    Z: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    ridges: np.ndarray = _RIDGES,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (p, t) and constant (t,), the ridge by generalised cross-validation.

    In features of unit covariance under the kernel, which a Cholesky factor of the landmarks' kernel
    gives, the penalty is that of the coefficients themselves, and one eigendecomposition serves every
    ridge.
    """
    K = columns(Z)
    K[np.diag_indices_from(K)] += _ROUNDING * len(K)
    root = np.linalg.cholesky(K)  # lower
    p, mean, roots = len(K), weight @ Y, np.sqrt(weight)[:, None]
    products, cross, sums = np.zeros((p, p)), np.zeros((p, Y.shape[1])), np.zeros(p)
    for start in range(0, len(Y), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        scaled = (roots[rows] * columns(X[rows])).T
        F = solve_triangular(root, scaled, lower=True, overwrite_b=True, check_finite=False)
        products += F @ F.T
        cross += F @ (roots[rows] * (Y[rows] - mean))
        sums += F @ roots[rows, 0]
    products -= np.outer(sums, sums)
    spectrum, V = np.linalg.eigh(products)
    spectrum, T = np.maximum(spectrum, 0), V.T @ cross
    total = float((weight @ np.square(Y - mean)).sum())

    def score(ridge: float) -> float:
        inverse = 1 / (spectrum + ridge)
        explained = np.square(T).sum(axis=1) @ (2 * inverse - spectrum * np.square(inverse))
        free = 1 - (1 + spectrum @ inverse) / len(Y)
        return (total - float(explained)) / free**2 if free > 0 else np.inf

    ridge = min(ridges, key=score)
    beta = V @ (T / (spectrum + ridge)[:, None])
    return solve_triangular(root, beta, lower=True, trans="T"), mean - sums @ beta
