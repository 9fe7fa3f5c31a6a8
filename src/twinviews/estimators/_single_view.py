"""Ridge regression on one view: SSSL and RFF, and on the labeled rows' own kernel: KRR."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._checks import check_count
from twinviews.estimators._frame import SemiSupervised
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.regression import LabeledBlock
from twinviews.method.tuning import VIEW_RIDGES, Candidate
from twinviews.method.views import View, root_of_inverse_root
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# A ridge beside the eigenvalues of one matrix: only rounding in the eigenvalues themselves is cut off.
ROUNDING_RCOND = 1e-13


class RidgeOnView(SemiSupervised):
    """Step 3 alone, with the plain ridge as the only penalty; where the view comes from is open."""

    _rcond = ROUNDING_RCOND

    @abstractmethod
    def _views(
        self, first_pass: FirstPass, problems: Sequence[LabeledProblem]
    ) -> Callable[[float], View]:
        """The view for any sigma; sets what it is made of."""

    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        view_of = self._views(first_pass, problems)
        error_of = partial(self._error_of, view_of, problems)
        self.sigma_ = self._choose_sigma(first_pass.sample.rows, error_of)
        self._view = view_of(self.sigma_)

    def _error_of(
        self, view_of: Callable[[float], View], problems: Sequence[LabeledProblem], sigma: float
    ) -> float:
        """The least leave-one-out error with this sigma."""
        return self._choose_penalty(view_of(sigma), problems).error

    def _penalties(self, view: View) -> list[Candidate]:
        return [Candidate({}, np.zeros(view.W.shape[1]))]

    def _ridge_grid(self, view: View) -> np.ndarray:
        return VIEW_RIDGES * view.scale


class OnLabeledRows(RidgeOnView):
    """With all distinct labeled rows as the last landmarks: what a view says of those it knows."""

    def _labeled_features(self, view: View, problem: LabeledProblem) -> np.ndarray:
        return self._features_of_all(view, problem)[problem.place]

    def _labeled_blocks(
        self, view: View, problems: Sequence[LabeledProblem]
    ) -> list[Callable[[], Iterable[LabeledBlock]]]:
        Z = self._features_of_all(view, problems[0])
        return [partial(problem.blocks_of, Z) for problem in problems]

    def _features_of_all(self, view: View, problem: LabeledProblem) -> np.ndarray:
        return root_of_inverse_root(view.W[-problem.distinct.shape[0] :])


class FeaturesOfView(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RidgeOnView):
    """A view of ``n_components`` features that can be looked at."""

    n_components: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)

    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        super()._learn(table, first_pass, problems)
        self._n_features_out = self._view.W.shape[1]

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
        return self._by_blocks(self._view, self._check_scaled_rows(X))
