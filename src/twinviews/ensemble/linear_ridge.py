"""Ridge regression on the columns themselves, its ridge by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.regression import LabeledBlock, labeled_factor, penalised_ridge, ridge_path_errors

_RIDGES = 10.0 ** np.arange(-5, 1.01, 0.5)


@dataclass(frozen=True)
class Plane:
    coef: Annotated[np.ndarray, "D t"]
    constant: Annotated[np.ndarray, "t"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef + self.constant


@dataclass(frozen=True)
class LinearRidge:
    names = ("linear",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        none = np.zeros(labeled.X.shape[1])
        block = LabeledBlock(labeled.X, labeled.Y, labeled.weight)
        errors = ridge_path_errors(*block, none, _RIDGES, intercept=True).sum(axis=1)
        ridge = _RIDGES[np.nanargmin(errors)]
        factor = labeled_factor([block], intercept=True)
        return [Plane(*penalised_ridge(factor, none + ridge))]
