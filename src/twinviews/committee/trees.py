"""Boosted trees, for classes that are cut out by single columns: scikit-learn's, at fixed settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from twinviews.committee.labeled import Labeled, Predictor

# A tree is grown for each class in each round.
MOST_CLASSES_FOR_BOOSTING = 7
_LEAST_PROBABILITY = 1e-4


@dataclass(frozen=True)
class Boosting:
    seed: int
    names = ("boosting",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        Y = labeled.Y
        code = (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)
        model = HistGradientBoostingClassifier(
            max_iter=60,
            learning_rate=0.1,
            max_leaf_nodes=8,
            min_samples_leaf=4,
            early_stopping=False,
            random_state=self.seed,
        )
        weight = labeled.weight * len(Y)
        # Weights make boosting look for its bins at twenty times the cost, so equal ones are left out.
        options = {} if np.ptp(weight) < 1e-9 else {"sample_weight": weight}
        # Threads on so few rows would only wait for each other.
        with threadpool_limits(1, "openmp"):
            model.fit(labeled.X, code, **options)
        return [BoostedClasses(model, max(Y.shape[1], 2))]


@dataclass(frozen=True)
class BoostedClasses:
    """Centred log-probabilities: like decision values, they grow with sureness."""

    model: HistGradientBoostingClassifier
    n_classes: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        p = np.zeros((len(X), self.n_classes))
        with threadpool_limits(1, "openmp"):
            p[:, self.model.classes_] = self.model.predict_proba(X)
        log_p = np.log(np.maximum(p, _LEAST_PROBABILITY))
        if self.n_classes == 2:
            return (log_p[:, 1:] - log_p[:, :1]) / 8
        return (log_p - log_p.mean(axis=1, keepdims=True)) / 4
