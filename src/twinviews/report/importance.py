"""What predictions rest on: columns shuffled on rows that the model had not seen, and its metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twinviews.evaluation.confidence import Interval
from twinviews.report.rows import Column, Rows
from twinviews.report.tasks import Classes, Numbers
from twinviews.report.trial import Judged, Trial

MOST_SHUFFLES = 20
# Predictions that all shuffles together may cost: some seconds.
_PREDICTIONS = 300_000


@dataclass(frozen=True)
class ColumnImportance:
    """How much worse the model does without what a column says."""

    name: str
    growth: Interval  # of the error, when the column's values are shuffled
    metric: float | None  # share of squared distances in the learned metric, if there is one


@dataclass(frozen=True)
class Importance:
    columns: tuple[ColumnImportance, ...]  # most important first
    n_shuffles: int
    has_metric: bool


def importance(rows: Rows, trial: Trial, model: Any, *, seed: int) -> Importance:
    """Of every raw column; all numbers that it became are shuffled together."""
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
    rows: Rows, trial: Trial, column: Column | None, *, n_shuffles: int, seed: Any
) -> np.ndarray:
    """(n,) mean loss of each held-out row over the shuffles of a column."""
    rng = np.random.default_rng(seed)
    parts = [_losses_of(rows, trial.task, one, column, n_shuffles, rng) for one in trial.judged]
    return np.concatenate(parts)


def _losses_of(
    rows: Rows,
    task: Numbers | Classes,
    judged: Judged,
    column: Column | None,
    n_shuffles: int,
    rng: np.random.Generator,
) -> np.ndarray:
    X, truth = rows.labeled[judged.test], rows.y[judged.test]
    many = np.tile(X, (n_shuffles, 1))
    if column is not None:
        shuffled = np.concatenate([rng.permutation(len(X)) for _ in range(n_shuffles)])
        places = list(column.places)
        many[:, places] = X[shuffled][:, places]
    losses = task.fine_losses(judged.model, many, np.tile(truth, n_shuffles))
    return np.asarray(losses.reshape(n_shuffles, len(X)).mean(axis=0))
