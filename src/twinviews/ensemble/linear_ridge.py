"""Ridge regression on the columns themselves, its ridge by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from twinviews.ensemble.kernel_ridge import fit_kernel_ridge
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
        m, D = labeled.X.shape
        return [_from_products_of_rows(labeled) if m < D else _from_columns(labeled)]


def _from_columns(labeled: Labeled) -> Plane:
    none = np.zeros(labeled.X.shape[1])
    block = LabeledBlock(labeled.X, labeled.Y, labeled.weight)
    errors = ridge_path_errors(*block, none, _RIDGES, intercept=True).sum(axis=1)
    ridge = _RIDGES[np.nanargmin(errors)]
    factor = labeled_factor([block], intercept=True)
    return Plane(*penalised_ridge(factor, none + ridge))


def _from_products_of_rows(labeled: Labeled) -> Plane:
    """The same plane by kernel ridge: time grows with the number of columns, not with its cube."""
    centred = labeled.X - labeled.weight @ labeled.X
    fit = fit_kernel_ridge(centred @ centred.T, labeled.Y, labeled.weight, _RIDGES)
    coef = centred.T @ fit.alpha
    return Plane(coef, labeled.weight @ (labeled.Y - labeled.X @ coef))
