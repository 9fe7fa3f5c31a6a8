"""Regression and classification: their baselines and losses, and what is predicted for hidden rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import KRRClassifier, KRRRegressor
from twinviews.evaluation.confidence import Interval, bootstrap, paired_share_interval, share_interval
from twinviews.evaluation.measures import calibration_bins

COVERAGES = (0.5, 0.8, 0.9, 0.95)
_ALPHAS = 10.0 ** np.arange(-3, 4.1, 0.5)
_LINEAR = "a weighted sum of the columns, from the labeled rows alone"

Baseline = tuple[str, str, Any]  # name, what it is, model with fit and predict
Asked = Iterable[tuple[Any, np.ndarray]]  # models, and the rows that each is to predict


class Coverage(NamedTuple):
    promised: float
    inside: Interval  # share of the rows whose true value is in their interval
    width: float  # mean over the rows


@dataclass(frozen=True)
class HeldOutNumbers:
    """Predictions for the rows whose labels were hidden, beside their true values."""

    number: np.ndarray  # (n,) of each row in the table, from 1
    truth: np.ndarray  # (n,)
    predicted: np.ndarray  # (n,)
    intervals: np.ndarray  # (coverages, n, 2)

    @property
    def residuals(self) -> np.ndarray:
        """True values less predictions: positive where the prediction was too low."""
        return self.truth - self.predicted

    def coverage(self) -> tuple[Coverage, ...]:
        """Promised and observed coverage of the intervals."""
        found = []
        for promised, ends in zip(COVERAGES, self.intervals, strict=True):
            low, high = ends.T
            inside = (low <= self.truth) & (self.truth <= high)
            share = share_interval(inside.sum(), len(inside))
            found.append(Coverage(promised, share, float(np.mean(high - low))))
        return tuple(found)


class RegressionTask:
    """The error is the root mean squared error, in units of the target."""

    def baselines(self) -> list[Baseline]:
        kernel = KRRRegressor(scale="standard", progress=False)
        linear = make_pipeline(StandardScaler(), RidgeCV(alphas=_ALPHAS))
        constant = "the same number for every row, the mean of the labels"
        return [
            ("kernel ridge", "smooth curves through the labeled rows alone", kernel),
            ("linear ridge", _LINEAR, linear),
            ("guessing the mean", constant, DummyRegressor()),
        ]

    def held_out(self, number: np.ndarray, truth: np.ndarray, asked: Asked) -> HeldOutNumbers:
        predicted, intervals = [], []
        for model, X in asked:
            predicted.append(model.predict(X))
            intervals.append(np.stack([model.predict_interval(X, level) for level in COVERAGES]))
        return HeldOutNumbers(
            number, truth, np.concatenate(predicted), np.concatenate(intervals, axis=1)
        )

    def said(self, model: Any, X: Any) -> np.ndarray:
        return np.asarray(model.predict(X))

    def losses(self, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        return np.square(truth - predicted)

    def error(self, losses: np.ndarray, draws: np.ndarray) -> Interval:
        return bootstrap(np.sqrt, draws, losses)

    def difference(self, ours: np.ndarray, theirs: np.ndarray, draws: np.ndarray) -> Interval:
        """Their error less ours."""
        return bootstrap(lambda our, their: np.sqrt(their) - np.sqrt(our), draws, ours, theirs)


class ReliabilityBin(NamedTuple):
    n_rows: int
    confidence: float  # mean probability of the most likely class
    accuracy: Interval  # share of the rows that are of it


@dataclass(frozen=True)
class HeldOutClasses:
    """Probabilities for the rows whose labels were hidden, beside their true classes."""

    number: np.ndarray  # (n,) of each row in the table, from 1
    truth: np.ndarray  # (n,) position of the class
    p: np.ndarray  # (n, classes)
    predicted: np.ndarray  # (n,) of least expected cost

    def confusion(self) -> np.ndarray:
        """(classes, classes) rows of each true class by predicted class."""
        every = np.arange(self.p.shape[1])
        return np.asarray(confusion_matrix(self.truth, self.predicted, labels=every))

    @property
    def calibration_error(self) -> float:
        return calibration_bins(self.truth, self.p).error

    def reliability(self) -> tuple[ReliabilityBin, ...]:
        """The calibration bins that are not empty, with intervals."""
        return tuple(
            ReliabilityBin(int(n), float(confidence), share_interval(round(n * accuracy), int(n)))
            for confidence, accuracy, n in zip(*calibration_bins(self.truth, self.p), strict=True)
            if n
        )


class ClassificationTask:
    """The error is the share of rows in a wrong class; with costs each row counts by its own.

    ``costs`` (K,) has what an error on a row of each class costs, with a mean of 1 over the labels;
    None: the same.
    """

    def __init__(self, costs: np.ndarray | None = None) -> None:
        self.costs = costs

    def baselines(self) -> list[Baseline]:
        kernel = KRRClassifier(scale="standard", progress=False)
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        one = "guessing the most frequent class" if self.costs is None else "guessing one class"
        return [
            ("kernel ridge", "smooth borders from the labeled rows alone", kernel),
            ("logistic regression", _LINEAR, linear),
            (one, "the same class for every row", DummyClassifier(strategy="prior")),
        ]

    def held_out(self, number: np.ndarray, truth: np.ndarray, asked: Asked) -> HeldOutClasses:
        p = [model.predict_proba(X) for model, X in asked]
        said = [self.said(model, X) for model, X in asked]
        return HeldOutClasses(number, truth, np.concatenate(p), np.concatenate(said))

    def said(self, model: Any, X: Any) -> np.ndarray:
        """(rows,) classes; a model that does not know the costs is asked for probabilities."""
        if self.costs is None or getattr(model, "class_weight", None) is not None:
            return np.asarray(model.predict(X))
        return np.asarray((model.predict_proba(X) * self.costs).argmax(axis=1))

    def losses(self, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        wrong = np.asarray(truth != predicted, dtype=float)
        return wrong if self.costs is None else wrong * self.costs[truth]

    def error(self, losses: np.ndarray, draws: np.ndarray) -> Interval:
        if self.costs is not None:
            return bootstrap(np.asarray, draws, losses)
        return share_interval(losses.sum(), len(losses))

    def difference(self, ours: np.ndarray, theirs: np.ndarray, draws: np.ndarray) -> Interval:
        """Their error less ours."""
        if self.costs is not None:
            return bootstrap(lambda our, their: their - our, draws, ours, theirs)
        return paired_share_interval(ours, theirs)


def class_costs(class_weight: Mapping[Any, float], classes: Sequence[Any]) -> dict[int, float]:
    """By position of the class: 1, 1.0 and "1" are the same, as files have classes as text."""

    def known(label: Any) -> str:
        try:
            return repr(float(str(label)))
        except ValueError:
            return str(label)

    places = {known(label): place for place, label in enumerate(classes)}
    return {places[known(one)]: cost for one, cost in class_weight.items() if known(one) in places}


def relative_costs(
    class_weight: Mapping[int, float] | str | None, y: np.ndarray, n_classes: int
) -> np.ndarray | None:
    """(K,) what an error on a row of each class costs, with a mean of 1 over the labels y."""
    if class_weight is None:
        return None
    counts = np.bincount(y, minlength=n_classes)
    costs = np.ones(n_classes)
    if isinstance(class_weight, str):  # "balanced"
        costs = 1 / np.maximum(counts, 1)
    else:
        costs[list(class_weight)] = list(class_weight.values())
    return np.asarray(costs * counts.sum() / (costs @ counts))


ReportTask = RegressionTask | ClassificationTask
