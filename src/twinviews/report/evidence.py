"""All numbers of a report, measured on labels that the judged models have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from twinviews.report.dependence import Dependence, partial_dependence
from twinviews.report.importance import Importance, importance
from twinviews.report.rows import Drawn, ReportRows, RowEncoder, Task, read_rows
from twinviews.report.tasks import ClassificationTask, RegressionTask, ReportTask
from twinviews.report.trial import Say, TrialOutcome, hold_trial

TOP_COLUMNS = 4
_UNCERTAIN_ROWS = 10


@dataclass(frozen=True)
class UncertainRow:
    """An unlabeled row with an uncertain prediction."""

    number: int  # in the table, from 1
    prediction: Any
    uncertainty: float  # standard deviation, or probability of all other classes
    values: dict[str, Any]  # raw, by column


@dataclass(frozen=True)
class Evidence:
    """What :func:`gather` measures and every section of the page is made from."""

    target: str
    task: Task
    rows: ReportRows
    outcome: TrialOutcome
    importance: Importance
    dependence: tuple[Dependence, ...]
    uncertain: tuple[UncertainRow, ...]  # most uncertain first
    model: Any  # fitted with every label
    seed: int


def gather(
    table: pa.Table,
    target: str,
    task: Task,
    encoder: RowEncoder,
    estimator: Any,
    *,
    seed: int = 0,
    say: Say = lambda line: None,
    drawn: Drawn | None = None,
) -> Evidence:
    """The evidence for a report: an estimator judged on a table, and what its predictions rest on.

    A quarter of the labels is hidden (of fewer than 600 labels, each fifth in turn); a clone of the
    estimator is fitted on the others and all rows without a label, and judged on the hidden ones.
    Another clone is fitted with every label; importance, dependence and views are taken from it.

    Parameters
    ----------
    table : pyarrow.Table
        Raw columns; null or NaN in the target marks a row without a label. Of a table with more than
        4,000 labels or 20,000 rows without one, as many are drawn.
    target : str
        The column to predict.
    task : {"regression", "classification"}
    encoder : object
        Turns raw columns into numbers; it is fitted here, on the inputs of all rows.
    estimator : estimator of twinviews
        Not fitted here; its clones take ``seed`` where they have no ``random_state``.
    seed : int
        Seed of the choice of hidden labels and of everything else that is random.
    say : callable
        Called with a line of text at the start of every long step.
    drawn : Drawn, optional
        The larger table that this one is a sample of; the report then describes that.
    """
    missing_label = estimator.get_params()["missing_label"]
    rows = read_rows(table, target, task, encoder, missing_label=missing_label, seed=seed, drawn=drawn)
    estimator = _seeded(estimator, seed)
    kind: ReportTask = RegressionTask() if task == "regression" else ClassificationTask()
    trial = hold_trial(rows, kind, estimator, seed=seed, say=say)
    say("Fitting the model with every label")
    model = clone(estimator).fit(rows.labeled, rows.y, X_unlabeled=rows.unlabeled)
    say("Measuring importance and dependence")
    weighed = importance(rows, trial, model, seed=seed)
    top = [column.name for column in weighed.columns[:TOP_COLUMNS]]
    return Evidence(
        target=target,
        task=task,
        rows=rows,
        outcome=trial.outcome,
        importance=weighed,
        dependence=partial_dependence(rows, top, kind, encoder, model, seed=seed),
        uncertain=_uncertain(rows, kind, model),
        model=model,
        seed=seed,
    )


def _seeded(estimator: Any, seed: int) -> Any:
    """A clone that draws the same whenever it is fitted, and whose labels are known ones only."""
    known: dict[str, Any] = {"missing_label": None}
    if estimator.get_params().get("random_state", seed) is None:
        known["random_state"] = seed
    return clone(estimator).set_params(**known)


def _uncertain(rows: ReportRows, kind: ReportTask, model: Any) -> tuple[UncertainRow, ...]:
    if rows.unlabeled is None:
        return ()
    predicted, uncertainty = kind.uncertainty(model, rows.unlabeled)
    found = []
    for place in np.argsort(-uncertainty, kind="stable")[:_UNCERTAIN_ROWS]:
        row = len(rows.y) + int(place)
        (values,) = rows.raw.slice(row, 1).to_pylist()
        said = rows.classes[int(predicted[place])] if rows.classes else float(predicted[place])
        found.append(UncertainRow(int(rows.number[row]), said, float(uncertainty[place]), values))
    return tuple(found)
