"""The paper's own method as a member: ridge on the canonical features of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.regression import LabeledBlock, labeled_factor, penalised_ridge
from twinviews.method.views import Readout, View

# Labels whose features are held at once.
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class ViewRidge:
    """Ridge with given features and penalty."""

    view: View
    penalty: np.ndarray
    intercept: bool
    names = ("correlated views",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        factor = labeled_factor(self._blocks(labeled), intercept=self.intercept)
        coef, constant = penalised_ridge(factor, self.penalty)
        return [Readout(View(self.view.columns, self.view.W @ coef), constant)]

    def _blocks(self, labeled: Labeled) -> Iterator[LabeledBlock]:
        for start in range(0, len(labeled.Y), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield LabeledBlock(self.view(labeled.X[rows]), labeled.Y[rows], labeled.weight[rows])
