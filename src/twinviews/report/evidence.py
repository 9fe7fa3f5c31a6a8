"""All numbers of a report, measured on labels that the judged models have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sklearn.base import clone

from twinviews import TableEncoder
from twinviews.report import inspection
from twinviews.report.rows import Drawn, ReportRows, Task, read_rows
from twinviews.report.tasks import ClassificationTask, RegressionTask
from twinviews.report.trial import Say, TrialOutcome, hold_trial

_TOP_COLUMNS = 4


@dataclass(frozen=True)
class Evidence:
    """What :func:`gather` measures and every section of the page is made from."""

    target: str
    task: Task
    rows: ReportRows
    outcome: TrialOutcome
    importance: inspection.Importance
    dependence: tuple[inspection.Dependence, ...]
    uncertain: tuple[inspection.UncertainRow, ...]  # most uncertain first
    model: Any  # fitted with every label
    seed: int


def gather(
    table: pa.Table,
    target: str,
    task: Task,
    encoder: TableEncoder,
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
    encoder : TableEncoder
        Turns raw columns into numbers; it is fitted here, on the inputs of all rows. Any object with
        its ``fit``, ``transform`` and ``columns_`` will do.
    estimator : estimator of twinviews
        Not fitted here; its clones take ``seed`` where they have no ``random_state``.
    seed : int
        Seed of the choice of hidden labels and of everything else that is random.
    say : callable
        Called with a line of text at the start of every long step.
    drawn : Drawn, optional
        The larger table that this one is a sample of; the report then describes that.
    """
    given = estimator.get_params()
    missing_label = given["missing_label"]
    rows = read_rows(table, target, task, encoder, missing_label=missing_label, seed=seed, drawn=drawn)
    # Clones draw the same whenever they are fitted, and their labels are known ones only.
    seeded = {"random_state": seed} if given.get("random_state", seed) is None else {}
    estimator = clone(estimator).set_params(missing_label=None, **seeded)
    kind = RegressionTask() if task == "regression" else ClassificationTask()
    trial = hold_trial(rows, kind, estimator, seed=seed, say=say)
    say("Fitting the model with every label")
    model = clone(estimator).fit(rows.labeled, rows.y, X_unlabeled=rows.unlabeled)
    say("Measuring importance and dependence")
    importance = inspection.permutation_importance(rows, trial, model, seed=seed)
    top = [column.name for column in importance.columns[:_TOP_COLUMNS]]
    return Evidence(
        target=target,
        task=task,
        rows=rows,
        outcome=trial.outcome,
        importance=importance,
        dependence=inspection.partial_dependence(rows, top, encoder, model, seed=seed),
        uncertain=inspection.most_uncertain(rows, model),
        model=model,
        seed=seed,
    )
