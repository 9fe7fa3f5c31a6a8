"""All numbers of a report: of the model that it describes, and of a trial on hidden labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from twinviews import TableEncoder
from twinviews.evaluation.told_error import ToldError, told_error
from twinviews.report import inspection
from twinviews.report.all_rows import AllRowsAnswers, answers_for_all_rows
from twinviews.report.rows import Drawn, ModelColumns, ReportRows, Task, read_rows
from twinviews.report.tasks import (
    ClassificationTask,
    RegressionTask,
    ReportTask,
    class_costs,
    relative_costs,
)
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
    all_rows: AllRowsAnswers | None = None  # a mean or shares of all rows; None if there can be none

    @property
    def told(self) -> ToldError:
        """The error to expect of the model, as it tells it itself."""
        told = told_error(self.model)
        if told.rarity is None:
            return told
        # A model that was fitted here knows classes by their positions.
        name = str(self.rows.classes[int(np.argmin(self.model.class_prior_))])
        return told._replace(rarity=told.rarity._replace(name=name))

    @property
    def judged_by(self) -> str:
        """The error of the comparison on hidden labels: as costs of classes, where there are some."""
        if self.task == "regression" or self.model.class_weight is None:
            return self.told.name
        if isinstance(self.model.class_weight, str):
            return "mean error rate of a class"
        return "error rate, each row weighted by its cost"

    @property
    def n_left_out(self) -> int:
        """Rows without a label that the model was told to leave out."""
        return getattr(self.model, "n_left_out_", 0)


def gather(
    table: pa.Table,
    target: str,
    task: Task,
    encoder: TableEncoder | None,
    estimator: Any,
    *,
    seed: int = 0,
    say: Say = lambda line: None,
    drawn: Drawn | None = None,
) -> Evidence:
    """The evidence for a report: a model, its error, what it rests on, and a trial on hidden labels.

    The error to expect is that of a model fitted with every label: its ``cv_error_``. For comparisons,
    a quarter of the labels is hidden (of fewer than 600 labels, each fifth in turn); clones of the
    estimator and simple methods are fitted on the others and judged on the hidden ones.

    Parameters
    ----------
    table : pyarrow.Table
        Raw columns; null or NaN in the target marks a row without a label. Of a table with more than
        4,000 labels or 20,000 rows without one, as many are drawn.
    target : str
        The column to predict.
    task : {"regression", "classification"}
    encoder : TableEncoder or None
        Turns raw columns into numbers; it is fitted here, on the inputs of all rows. Any object with
        its ``fit``, ``transform`` and ``columns_`` will do. None if the estimator is fitted and has
        ``columns_`` of its own: it then takes raw rows.
    estimator : estimator of twinviews
        If it is fitted, the report describes it. If not, a clone is fitted here with every label.
        Clones take ``seed`` where they have no ``random_state``.
    seed : int
        Seed of the choice of hidden labels and of everything else that is random.
    say : callable
        Called with a line of text at the start of every long step.
    drawn : Drawn, optional
        The larger table that this one is a sample of; the report then describes that.
    """
    given = estimator.get_params()
    missing_label = given["missing_label"]
    columns = ModelColumns(estimator) if encoder is None else encoder
    rows = read_rows(table, target, task, columns, missing_label=missing_label, seed=seed, drawn=drawn)
    # Clones draw the same whenever they are fitted, and their labels are known ones only.
    seeded = {"random_state": seed} if given.get("random_state", seed) is None else {}
    unfitted = clone(estimator).set_params(missing_label=None, **seeded)
    class_weight = given.get("class_weight")
    if isinstance(class_weight, Mapping):  # clones know a class by its position
        class_weight = class_costs(class_weight, rows.classes)
        unfitted.set_params(class_weight=class_weight)
    kind: ReportTask = RegressionTask()
    if task == "classification":
        kind = ClassificationTask(relative_costs(class_weight, rows.y, len(rows.classes)))
    left_out = getattr(estimator, "n_left_out_", 0) > 0
    trial = hold_trial(rows, kind, unfitted, seed=seed, say=say, without_unlabeled=left_out)
    if hasattr(estimator, "n_labeled_"):
        model, classes = estimator, getattr(estimator, "classes_", np.empty(0)).tolist()
    else:
        say("Fitting the model with every label")
        model, classes = unfitted.fit(rows.labeled, rows.y, X_unlabeled=rows.unlabeled), rows.classes
    asked = inspection.AskedModel(model, columns, tuple(classes))
    say("Measuring importance and dependence")
    importance = inspection.permutation_importance(rows, trial, model, seed=seed)
    say("Estimating for all rows")
    by_name = {column.name: column for column in rows.columns}
    ranked = [by_name[column.name] for column in importance.columns]
    reads_the_table = isinstance(columns, ModelColumns)
    is_sample = len(table) < rows.n_labeled + rows.n_unlabeled
    all_rows = (
        answers_for_all_rows(model, table, target, ranked, is_sample=is_sample)
        if reads_the_table
        else None
    )
    top = [column.name for column in importance.columns[:_TOP_COLUMNS]]
    return Evidence(
        target=target,
        task=task,
        rows=rows,
        outcome=trial.outcome,
        importance=importance,
        dependence=inspection.partial_dependence(rows, top, asked, seed=seed),
        uncertain=inspection.most_uncertain(rows, asked),
        model=model,
        seed=seed,
        all_rows=all_rows,
    )
