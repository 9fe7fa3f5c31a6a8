"""Kernel ridge in a metric learned from its own gradients, which show what the target depends on.

Fit, take the gradients of the fit at unlabeled rows, stretch the inputs along the directions in which
it changes (the average gradient outer product to the power 1/4, as Radhakrishnan et al. 2024 have it
for their recursive feature machines, here at rows without labels), and fit again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from twinviews.ensemble.column_association import associated_columns
from twinviews.ensemble.kernel_ridge import (
    KernelFit,
    KernelRidge,
    fit_kernel_ridge,
    mean_gradient_product,
)
from twinviews.ensemble.member import Labeled, Predictor, ScaledRows
from twinviews.method.kernels import SHIFT_INVARIANT

ROUNDS = 2
# A matrix has D (D + 1) / 2 numbers to learn; with more columns than this it only overfits.
MOST_COLUMNS_FOR_A_MATRIX = 64
# With more columns, those that do not matter decide which rows are near each other.
MOST_COLUMNS_FOR_DISTANCES = 512
_ROWS_FOR_GRADIENTS = 300
_ROWS_FOR_DISTANCES = 300
WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Metric:
    """x -> x L; L is a matrix, or a factor for each column. Columns of factor zero are left out."""

    L: Annotated[np.ndarray, "D | D D"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if self.L.ndim == 2:
            return X @ self.L
        return X * self.L if self.L.all() else X[:, self.L != 0] * self.L[self.L != 0]

    @property
    def is_learned(self) -> bool:
        """Whether columns have different weights."""
        return self.L.ndim == 2 or bool(np.ptp(self.L) > 0)

    def column_weights(self, units: np.ndarray | float = 1.0) -> np.ndarray:
        """(D,) weights of columns, which were divided by ``units``, in squared distances; sum 1."""
        squares = np.square(self.L) if self.L.ndim == 1 else np.square(self.L).sum(axis=1)
        weights = squares / np.square(units)
        return np.asarray(weights / weights.sum())

    def stretched(self, product: np.ndarray) -> Metric:
        """Along the directions of a mean gradient product, measured in this metric."""
        if self.L.ndim == 1:
            L, kept = self.L.copy(), self.L != 0
            L[kept] *= np.sqrt(np.sqrt(product / (product.max() or 1.0)) + 1e-6)
            return Metric(L)
        share, V = np.linalg.eigh(product / (np.trace(product) or 1.0))
        L = self.L @ (V * np.maximum(share, 1e-12) ** 0.25) @ V.T
        return Metric(L / np.abs(L).max())


def plain_metric(labeled: Labeled) -> Metric:
    """All columns alike; of very many those that have most to do with the labels."""
    L = np.zeros(labeled.X.shape[1])
    L[associated_columns(labeled.X, labeled.Y, MOST_COLUMNS_FOR_DISTANCES)] = 1.0
    return Metric(L)


@dataclass(frozen=True)
class InMetric:
    """A fit in a metric, and what it was fitted on: its kernel columns follow from that."""

    metric: Metric
    fit: KernelRidge
    kernel: str  # "gaussian" or "laplace"
    source: ScaledRows
    chosen: np.ndarray | None  # (m,) rows of the source that the fit has seen; None: all

    @classmethod
    def again(
        cls,
        kernel: str,
        metric: Metric,
        source: ScaledRows,
        chosen: np.ndarray | None,
        alpha: np.ndarray,
        constant: np.ndarray,
    ) -> InMetric:
        """The same predictor, bit for bit, from what a file holds of it."""
        columns = SHIFT_INVARIANT[kernel].against(metric(source.take(chosen)), 1.0)
        return cls(metric, KernelRidge(columns, alpha, constant), kernel, source, chosen)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.fit(self.metric(X))


@dataclass(frozen=True)
class MetricRidges:
    """Members: the plain distance, a factor for each column and, if D is small, a matrix."""

    kernel: str  # "gaussian" or "laplace"
    width: float  # in median distances between unlabeled rows
    n_columns: int
    kinds: tuple[str, ...] = ("plain", "factors", "matrix")
    # Whether only the metrics are asked for: then the ridge of the last round is not chosen anew.
    metric_alone: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        small = self.n_columns <= MOST_COLUMNS_FOR_A_MATRIX
        kinds = [kind for kind in self.kinds if kind != "matrix" or small]
        return tuple(f"{self.kernel} {kind}" for kind in kinds)

    def only(self, names: Sequence[str], *, metric_alone: bool = False) -> MetricRidges:
        """Those of its members that have one of the names."""
        kinds = tuple(kind for kind in self.kinds if f"{self.kernel} {kind}" in names)
        return replace(self, kinds=kinds, metric_alone=metric_alone)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        plain = plain_metric(labeled)
        start = self.fit_in(plain, labeled, unlabeled)
        found: list[Predictor] = []
        for name in self.names:
            if name.endswith("plain"):
                found.append(start.predictor)
                continue
            metric = plain if name.endswith("factors") else Metric(np.eye(self.n_columns))
            found.append(self._last_round(metric, start, labeled, unlabeled))
        return found

    def _last_round(
        self, metric: Metric, fitted: _Fitted, labeled: Labeled, unlabeled: np.ndarray
    ) -> Predictor:
        for round_ in range(ROUNDS):
            metric = metric.stretched(fitted.gradient_product(diagonal=metric.L.ndim == 1))
            # The rounds in between keep the ridge: they only serve to find the metric.
            last = round_ == ROUNDS - 1 and not self.metric_alone
            ridge = None if last else fitted.fit.ridge
            fitted = self.fit_in(metric, labeled, unlabeled, ridge)
        return fitted.predictor

    def fit_in(
        self, metric: Metric, labeled: Labeled, unlabeled: np.ndarray, ridge: float | None = None
    ) -> _Fitted:
        natural = self.natural_sigma(metric, unlabeled)
        return self.fit_at(self.width * natural, metric, labeled, unlabeled, ridge)

    def natural_sigma(self, metric: Metric, unlabeled: np.ndarray) -> float:
        """The median distance between unlabeled rows, which is the unit of widths."""
        return SHIFT_INVARIANT[self.kernel].natural_sigma(metric(unlabeled[:_ROWS_FOR_DISTANCES]))

    def fit_at(
        self,
        sigma: float,
        metric: Metric,
        labeled: Labeled,
        unlabeled: np.ndarray,
        ridge: float | None = None,
    ) -> _Fitted:
        kernel = SHIFT_INVARIANT[self.kernel]
        scaled = Metric(metric.L / sigma)
        X = scaled(labeled.X)
        columns = kernel.against(X, 1.0)
        options = {} if ridge is None else {"ridges": np.array([ridge])}
        fit = fit_kernel_ridge(columns(X), labeled.Y, labeled.weight, **options)
        at = scaled(unlabeled[:_ROWS_FOR_GRADIENTS])
        ridge_fit = KernelRidge(columns, fit.alpha, fit.constant)
        predictor = InMetric(scaled, ridge_fit, self.kernel, labeled.origin, labeled.chosen)
        return _Fitted(predictor, fit, X, at)


@dataclass(frozen=True)
class TunedWidth:
    """One member, the safe choice: Gaussian kernel ridge, its width and ridge by leave-one-out."""

    n_columns: int
    names = ("gaussian of tuned width",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        plain, ridges = plain_metric(labeled), MetricRidges("gaussian", 1.0, self.n_columns)
        natural = ridges.natural_sigma(plain, unlabeled)
        fits = [ridges.fit_at(width * natural, plain, labeled, unlabeled) for width in WIDTHS]
        return [min(fits, key=lambda fitted: fitted.fit.error).predictor]


@dataclass(frozen=True)
class _Fitted:
    predictor: InMetric
    fit: KernelFit
    X: np.ndarray  # labeled rows in the metric
    at: np.ndarray  # unlabeled rows in the metric

    def gradient_product(self, *, diagonal: bool) -> np.ndarray:
        slopes = _SLOPES[self.predictor.kernel](self.predictor.fit.columns(self.at))
        return mean_gradient_product(slopes, self.fit.alpha, self.X, self.at, diagonal=diagonal)


def _gaussian_slopes(K: np.ndarray) -> np.ndarray:
    return K


def _laplace_slopes(K: np.ndarray) -> np.ndarray:
    """k / |u - u'|, from k = exp(-|u - u'|) alone; at the kink the gradient is taken as bounded."""
    return K / np.maximum(-np.log(np.maximum(K, 1e-300)), 1e-6)


_SLOPES = {"gaussian": _gaussian_slopes, "laplace": _laplace_slopes}
