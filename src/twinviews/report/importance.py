"""Permutation importance of raw columns on hidden rows, and their share in the learned metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twinviews.evaluation.confidence import Interval
from twinviews.report.rows import RawColumn, ReportRows
from twinviews.report.trial import Trial

MOST_SHUFFLES = 20
# Predictions that all shuffles together may cost: some seconds.
_PREDICTIONS = 300_000


@dataclass(frozen=True)
class ColumnImportance:
    """How much worse the model predicts without the information of a column."""

    name: str
    growth: Interval  # of the error, when the column's values are shuffled
    metric: float | None  # share of squared distances in the learned metric, if there is one


@dataclass(frozen=True)
class Importance:
    columns: tuple[ColumnImportance, ...]  # most important first
    n_shuffles: int
    has_metric: bool


def importance(rows: ReportRows, trial: Trial, model: Any, *, seed: int) -> Importance:
    """The importance of every raw column; all numbers that it became are shuffled together.

    scikit-learn's permutation_importance shuffles one number at a time and gives no losses of single
    rows, which the interval needs.
    """
    used = rows.used_columns
    n_shuffles = _affordable(trial.outcome.n_test * len(used))
    metric = getattr(model, "learned_metric_", None)
    before = _losses(rows, trial, None, n_shuffles=1, seed=seed)
    found = []
    for number, column in enumerate(used):
        after = _losses(rows, trial, column, n_shuffles=n_shuffles, seed=[seed, number])
        growth = trial.task.growth(before, after, trial.draws)
        share = None if metric is None else float(metric[list(column.places)].sum())
        found.append(ColumnImportance(column.name, growth, share))
    found.sort(key=lambda one: -one.growth.value)
    return Importance(tuple(found), n_shuffles, metric is not None)


def _affordable(predictions_of_a_shuffle: int) -> int:
    return int(np.clip(_PREDICTIONS // predictions_of_a_shuffle, 1, MOST_SHUFFLES))


def _losses(
    rows: ReportRows, trial: Trial, column: RawColumn | None, *, n_shuffles: int, seed: Any
) -> np.ndarray:
    """(n,) mean loss of each hidden row over the shuffles of a column, or with no column shuffled."""
    rng = np.random.default_rng(seed)
    places = [] if column is None else list(column.places)
    found = []
    for model, test in trial.judged:
        X, truth = rows.labeled[test], rows.y[test]
        shuffled = np.concatenate([rng.permutation(len(X)) for _ in range(n_shuffles)])
        many = np.tile(X, (n_shuffles, 1))
        many[:, places] = X[shuffled][:, places]
        losses = trial.task.smooth_losses(model, many, np.tile(truth, n_shuffles))
        found.append(losses.reshape(n_shuffles, len(X)).mean(axis=0))
    return np.concatenate(found)
