"""XKS, Algorithm 2: correlated kitchen sinks."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators import _correlated_methods
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._correlated_views import CorrelatedViews, PairOfViews
from twinviews.estimators._docstrings import documented
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import DistanceKernel, find_shift_invariant_kernel
from twinviews.method.views import fourier_columns, fourier_views
from twinviews.passes.first_pass import FirstPass


class XKS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Correlated kitchen sinks, for regression and classification.

    Like XNV without an ensemble, with random Fourier features in place of Nystroem features. These do
    not depend on the rows and usually have larger errors. ``correlation_ridge=0`` is literally the
    paper.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        M, the features of each view. "auto" is the paper's 200.
    kernel : str, default="gaussian"
        "gaussian", "laplace", "matern32" or "matern52": only a shift-invariant kernel has Fourier
        features.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and phases.

    Attributes
    ----------
    views_
    basis_
    correlations_
    effective_dimension_
    """

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        correlation_ridge: Any = AUTO,
        canonical_weight: Any = 1.0,
        kernel: str = "gaussian",
        fit_intercept: bool = True,
        scale: str | None = None,
        cca: str = "exact",
        sketch_ratio: float = 0.25,
        missing_label: Any = None,
        max_labels: Any = AUTO,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.correlation_ridge = correlation_ridge
        self.canonical_weight = canonical_weight
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.cca = cca
        self.sketch_ratio = sketch_ratio
        self.missing_label = missing_label
        self.max_labels = max_labels
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _kernel(self) -> DistanceKernel:
        return find_shift_invariant_kernel(self.kernel)

    def _method(self) -> CorrelatedViews:
        return CorrelatedViews(self)

    def _pair_of_views(self, first_pass: FirstPass) -> PairOfViews:
        M, D = components(self.n_components), first_pass.sample.rows.shape[1]
        columns = fourier_columns(self._kernel(), D, 2 * M, M, self._seed)
        return PairOfViews(partial(fourier_views, columns), M, None)

    views_ = property(_correlated_methods.views_)
    basis_ = property(_correlated_methods.basis_)
    transform = _correlated_methods.transform
    transform_pair = _correlated_methods.transform_pair
    partial_fit = _correlated_methods.partial_fit
    merge = _correlated_methods.merge


@documented(score=0.91)
class XKSRegressor(SemiSupervisedRegressor, XKS):
    """Correlated kitchen sinks, for numbers: Algorithm 2 of the paper."""


@documented(score=0.94)
class XKSClassifier(SemiSupervisedClassifier, XKS):
    """Correlated kitchen sinks, for classes: Algorithm 2 of the paper."""
