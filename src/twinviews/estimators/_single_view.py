"""Ridge regression on one view: SSSL and RFF, and on the labeled rows' own kernel: KRR."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._checks import AUTO, check_count, check_rows
from twinviews.estimators._frame import SemiSupervised
from twinviews.kernels import Kernel
from twinviews.labels import LabeledProblem
from twinviews.landmarks import stack_rows
from twinviews.survey import Survey
from twinviews.tables import Table
from twinviews.tuning import (
    MOST_LABELS,
    PAPER_COMPONENTS,
    VIEW_RIDGES,
    Candidate,
    choose_penalty,
)
from twinviews.views import View

# Here no moments are squared, so only rounding in the eigenvalues themselves is cut off.
VIEW_RCOND = 1e-13


class RidgeOnView(SemiSupervised):
    """Step 3 alone, with the plain ridge as the only penalty; where the view comes from is open."""

    @abstractmethod
    def _views(
        self, survey: Survey, problems: Sequence[LabeledProblem]
    ) -> tuple[Kernel, Callable[[float], View]]:
        """The kernel, and the view for any sigma; sets what it is made of."""

    def _learn(self, table: Table, survey: Survey, problems: Sequence[LabeledProblem]) -> View:
        kernel, view_of = self._views(survey, problems)
        self.sigma_ = self._sigma(
            kernel, survey.sample.rows, partial(self._error_of, view_of, problems)
        )
        return view_of(self.sigma_)

    def _error_of(
        self, view_of: Callable[[float], View], problems: Sequence[LabeledProblem], sigma: float
    ) -> float:
        """The least leave-one-out error with this sigma."""
        view = view_of(sigma)
        few = [problem.first(MOST_LABELS) for problem in problems]
        ridges = self._ridges(view) if self.ridge == AUTO else np.array([float(self.ridge)])
        return choose_penalty(
            [view(problem.X) for problem in few],
            few,
            self._penalties(view),
            ridges,
            intercept=self.fit_intercept,
        ).error

    def _penalties(self, view: View) -> list[Candidate]:
        return [Candidate({}, np.zeros(view.W.shape[1]))]

    def _ridges(self, view: View) -> np.ndarray:
        return VIEW_RIDGES * view.scale


class FeaturesOfView(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RidgeOnView):
    """A view of ``n_components`` features that can be looked at."""

    n_components: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)

    def _components(self) -> int:
        return PAPER_COMPONENTS if self.n_components == AUTO else int(self.n_components)

    def _learn(self, table: Table, survey: Survey, problems: Sequence[LabeledProblem]) -> View:
        view = super()._learn(table, survey, problems)
        self._n_features_out = view.W.shape[1]
        return view

    def transform(self, X: Any) -> np.ndarray:
        """The random features z(x), whose inner products approximate the kernel.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rank), with at most ``n_components`` columns
        """
        check_is_fitted(self)
        return self._by_blocks(self._view, check_rows(self, X, reset=False))


def labeled_rows(problems: Sequence[LabeledProblem]) -> Any:
    """The rows of all problems; those of one target may be among those of another."""
    return stack_rows([problem.X for problem in problems])
