"""A model and baselines fitted on the same labels and judged on hidden ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from twinviews.evaluation.confidence import Interval, resamples
from twinviews.evaluation.hidden_labels import Split, hidden_labels
from twinviews.report.held_out import HeldOutClasses, HeldOutNumbers
from twinviews.report.rows import ReportRows
from twinviews.report.tasks import ReportTask

Verdict = Literal["better", "level", "worse"]
Say = Callable[[str], None]

ALONE = "this model, without unlabeled rows"


@dataclass(frozen=True)
class ComparedMethod:
    """Another method, judged on the same rows."""

    name: str
    words: str
    error: Interval
    difference: Interval  # its error less the model's, row by row

    @property
    def verdict(self) -> Verdict:
        """Whether the model is better than this method, beyond chance."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "level"


@dataclass(frozen=True)
class TrialOutcome:
    """The errors of the model and of other methods on rows that they had not seen."""

    error: Interval
    n_train: int  # labels that a judged model had
    n_test: int  # rows it was judged on, in all
    n_folds: int  # 1 where a part of the labels was hidden once
    held_out: HeldOutNumbers | HeldOutClasses
    baselines: tuple[ComparedMethod, ...]
    alone: ComparedMethod | None  # the same model without the unlabeled rows
    why_not_alone: str = ""


class JudgedModel(NamedTuple):
    """A model and the labeled rows that it has not seen."""

    model: Any
    test: np.ndarray  # numbers of labeled rows


@dataclass(frozen=True)
class Trial:
    """The models that were judged, and the outcome."""

    task: ReportTask
    judged: tuple[JudgedModel, ...]
    draws: np.ndarray  # resamples of the held-out rows, the same for every question
    outcome: TrialOutcome


def hold_trial(rows: ReportRows, task: ReportTask, estimator: Any, *, seed: int, say: Say) -> Trial:
    """The errors of an estimator and of the baselines on hidden labels."""
    splits = hidden_labels(task.strata(rows.y), seed)
    test = np.concatenate([split.test for split in splits])
    draws = resamples(len(test), seed)
    judged = []
    for number, split in enumerate(splits, start=1):
        turn = f", turn {number} of {len(splits)}" if len(splits) > 1 else ""
        say(f"Fitting the model with {len(split.train)} labels, {len(split.test)} hidden{turn}")
        judged.append(JudgedModel(_fitted(estimator, rows, split, rows.unlabeled), split.test))
    answers = [task.answer(one.model, rows.labeled[one.test]) for one in judged]
    held_out = task.held_out(rows.number[test], rows.y[test], answers)
    losses = task.losses(held_out.truth, held_out.predicted)

    def against(name: str, words: str, model: Any) -> ComparedMethod:
        said = [_fitted(model, rows, split).predict(rows.labeled[split.test]) for split in splits]
        theirs = task.losses(held_out.truth, np.concatenate(said))
        difference = task.difference(losses, theirs, draws)
        return ComparedMethod(name, words, task.error(theirs, draws), difference)

    say("Fitting the baselines, and the same model without the unlabeled rows")
    alone, why_not = None, "Every row of the table has a label."
    if rows.unlabeled is not None:
        try:
            alone = against(ALONE, "the same model, from the labeled rows alone", estimator)
        except ValueError as error:  # such as more landmarks than labeled rows
            why_not = str(error)
    outcome = TrialOutcome(
        error=task.error(losses, draws),
        n_train=round(np.mean([len(split.train) for split in splits])),
        n_test=len(test),
        n_folds=len(splits),
        held_out=held_out,
        baselines=tuple(against(*baseline) for baseline in task.baselines()),
        alone=alone,
        why_not_alone="" if alone is not None else why_not,
    )
    return Trial(task, tuple(judged), draws, outcome)


def _fitted(model: Any, rows: ReportRows, split: Split, unlabeled: np.ndarray | None = None) -> Any:
    X, y = rows.labeled[split.train], rows.y[split.train]
    if unlabeled is None:
        return clone(model).fit(X, y)
    return clone(model).fit(X, y, X_unlabeled=unlabeled)
