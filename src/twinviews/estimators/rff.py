"""RFF, section SI.4: ridge regression on one view of random Fourier features."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.estimators._single_view import OneView, SingleView, transform
from twinviews.method.kernels import DistanceKernel, find_shift_invariant_kernel
from twinviews.method.views import View, fourier_columns, fourier_view
from twinviews.passes.first_pass import FirstPass


class RFF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Random Fourier features, section SI.4, for regression and classification.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features. "auto" is the paper's 200.
    kernel : str, default="gaussian"
        "gaussian", "laplace", "matern32" or "matern52": only a shift-invariant kernel has Fourier
        features.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and phases.
    """

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        kernel: str = "gaussian",
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _kernel(self) -> DistanceKernel:
        return find_shift_invariant_kernel(self.kernel)

    def _method(self) -> SingleView:
        return SingleView(self)

    def _one_view(self, first_pass: FirstPass) -> OneView:
        M, D = components(self.n_components), first_pass.sample.rows.shape[1]
        columns = fourier_columns(self._kernel(), D, M, M, self._seed)

        def view_of(sigma: float) -> View:
            return fourier_view(columns, sigma)

        return OneView(view_of, M, None)

    transform = transform


@documented(score=0.92)
class RFFRegressor(SemiSupervisedRegressor, RFF):
    """Ridge regression on random Fourier features, for numbers: RFF_M of section SI.4."""


@documented(score=0.81)
class RFFClassifier(SemiSupervisedClassifier, RFF):
    """Ridge regression on random Fourier features, for classes: RFF_M of section SI.4."""
