"""Kernel ridge regression: a view whose landmarks are the labeled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from twinviews._system.memory import refuse_what_cannot_fit
from twinviews.estimators._method import Method, Problems
from twinviews.estimators._solution import Solution
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

        def view_of(sigma: float) -> View:
            return nystroem_view(self.kernel, labeled, sigma, rcond=self.rcond)

        error_of = partial(self.error_of, view_of, problems)
        return LearnedWidth(self.choose_sigma(first_pass.sample.rows, error_of))

    def features(self, learned: LearnedWidth, problems: Problems) -> View:
        """The labeled rows are the landmarks, so other labels mean another view."""
        labeled = problems[0].distinct
        refuse_what_cannot_fit(
            type(self.model).__name__, labeled.shape[0], n_matrices=4, instead="SSSL or XNV"
        )
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
