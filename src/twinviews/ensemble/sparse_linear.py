"""Lasso on the columns themselves: a plane on which most columns of a wide table do not count.

Ridge shrinks all coefficients alike, so a few columns that matter are lost among hundreds that do not.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV, MultiTaskLasso, MultiTaskLassoCV
from sklearn.model_selection import KFold

from twinviews.ensemble.column_association import associated_columns
from twinviews.ensemble.linear_ridge import Plane
from twinviews.ensemble.member import Labeled, Predictor

# Of more columns, those that have most to do with the labels: time grows with their number.
_MOST_COLUMNS = 2000
# Penalties on the path, from the one that leaves no column down to this share of it.
_PENALTIES, _LEAST_PENALTY = 40, 1e-2
_FOLDS, _STEPS = 5, 10_000
# The path serves to choose a penalty, and takes a tenth of the time of an exact one.
_OF_PATH, _TOLERANCE = 1e-4, 1e-8


@dataclass(frozen=True)
class SparseLinear:
    """Coefficients of least squares with a penalty on their sizes, chosen by cross-validation."""

    names = ("lasso",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        X, Y, weight = labeled.X, labeled.Y, labeled.weight
        D, t = X.shape[1], Y.shape[1]
        columns = associated_columns(X, Y, _MOST_COLUMNS)
        centre, mean, root = weight @ X[:, columns], weight @ Y, np.sqrt(weight * len(Y))[:, None]
        path = {
            "alphas": _PENALTIES,
            "eps": _LEAST_PENALTY,
            "tol": _OF_PATH,
            "cv": KFold(min(_FOLDS, len(Y))),
        }
        # Of several targets, one penalty for all coefficients of a column: it counts or it does not.
        Path, Model = (LassoCV, Lasso) if t == 1 else (MultiTaskLassoCV, MultiTaskLasso)
        both = {"fit_intercept": False, "max_iter": _STEPS}
        rows, targets = root * (X[:, columns] - centre), root * (Y - mean)
        targets = targets[:, 0] if t == 1 else targets
        with warnings.catch_warnings():
            # At the smallest penalties; whether the plane is any good, held-out labels say.
            warnings.simplefilter("ignore", ConvergenceWarning)
            penalty = Path(**path, **both).fit(rows, targets).alpha_
            model = Model(alpha=penalty, tol=_TOLERANCE, **both).fit(rows, targets)
        coef = np.zeros((D, t))
        coef[columns] = np.reshape(model.coef_, (t, -1)).T
        return [Plane(coef, mean - centre @ coef[columns])]
