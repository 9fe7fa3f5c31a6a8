"""A fit to the labels so far, and what it says of the rows that may be asked for: seconds of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twinviews import XNVClassifier, XNVRegressor, forecast_error
from twinviews.active.forecast import LEAST_LABELS, ErrorForecast, views_alone
from twinviews.active.learning_curve import LEAST_JUDGED
from twinviews.active.suggestion import doubts
from twinviews.labeling.entries import Task

COVERAGE = 0.9
# How far ahead the page looks, in shares of the labels so far.
_AHEAD = (0.2, 1.0)


class Labels(NamedTuple):
    """Labeled rows as numbers, in the order in which they were labeled."""

    rows: np.ndarray  # (n,) places in the table
    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,) float64, or object of str
    origin: np.ndarray  # (n,) how each row came to be asked

    @property
    def random(self) -> np.ndarray:
        """(n,) bool: rows drawn at random"""
        return self.origin == "random"

    @property
    def judged(self) -> np.ndarray:
        """(n,) bool: rows that the error is judged by.

        Those drawn at random; while there are too few, those that came from elsewhere too.
        """
        random = self.random
        if random.sum() >= LEAST_JUDGED:
            return random
        return random | (self.origin == "imported")

    @property
    def n_labels(self) -> int:
        return len(self.rows)

    def pairs(self) -> set[tuple[int, float | str]]:
        """Rows with what they were labeled."""
        return set(zip(self.rows.tolist(), self.y.tolist(), strict=True))


@dataclass(frozen=True)
class Study:
    """What came of it."""

    n_labels: int
    model: Any  # the default estimator, with its committee
    views: Any  # the same without, which relabels in milliseconds
    doubt: np.ndarray  # (m,) of each row of the sample
    predicted: np.ndarray  # (m,) numbers, or (m, K) log-probabilities
    ends: np.ndarray | None  # (m, 2) of the 90% interval of numbers
    forecast: ErrorForecast | None  # None: too few rows to judge by


def is_enough(labels: Labels) -> bool:
    """Whether there is something to learn."""
    return labels.n_labels >= LEAST_LABELS and len(np.unique(labels.y.astype(str))) > 1


def make_study(task: Task, X: np.ndarray, labels: Labels, seed: int = 0) -> Study:
    """Fit to all rows of the sample, labeled or not, and judge."""
    kind = XNVRegressor if task == "regression" else XNVClassifier
    model = kind(scale="standard", random_state=seed, progress=False, n_threads=1)
    model.fit(labels.X, labels.y, X_unlabeled=X)
    ends = None
    if isinstance(model, XNVRegressor):
        predicted = np.asarray(model.predict(X))
        ends = model.predict_interval(X, coverage=COVERAGE)
    else:
        predicted = model.predict_log_proba(X)
    views = views_alone(model).relabel(labels.X, labels.y)
    return Study(
        labels.n_labels, model, views, doubts(model, X), predicted, ends, _forecast(model, labels)
    )


def _forecast(model: Any, labels: Labels) -> ErrorForecast | None:
    """None while there are too few rows to judge by."""
    if labels.judged.sum() < LEAST_JUDGED:
        return None
    more = sorted({max(5, round(share * labels.n_labels / 5) * 5) for share in _AHEAD})
    found = forecast_error(model, labels.X, labels.y, more, random=labels.judged)
    # A label such as 1e200, of somebody who leaned on a key, has no square.
    return found if np.isfinite([*found.curve, *found.promised]).all() else None
