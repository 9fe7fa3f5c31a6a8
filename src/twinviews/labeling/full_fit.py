"""A full fit to the labels so far, and its predictions for all candidate rows: seconds of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twinviews import XNVClassifier, XNVRegressor, forecast_error
from twinviews.active.error_forecast import LEAST_LABELS, ErrorForecast
from twinviews.active.learning_curve import LEAST_JUDGED
from twinviews.active.model_view import uncertainty, views_alone
from twinviews.labeling.entries import Task

COVERAGE = 0.9
# How far the page forecasts the error, in shares of the labels so far.
_AHEAD = (0.2, 1.0)


class RowLabels(NamedTuple):
    """Labeled rows as numbers, in the order in which they were labeled."""

    rows: np.ndarray  # (n,) numbers of the rows in the table
    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,) float64, or object of str
    origin: np.ndarray  # (n,) how each row was chosen

    @property
    def random(self) -> np.ndarray:
        """(n,) bool: rows drawn at random"""
        return self.origin == "random"

    @property
    def judged(self) -> np.ndarray:
        """(n,) bool: rows on which the error is estimated.

        Those drawn at random; while these are too few, imported labels too.
        """
        random = self.random
        if random.sum() >= LEAST_JUDGED:
            return random
        return random | (self.origin == "imported")

    @property
    def n_labels(self) -> int:
        return len(self.rows)

    def pairs(self) -> set[tuple[int, float | str]]:
        """Rows with their labels."""
        return set(zip(self.rows.tolist(), self.y.tolist(), strict=True))


@dataclass(frozen=True)
class FullFit:
    """A fitted model, and what it predicts for the candidate rows."""

    n_labels: int
    model: Any  # the default estimator, with its ensemble
    views: Any  # the same without, which relabels in milliseconds
    uncertainty: np.ndarray  # (m,) of each candidate
    predicted: np.ndarray  # (m,) numbers, or (m, K) log-probabilities
    intervals: np.ndarray | None  # (m, 2) ends of the 90% intervals of numbers
    forecast: ErrorForecast | None  # None if too few rows are drawn at random


def is_enough(labels: RowLabels) -> bool:
    """Whether a model can be fitted to the labels."""
    return labels.n_labels >= LEAST_LABELS and len(np.unique(labels.y.astype(str))) > 1


def fit_fully(task: Task, X: np.ndarray, labels: RowLabels, seed: int = 0) -> FullFit:
    """A fit to the labels and all candidate rows X, and an estimate of its error."""
    kind = XNVRegressor if task == "regression" else XNVClassifier
    model = kind(scale="standard", random_state=seed, progress=False, n_threads=1)
    model.fit(labels.X, labels.y, X_unlabeled=X)
    intervals = None
    if isinstance(model, XNVRegressor):
        predicted = np.asarray(model.predict(X))
        intervals = model.predict_interval(X, coverage=COVERAGE)
    else:
        predicted = model.predict_log_proba(X)
    views = views_alone(model).relabel(labels.X, labels.y)
    unsure, forecast = uncertainty(model, X), _forecast(model, labels)
    return FullFit(labels.n_labels, model, views, unsure, predicted, intervals, forecast)


def _forecast(model: Any, labels: RowLabels) -> ErrorForecast | None:
    """The learning curve and its forecast; None while too few rows are drawn at random."""
    if labels.judged.sum() < LEAST_JUDGED:
        return None
    more = sorted({max(5, round(share * labels.n_labels / 5) * 5) for share in _AHEAD})
    found = forecast_error(model, labels.X, labels.y, more, random=labels.judged)
    # The square of a label such as 1e200, typed by mistake, is infinite.
    return found if np.isfinite([*found.curve, *found.promised]).all() else None
