"""Ridge regression on the columns themselves, its ridge by leave-one-out.

Of many sparse rows a fifth is held out instead: then no matrix of all pairs is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import Ridge

from twinviews.ensemble.kernel_ridge import fit_kernel_ridge
from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.regression import LabeledBlock, labeled_factor, penalised_ridge, ridge_path_errors

_RIDGES = 10.0 ** np.arange(-5, 1.01, 0.5)
# Sparse rows of which all products with each other are made, and what is done with more.
_MOST_PAIRED, _HELD_OUT, _TOLERANCE = 2000, 5, 1e-8


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
        if issparse(labeled.X):
            return [_from_pairs(labeled) if m <= _MOST_PAIRED else _by_iterations(labeled)]
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


def _from_pairs(labeled: Labeled) -> Plane:
    """The same for sparse rows, which stay so: kernel ridge takes the constant out itself."""
    fit = fit_kernel_ridge((labeled.X @ labeled.X.T).toarray(), labeled.Y, labeled.weight, _RIDGES)
    return Plane(np.asarray(labeled.X.T @ fit.alpha), fit.constant)


def _by_iterations(labeled: Labeled) -> Plane:
    """The ridge of least error on every fifth row; conjugate gradients multiply with rows only."""
    held_out = np.arange(len(labeled.Y)) % _HELD_OUT == 0
    some, others = (labeled.take(np.flatnonzero(rows)) for rows in (~held_out, held_out))

    def error(ridge: float) -> float:
        off = others.Y - _damped(some, ridge)(others.X)
        return float((others.weight @ np.square(off)).sum())

    return _damped(labeled, min(_RIDGES, key=error))


def _damped(labeled: Labeled, ridge: float) -> Plane:
    model = Ridge(ridge, solver="sparse_cg", tol=_TOLERANCE)
    model.fit(labeled.X, labeled.Y, sample_weight=labeled.weight)
    return Plane(np.atleast_2d(model.coef_).T, np.atleast_1d(model.intercept_))
