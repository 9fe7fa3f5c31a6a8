"""KRR, section SI.2: kernel ridge regression on the labeled rows."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._labeled_kernel import KernelRidgeMethod
from twinviews.estimators._regressor import SemiSupervisedRegressor


class KRR(SemiSupervisedEstimator):
    """Kernel ridge regression: a Nystroem view whose landmarks are the labeled rows.

    Unlabeled rows are used only for the median distance around which sigma is searched. Time grows with
    the cube of the number of labels.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct labeled rows, on the scale of ``scale``.
    """

    def __init__(
        self,
        *,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
    ) -> None:
        self.sigma = sigma
        self.ridge = ridge
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _method(self) -> KernelRidgeMethod:
        return KernelRidgeMethod(self)


@documented(score=0.92)
class KRRRegressor(SemiSupervisedRegressor, KRR):
    """Kernel ridge regression on the labeled rows, for numbers: the supervised baseline of SI.2."""


@documented(score=0.86)
class KRRClassifier(SemiSupervisedClassifier, KRR):
    """Kernel ridge regression on the labeled rows, for classes: the supervised baseline of SI.2."""
