"""Ridge regression on one view of random features: SSSL, section 2.4, and RFF, section SI.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_landmarks, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._method import Method, Problems
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import DistanceKernel, find_shift_invariant_kernel
from twinviews.method.views import View, fourier_columns, fourier_view, nystroem_view
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table


class OneView(NamedTuple):
    """A view for any sigma, and what it is made of."""

    view_of: Callable[[float], View]
    n_components: int
    landmarks: Any  # (M, D) rows, or None if the view needs none


@dataclass(frozen=True)
class LearnedView:
    """A view of M features."""

    sigma: Annotated[float, "> 0"]
    n_components: Annotated[int, ">= 1"]
    landmarks: Annotated[Any, "l D"] | None
    view: Annotated[View, "D v=r"]


class SingleView(Method):
    """Ridge regression on one view of random features; the estimator's ``_one_view`` says which."""

    shown = ("sigma", "n_components", "landmarks")

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedView:
        view_of, M, landmarks = self.model._one_view(first_pass)
        sigma = self.choose_sigma(first_pass.sample.rows, partial(self.error_of, view_of, problems))
        return LearnedView(sigma, M, landmarks, view_of(sigma))


class NystroemView(SingleView):
    """The same on a view whose landmarks are rows that the first pass samples."""

    # Rows between landmarks that nearly coincide are told apart by the inverse of the landmarks' kernel
    # matrix, which makes the rounding of its entries as many times larger: down to this share of the
    # largest eigenvalue, predictions keep eight digits.
    rcond = 1e-8

    def sample_size(self) -> int:
        return max(components(self.model.n_components), super().sample_size())


def transform(self: Any, X: Any) -> np.ndarray:
    """The random features z(x), whose inner products approximate the kernel.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, rank), with at most ``n_components`` columns
    """
    return self._by_blocks(self._learned.view, self._prepared(X))


# --- SSSL: landmarks -------------------------------------------------------------------------------


class SSSL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Simple semi-supervised learning on a Nystroem view, for regression and classification.

    Ridge regression of the labels on one view of ``n_components`` Nystroem features, whose landmarks
    come from all rows. With 2M features it is the paper's SSSL_2M.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Features and landmarks. "auto" is the paper's 200, or all distinct rows if there are fewer.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix of shape (n_components_, n_features_in_)
        On the scale of ``scale``. Uniform among distinct rows, whatever their order.
    """

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        max_labels: Any = AUTO,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.max_labels = max_labels
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _method(self) -> NystroemView:
        return NystroemView(self)

    def _one_view(self, first_pass: FirstPass) -> OneView:
        M = check_landmarks(first_pass.sample, self.n_components, n_views=1)
        landmarks = first_pass.sample.rows[:M]
        view_of = partial(nystroem_view, self._kernel(), landmarks, rcond=NystroemView.rcond)
        return OneView(view_of, M, landmarks)

    transform = transform


@documented(score=0.92)
class SSSLRegressor(SemiSupervisedRegressor, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for numbers: SSSL_M of section 2.4."""


@documented(score=0.95)
class SSSLClassifier(SemiSupervisedClassifier, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for classes: SSSL_M of section 2.4."""


# --- RFF: frequencies ------------------------------------------------------------------------------


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
        max_labels: Any = AUTO,
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
        self.max_labels = max_labels
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
        return OneView(partial(fourier_view, columns), M, None)

    transform = transform


@documented(score=0.92)
class RFFRegressor(SemiSupervisedRegressor, RFF):
    """Ridge regression on random Fourier features, for numbers: RFF_M of section SI.4."""


@documented(score=0.94)
class RFFClassifier(SemiSupervisedClassifier, RFF):
    """Ridge regression on random Fourier features, for classes: RFF_M of section SI.4."""
