"""Any scikit-learn regressor or classifier as a member of the ensemble."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from twinviews._system.user_warnings import warn_user
from twinviews.ensemble.member import Labeled, Predictor, as_decision_values, class_codes

# joblib, inside many estimators, sets and resets Python's warnings, which all threads share.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class EstimatorMember:
    """A recipe that clones and fits an estimator of the user's, on standardised rows."""

    name: str
    estimator: Any
    n_classes: int  # 0 for regression
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        known, target = np.empty(0), labeled.Y[:, 0]
        if self.n_classes:  # a fold may lack some, and some estimators want codes without gaps
            known, target = np.unique(class_codes(labeled.Y), return_inverse=True)
            if len(known) == 1:
                return [OneClass(int(known[0]), self.n_classes)]
        model = _seeded(clone(self.estimator), self.seed)
        try:
            with np.errstate(all="warn"):  # what it computes on the way is its own affair
                model.fit(labeled.X, target, **self._weights(model, labeled.weight))
        except Exception as error:
            raise _failure(self.name, f"cannot be fitted to {len(target)} labels", error) from error
        return [FittedEstimator(self.name, model, known, self.n_classes)]

    def _weights(self, model: Any, weight: np.ndarray) -> dict[str, np.ndarray]:
        """What ``fit`` is told of the rows' weights, where they differ."""
        weight = weight * len(weight)
        if np.ptp(weight) <= 1e-9:
            return {}
        if has_fit_parameter(model, "sample_weight"):
            return {"sample_weight": weight}
        if isinstance(model, Pipeline) and has_fit_parameter(model[-1], "sample_weight"):
            return {f"{model.steps[-1][0]}__sample_weight": weight}
        warn_user(
            f"The member {self.name!r} takes no sample_weight, so all labeled rows count alike for "
            f"it. Leave it out of members, or give it an estimator that takes weights."
        )
        return {}


def _seeded(model: Any, seed: int) -> Any:
    """The estimator with a seed wherever it would draw one: a fit depends on one random_state."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    unseeded = {
        name: seed
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return model.set_params(**unseeded) if unseeded else model


@dataclass(frozen=True)
class OneClass:
    """Certain of the only class that its labels had."""

    known: int
    n_classes: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        p = np.zeros((X.shape[0], self.n_classes))
        p[:, self.known] = 1.0
        return as_decision_values(p)


@dataclass(frozen=True)
class FittedEstimator:
    """What a fitted estimator of the user's predicts, as the ensemble needs it."""

    name: str
    model: Any
    known: np.ndarray  # (k,) the classes that its labels had
    n_classes: int

    @property
    def why_not_stored(self) -> str:
        return not_stored(self.name, self.model)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        try:
            with _ONE_AT_A_TIME, np.errstate(all="warn"):
                found = self._class_values(X) if self.n_classes else self._numbers(X)
        except Exception as error:
            raise _failure(self.name, f"cannot predict {X.shape[0]} rows", error) from error
        if np.isnan(found).any():
            raise _failure(self.name, "predicts something that is not a number", None)
        return found

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(X), dtype=np.float64).reshape(-1, 1)

    def _class_values(self, X: np.ndarray) -> np.ndarray:
        p = np.zeros((X.shape[0], self.n_classes))
        if hasattr(self.model, "predict_proba"):
            p[:, self.known[np.asarray(self.model.classes_, dtype=int)]] = self.model.predict_proba(X)
        else:
            p[np.arange(len(p)), self.known[np.asarray(self.model.predict(X), dtype=int)]] = 1.0
        return as_decision_values(p)


def not_stored(name: str, model: Any) -> str:
    """Why a model file has no room for a member, and the way out."""
    return (
        f"its member {name!r} is a {type(model).__name__}, which is not a part of twinviews, and a "
        f"model file holds no code. Fit without it, or keep this model with pickle or skops"
    )


def _failure(name: str, what: str, error: Exception | None) -> ValueError:
    reason = "" if error is None else f" ({type(error).__name__}: {error})"
    return ValueError(f"The member {name!r} {what}{reason}. Mend it, or leave it out of members.")
