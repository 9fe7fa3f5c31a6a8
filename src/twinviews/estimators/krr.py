"""KRR, section SI.2: kernel ridge regression on the labeled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._method import Method, Problems, Solution
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.labeled_problem import all_labeled
from twinviews.method.tuning import MOST_LABELS
from twinviews.method.views import View, nystroem_view
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table


@dataclass(frozen=True)
class LearnedWidth:
    """The only thing that kernel ridge regression takes from unlabeled rows."""

    sigma: Annotated[float, "> 0"]


class KernelRidgeMethod(Method):
    """Kernel ridge regression on the labeled rows, section SI.2."""

    landmarks_are_labeled = True
    shown = ("sigma",)

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedWidth:
        labeled = all_labeled([problem.first(MOST_LABELS) for problem in problems])
        view_of = partial(nystroem_view, self.kernel, labeled, rcond=self.rcond)
        error_of = partial(self.error_of, view_of, problems)
        return LearnedWidth(self.choose_sigma(first_pass.sample.rows, error_of))

    def features(self, learned: LearnedWidth, problems: Problems) -> View:
        """The labeled rows are the landmarks, so other labels mean another view."""
        labeled = problems[0].distinct
        self.check_memory(labeled.shape[0], n_matrices=4)
        return nystroem_view(self.kernel, labeled, learned.sigma, rcond=self.rcond)

    def attributes(self, learned: LearnedWidth, solution: Solution) -> dict[str, Any]:
        found = super().attributes(learned, solution)
        return {**found, "landmarks_": solution.problems[0].distinct}

    def ignored(self, solution: Solution) -> float:
        m, rank = solution.view.W.shape
        if rank in (0, m) or not self.kernel.full_rank:
            return 0.0
        # The columns of W are eigenvectors over the roots of their eigenvalues.
        largest = 1 / np.square(solution.view.W).sum(axis=0).min()
        zero = self.rcond * largest
        return float(zero / (zero + m * solution.penalty.min()))

    # The features span the labeled rows only. What they leave out of the kernel is uncertain as well,
    # and far from the labels it is all there is.

    def variance(self, learned: Any, solution: Solution) -> Callable[[Any], np.ndarray]:
        within, view, ridge = super().variance(learned, solution), solution.view, _sum_ridge(solution)

        def total(X: Any) -> np.ndarray:
            beyond = np.maximum(view.scale - np.square(view(X)).sum(axis=1), 0)
            return within(X) + beyond / ridge

        return total

    def directions(self, learned: LearnedWidth, solution: Solution, X: Any) -> np.ndarray:
        K = self.kernel.against(X, learned.sigma)(X)
        Z = solution.view(X)
        left_out, Q = np.linalg.eigh(K - Z @ Z.T)
        beyond = Q * np.sqrt(np.maximum(left_out, 0) / _sum_ridge(solution))
        return np.hstack([super().directions(learned, solution, X), beyond])


def _sum_ridge(solution: Solution) -> float:
    """The ridge for a loss that is a sum over the labels."""
    least = np.finfo(float).eps * solution.view.scale  # a ridge of 0 is rounding
    n = min(len(problem.Y) for problem in solution.problems)
    return max(n * float(solution.penalty.min()), least)


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


@documented(score=0.96)
class KRRClassifier(SemiSupervisedClassifier, KRR):
    """Kernel ridge regression on the labeled rows, for classes: the supervised baseline of SI.2."""
