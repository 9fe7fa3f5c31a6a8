"""The paper's own method as a member: ridge on the canonical features of all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.regression import LabeledBlock, labeled_factor, penalised_ridge
from twinviews.method.views import Readout, View


@dataclass(frozen=True)
class ViewRidge:
    """Ridge with given features and penalty; it also uses the labels beyond the members' limit."""

    view: View
    penalty: np.ndarray
    intercept: bool
    beyond: Labeled | None
    names = ("correlated views",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        parts = [labeled] if self.beyond is None else [labeled, self.beyond]
        m = sum(len(part.Y) for part in parts)
        blocks = [
            LabeledBlock(self.view(part.X), part.Y, part.weight * (len(part.Y) / m)) for part in parts
        ]
        coef, constant = penalised_ridge(labeled_factor(blocks, intercept=self.intercept), self.penalty)
        return [Readout(View(self.view.columns, self.view.W @ coef), constant)]
