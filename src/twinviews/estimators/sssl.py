"""SSSL, section 2.4: ridge regression on one Nystroem view."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_landmarks
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.estimators._single_view import NystroemView, OneView, transform
from twinviews.method.views import View, nystroem_view
from twinviews.passes.first_pass import FirstPass


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
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _method(self) -> NystroemView:
        return NystroemView(self)

    def _one_view(self, first_pass: FirstPass) -> OneView:
        M = check_landmarks(first_pass.sample, self.n_components, n_views=1)
        landmarks = first_pass.sample.rows[:M]

        def view_of(sigma: float) -> View:
            return nystroem_view(self._kernel(), landmarks, sigma, rcond=NystroemView.rcond)

        return OneView(view_of, M, landmarks)

    transform = transform


@documented(score=0.92)
class SSSLRegressor(SemiSupervisedRegressor, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for numbers: SSSL_M of section 2.4."""


@documented(score=0.84)
class SSSLClassifier(SemiSupervisedClassifier, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for classes: SSSL_M of section 2.4."""
