"""Any scikit-learn regressor or classifier as a member of the ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from twinviews.ensemble.member import Labeled, Predictor, as_decision_values, class_codes


@dataclass(frozen=True)
class EstimatorMember:
    """A recipe that clones the user's estimator and fits it on standardised rows."""

    name: str
    estimator: Any
    n_classes: int  # 0 for regression

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        target = class_codes(labeled.Y) if self.n_classes else labeled.Y[:, 0]
        if self.n_classes and len(np.unique(target)) == 1:  # the other classes are in the fold left out
            return [OneClass(int(target[0]), self.n_classes)]
        model = clone(self.estimator)
        weight = labeled.weight * len(target)
        options = {}
        if np.ptp(weight) > 1e-9 and has_fit_parameter(model, "sample_weight"):
            options["sample_weight"] = weight
        try:
            model.fit(labeled.X, target, **options)
        except Exception as error:
            raise MemberError(self.name, f"cannot be fitted to {len(target)} labels", error) from error
        return [FittedEstimator(self.name, model, self.n_classes)]


@dataclass(frozen=True)
class OneClass:
    """Predicts the only class of its labels, with certainty."""

    known: int
    n_classes: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        p = np.zeros((len(X), self.n_classes))
        p[:, self.known] = 1.0
        return as_decision_values(p)


@dataclass(frozen=True)
class FittedEstimator:
    """Predictions of the user's fitted estimator, in the form that the ensemble needs."""

    name: str
    model: Any
    n_classes: int

    # For the error when such a model is saved: a model file holds no code.
    @property
    def why_not_stored(self) -> str:
        return (
            f"its member {self.name!r} is a {type(self.model).__name__}, which is not a part of "
            f"twinviews, and a model file holds no code. Fit without it, or keep this model with "
            f"pickle or skops"
        )

    def __call__(self, X: np.ndarray) -> np.ndarray:
        try:
            found = self._class_values(X) if self.n_classes else self._numbers(X)
        except Exception as error:
            raise MemberError(self.name, f"cannot predict {len(X)} rows", error) from error
        if not np.isfinite(found).all():
            raise MemberError(self.name, "predicts numbers that are not finite", None)
        return found

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(X), dtype=np.float64).reshape(len(X), 1)

    def _class_values(self, X: np.ndarray) -> np.ndarray:
        p = np.zeros((len(X), self.n_classes))
        known = np.asarray(self.model.classes_, dtype=int)  # a fold may lack some
        if hasattr(self.model, "predict_proba"):
            p[:, known] = self.model.predict_proba(X)
        else:
            p[np.arange(len(X)), np.asarray(self.model.predict(X), dtype=int)] = 1.0
        return as_decision_values(p)


class MemberError(ValueError):
    """The user's member has failed."""

    def __init__(self, name: str, what: str, error: Exception | None) -> None:
        reason = "" if error is None else f" ({type(error).__name__}: {error})"
        super().__init__(f"The member {name!r} {what}{reason}. Mend it, or leave it out of members.")
