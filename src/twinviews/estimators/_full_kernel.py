"""Methods on the full N x N kernel matrix: exact SSSL and LapRLS. They need all rows at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from twinviews.estimators._single_view import VIEW_RCOND, RidgeOnView
from twinviews.kernels import Kernel, find_kernel
from twinviews.labels import LabeledProblem
from twinviews.landmarks import AllRows
from twinviews.memory import refuse_what_cannot_fit
from twinviews.survey import Survey
from twinviews.tables import Table
from twinviews.views import View, nystroem_view

# Distinct rows that stand for all while sigma is chosen: each trial on all would cost a whole fit.
STAND_IN_ROWS = 400


class FullKernel(RidgeOnView):
    """All distinct rows with their weights, and their kernel matrix."""

    kernel: Any
    degree: int
    _large_matrices = True
    n_matrices = 4  # of N x N numbers, at the worst moment

    def _views(
        self, survey: Survey, problems: Sequence[LabeledProblem]
    ) -> tuple[Kernel, Callable[[float], View]]:
        kernel = find_kernel(self.kernel, self.degree)
        landmarks = survey.sample.rows[:STAND_IN_ROWS]
        return kernel, lambda sigma: nystroem_view(kernel, landmarks, sigma, rcond=VIEW_RCOND)

    def _learn(self, table: Table, survey: Survey, problems: Sequence[LabeledProblem]) -> View:
        kernel, view_of = self._views(survey, problems)
        rows, share = table.fold(lambda block: AllRows.of(block.X, block.weight)).distinct()
        refuse_what_cannot_fit(
            type(self).__name__,
            rows.shape[0],
            self.n_matrices,
            instead="SSSLRegressor or XNVRegressor (or the classifiers of those names)",
        )
        error_of = partial(self._error_of, view_of, problems)
        self.sigma_ = self._sigma(kernel, survey.sample.rows, error_of)
        self.landmarks_ = rows
        return self._learn_from_kernel(kernel, rows, share, problems)

    @abstractmethod
    def _learn_from_kernel(
        self, kernel: Kernel, rows: Any, share: np.ndarray, problems: Sequence[LabeledProblem]
    ) -> View:
        """Features, from the distinct rows and the share of the weight on each."""
