"""Regression and classification: their losses, baselines, and what a model predicts for a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import KRRClassifier, KRRRegressor
from twinviews.evaluation.confidence import (
    Interval,
    bootstrap,
    paired_share_interval,
    share_interval,
)
from twinviews.report.held_out import COVERAGES, HeldOutClasses, HeldOutNumbers

_ALPHAS = 10.0 ** np.arange(-3, 4.1, 0.5)
_LINEAR = "a weighted sum of the columns, from the labeled rows alone"


class Baseline(NamedTuple):
    name: str
    words: str
    model: Any  # with fit and predict


class RegressionTask:
    """The error is the root mean squared error, in units of the target."""

    def baselines(self) -> list[Baseline]:
        kernel = KRRRegressor(scale="standard", progress=False)
        linear = make_pipeline(StandardScaler(), RidgeCV(alphas=_ALPHAS))
        constant = "the same number for every row, the mean of the labels"
        return [
            Baseline("kernel ridge", "smooth curves through the labeled rows alone", kernel),
            Baseline("linear ridge", _LINEAR, linear),
            Baseline("guessing the mean", constant, DummyRegressor()),
        ]

    def strata(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y))

    def losses(self, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        return np.square(truth - predicted)

    def error(self, losses: np.ndarray, draws: np.ndarray) -> Interval:
        return bootstrap(np.sqrt, draws, losses)

    def difference(self, ours: np.ndarray, theirs: np.ndarray, draws: np.ndarray) -> Interval:
        """Their error less ours."""
        return bootstrap(lambda our, their: np.sqrt(their) - np.sqrt(our), draws, ours, theirs)

    def smooth_losses(self, model: Any, X: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Losses that respond to a small change of the predictions."""
        return self.losses(truth, model.predict(X))

    def growth(self, before: np.ndarray, after: np.ndarray, draws: np.ndarray) -> Interval:
        """The growth of the error between two sets of smooth losses."""
        return self.difference(before, after, draws)

    def answer(self, model: Any, X: np.ndarray) -> Any:
        """Predictions, and intervals of each coverage."""
        return model.predict(X), np.stack([model.predict_interval(X, level) for level in COVERAGES])

    def held_out(self, number: np.ndarray, truth: np.ndarray, answers: Sequence[Any]) -> HeldOutNumbers:
        predicted, intervals = zip(*answers, strict=True)
        return HeldOutNumbers(
            number, truth, np.concatenate(predicted), np.concatenate(intervals, axis=1)
        )

    def curves(self, model: Any, X: np.ndarray) -> np.ndarray:
        """(rows, 1) predictions, to be averaged for a partial dependence."""
        return np.asarray(model.predict(X))[:, None]

    def uncertainty(self, model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and their standard deviations."""
        predicted, deviation = model.predict(X, return_std=True)
        return predicted, deviation


class ClassificationTask:
    """The error is the share of rows in the wrong class."""

    def baselines(self) -> list[Baseline]:
        kernel = KRRClassifier(scale="standard", progress=False)
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        constant = DummyClassifier(strategy="most_frequent")
        return [
            Baseline("kernel ridge", "smooth borders from the labeled rows alone", kernel),
            Baseline("logistic regression", _LINEAR, linear),
            Baseline("guessing the most frequent class", "the same class for every row", constant),
        ]

    def strata(self, y: np.ndarray) -> np.ndarray:
        return y

    def losses(self, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        return np.asarray(truth != predicted, dtype=float)

    def error(self, losses: np.ndarray, draws: np.ndarray) -> Interval:
        return share_interval(losses.sum(), len(losses))

    def difference(self, ours: np.ndarray, theirs: np.ndarray, draws: np.ndarray) -> Interval:
        """Their error less ours."""
        return paired_share_interval(ours, theirs)

    def smooth_losses(self, model: Any, X: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Probabilities of all but the true class: they respond to a small change of the model."""
        p = model.predict_proba(X)
        return 1 - p[np.arange(len(p)), truth]

    def growth(self, before: np.ndarray, after: np.ndarray, draws: np.ndarray) -> Interval:
        """The growth of the smooth losses."""
        return bootstrap(lambda one, other: other - one, draws, before, after)

    def answer(self, model: Any, X: np.ndarray) -> Any:
        """The probability of each class."""
        return model.predict_proba(X)

    def held_out(self, number: np.ndarray, truth: np.ndarray, answers: Sequence[Any]) -> HeldOutClasses:
        return HeldOutClasses(number, truth, np.concatenate(answers))

    def curves(self, model: Any, X: np.ndarray) -> np.ndarray:
        """(rows, classes) probabilities, to be averaged for a partial dependence."""
        return np.asarray(model.predict_proba(X))

    def uncertainty(self, model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predicted classes, and the probability of all other classes."""
        p = model.predict_proba(X)
        return p.argmax(axis=1), 1 - p.max(axis=1)


ReportTask = RegressionTask | ClassificationTask
