"""Methods on the full N x N kernel matrix: exact SSSL and LapRLS. They need all rows at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from twinviews._system.memory import refuse_what_cannot_fit
from twinviews.estimators._single_view import ROUNDING_RCOND, RidgeOnView
from twinviews.method.kernels import Kernel, find_kernel
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.landmarks import AllRows
from twinviews.method.views import View, nystroem_view
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# Distinct rows that stand for all while sigma is chosen: each trial on all would cost a whole fit.
STAND_IN_ROWS = 400


class FullKernel(RidgeOnView):
    """All distinct rows with their weights, and their kernel matrix."""

    kernel: Any
    degree: int
    _large_matrices = True
    _n_matrices: int  # of N x N numbers, at the worst moment

    def _kernel(self) -> Kernel:
        return find_kernel(self.kernel, self.degree)

    def _views(
        self, first_pass: FirstPass, problems: Sequence[LabeledProblem]
    ) -> Callable[[float], View]:
        some = first_pass.sample.rows[:STAND_IN_ROWS]
        return lambda sigma: nystroem_view(self._kernel(), some, sigma, rcond=ROUNDING_RCOND)

    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        rows, share = table.fold(lambda block: AllRows.of(block.X, block.weight)).distinct()
        refuse_what_cannot_fit(
            type(self).__name__, rows.shape[0], self._n_matrices, instead="SSSL or XNV"
        )
        error_of = partial(self._error_of, self._views(first_pass, problems), problems)
        self.sigma_ = self._choose_sigma(first_pass.sample.rows, error_of)
        self.landmarks_ = rows
        self._learn_from_kernel(rows, share, problems)

    @abstractmethod
    def _learn_from_kernel(
        self, rows: Any, share: np.ndarray, problems: Sequence[LabeledProblem]
    ) -> None:
        """Features, from the distinct rows and the share of the weight on each."""
