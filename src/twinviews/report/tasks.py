"""Numbers and classes: what is a loss, which baselines are fair, what a model says of a row."""

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
from twinviews.report.rows import Task

_ALPHAS = 10.0 ** np.arange(-3, 4.1, 0.5)


class Baseline(NamedTuple):
    name: str
    words: str
    model: Any  # with fit and predict


class Numbers:
    """The error is the root of the mean squared error, in units of the target."""

    task: Task = "regression"

    def baselines(self) -> list[Baseline]:
        linear = make_pipeline(StandardScaler(), RidgeCV(alphas=_ALPHAS))
        return [
            Baseline(
                "kernel ridge",
                "smooth curves through the labeled rows alone",
                _kernel_ridge(KRRRegressor),
            ),
            Baseline(
                "linear ridge", "a weighted sum of the columns, from the labeled rows alone", linear
            ),
            Baseline(
                "guessing the mean",
                "the same number for every row, the mean of the labels",
                DummyRegressor(),
            ),
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

    def fine_losses(self, model: Any, X: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Losses that notice a small change of the model's answers."""
        return self.losses(truth, model.predict(X))

    def growth(self, before: np.ndarray, after: np.ndarray, draws: np.ndarray) -> Interval:
        """Of the fine losses."""
        return self.difference(before, after, draws)

    def held_out(self, number: np.ndarray, truth: np.ndarray, answers: Sequence[Any]) -> HeldOutNumbers:
        predicted, intervals = zip(*answers, strict=True)
        return HeldOutNumbers(
            number, truth, np.concatenate(predicted), np.concatenate(intervals, axis=1)
        )

    def answer(self, model: Any, X: np.ndarray) -> Any:
        """All that a model says of rows: numbers, and intervals of each coverage."""
        return model.predict(X), np.stack([model.predict_interval(X, level) for level in COVERAGES])

    def curves(self, model: Any, X: np.ndarray) -> np.ndarray:
        """(rows, 1) what is averaged for a partial dependence."""
        return np.asarray(model.predict(X))[:, None]

    def doubt(self, model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prediction, and how unsure it is: the deviation to expect."""
        predicted, deviation = model.predict(X, return_std=True)
        return predicted, deviation


class Classes:
    """The error is the share of rows in the wrong class."""

    task: Task = "classification"

    def baselines(self) -> list[Baseline]:
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        most_frequent = DummyClassifier(strategy="most_frequent")
        return [
            Baseline(
                "kernel ridge",
                "smooth borders from the labeled rows alone",
                _kernel_ridge(KRRClassifier),
            ),
            Baseline(
                "logistic regression",
                "a weighted sum of the columns, from the labeled rows alone",
                linear,
            ),
            Baseline(
                "guessing the most frequent class", "the same answer for every row", most_frequent
            ),
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

    def fine_losses(self, model: Any, X: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Probability that the true class was not given: it notices small changes of answers."""
        p = model.predict_proba(X)
        return 1 - p[np.arange(len(p)), truth]

    def growth(self, before: np.ndarray, after: np.ndarray, draws: np.ndarray) -> Interval:
        """Of the fine losses."""
        return bootstrap(lambda one, other: other - one, draws, before, after)

    def held_out(self, number: np.ndarray, truth: np.ndarray, answers: Sequence[Any]) -> HeldOutClasses:
        return HeldOutClasses(number, truth, np.concatenate(answers))

    def answer(self, model: Any, X: np.ndarray) -> Any:
        """All that a model says of rows: the probability of each class."""
        return model.predict_proba(X)

    def curves(self, model: Any, X: np.ndarray) -> np.ndarray:
        """(rows, classes) what is averaged for a partial dependence."""
        return np.asarray(model.predict_proba(X))

    def doubt(self, model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prediction, and how unsure it is: the probability of all other classes."""
        p = model.predict_proba(X)
        return p.argmax(axis=1), 1 - p.max(axis=1)


def _kernel_ridge(kind: Any) -> Any:
    return kind(scale="standard", progress=False)
