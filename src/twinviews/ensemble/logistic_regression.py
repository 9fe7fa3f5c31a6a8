"""Logistic regression on the columns themselves: with few labels, often the best that there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from twinviews.ensemble.linear_ridge import Plane
from twinviews.ensemble.member import CLASS_UNIT, TWO_CLASS_UNIT, Labeled, Predictor, class_codes

# Inverse ridges, among which held-out labels choose.
_STRENGTHS = (0.03, 0.3, 3.0)
_STEPS = 200
# A class without a label in a fold: as unlikely as the least probability that members tell apart.
_ABSENT = -2.0


@dataclass(frozen=True)
class Logistic:
    """One member for each strength of the ridge."""

    n_classes: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"logistic {strength:g}" for strength in _STRENGTHS)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        code, weight = class_codes(labeled.Y), labeled.weight * len(labeled.Y)
        known = np.unique(code)
        if len(known) == 1:
            return [self._constant(labeled, int(known[0]))] * len(_STRENGTHS)
        found: list[Predictor] = []
        for strength in _STRENGTHS:
            model = LogisticRegression(C=strength, max_iter=_STEPS)
            model.fit(labeled.X, code, sample_weight=weight)
            found.append(self._plane(model))
        return found

    def _plane(self, model: LogisticRegression) -> Plane:
        """Its log-odds, or centred log-probabilities up to a constant, in units of decision values."""
        coef, constant = model.coef_.T, model.intercept_
        if self.n_classes == 2:
            return Plane(coef / TWO_CLASS_UNIT, constant / TWO_CLASS_UNIT)
        if len(model.classes_) == 2:  # one plane between both
            coef, constant = np.hstack([-coef, coef]) / 2, np.concatenate([-constant, constant]) / 2
        every = np.zeros((len(coef), self.n_classes))
        level = np.full(self.n_classes, _ABSENT)
        every[:, model.classes_] = (coef - coef.mean(axis=1, keepdims=True)) / CLASS_UNIT
        level[model.classes_] = (constant - constant.mean()) / CLASS_UNIT
        return Plane(every, level)

    def _constant(self, labeled: Labeled, only: int) -> Plane:
        """Certain of the only class that the labels have."""
        t = labeled.Y.shape[1]
        level = np.array([1.0 if only else -1.0]) if t == 1 else np.full(t, _ABSENT)
        if t > 1:
            level[only] = -_ABSENT
        return Plane(np.zeros((labeled.X.shape[1], t)), level)
