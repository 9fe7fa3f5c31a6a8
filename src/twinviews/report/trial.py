"""A model and baselines fitted on the same labels and judged on hidden ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from twinviews.evaluation.confidence import Interval, resamples
from twinviews.report.rows import ReportRows
from twinviews.report.tasks import HeldOutClasses, HeldOutNumbers, ReportTask

Say = Callable[[str], None]

ALONE = "this model, without unlabeled rows"
LEFT_OUT = "The model was fitted without them. A report on a fit with them says what they contribute."
# A quarter of fewer labels is too small a test set: then five folds hide each label once.
FEW_LABELS = 600
_QUARTERS, _FOLDS = 4, 5


class Split(NamedTuple):
    """Labels to fit with and labels to judge by."""

    train: np.ndarray  # numbers of labeled rows
    test: np.ndarray


def hidden_labels(strata: np.ndarray, seed: int) -> list[Split]:
    """One split that hides a quarter of the labels or, of few labels, five that hide each once.

    Every stratum has its share in each part. A stratum of one row is never hidden: no model can
    predict a class that it has not seen.
    """
    n = len(strata)
    few = n < FEW_LABELS
    n_parts = _FOLDS if few else _QUARTERS
    order = np.random.default_rng(seed).permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    part = np.empty(n, int)
    part[order] = np.arange(n) % n_parts
    _, stratum, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    part[sizes[stratum] == 1] = -1
    return [
        Split(np.flatnonzero(part != hidden), np.flatnonzero(part == hidden))
        for hidden in range(n_parts if few else 1)
    ]


@dataclass(frozen=True)
class ComparedMethod:
    """Another method, judged on the same rows."""

    name: str
    words: str
    error: Interval
    difference: Interval  # its error less the model's, row by row

    @property
    def verdict(self) -> Literal["better", "level", "worse"]:
        """Whether the model is better than this method, beyond chance."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "level"


@dataclass(frozen=True)
class TrialOutcome:
    """The errors on hidden labels of the model, fitted with fewer labels, and of other methods."""

    error: Interval
    n_train: int  # labels that a judged model had
    n_test: int  # rows it was judged on, in all
    n_folds: int  # 1 where a part of the labels was hidden once
    held_out: HeldOutNumbers | HeldOutClasses
    baselines: tuple[ComparedMethod, ...]
    alone: ComparedMethod | None  # the same model without the unlabeled rows
    why_not_alone: str = ""


class Trial(NamedTuple):
    """The models that were judged, each with the labeled rows it has not seen, and the outcome."""

    judged: list[tuple[Any, np.ndarray]]
    draws: np.ndarray  # resamples of the held-out rows, the same for every question
    outcome: TrialOutcome


def hold_trial(
    rows: ReportRows,
    task: ReportTask,
    estimator: Any,
    *,
    seed: int,
    say: Say,
    without_unlabeled: bool = False,
) -> Trial:
    """The errors of an estimator and of the baselines on hidden labels."""
    unlabeled = None if without_unlabeled else rows.unlabeled
    splits = hidden_labels(rows.y if rows.classes else np.zeros(len(rows.y)), seed)
    test = np.concatenate([split.test for split in splits])
    draws = resamples(len(test), seed)
    judged = []
    for number, split in enumerate(splits, start=1):
        turn = f", turn {number} of {len(splits)}" if len(splits) > 1 else ""
        say(f"Fitting the model with {len(split.train)} labels, {len(split.test)} hidden{turn}")
        judged.append((_fitted(estimator, rows, split, X_unlabeled=unlabeled), split.test))
    asked = [(model, rows.labeled[hidden]) for model, hidden in judged]
    held_out = task.held_out(rows.number[test], rows.y[test], asked)
    losses = task.losses(held_out.truth, held_out.predicted)

    def against(name: str, words: str, model: Any) -> ComparedMethod:
        said = [task.said(_fitted(model, rows, one), rows.labeled[one.test]) for one in splits]
        theirs = task.losses(held_out.truth, np.concatenate(said))
        difference = task.difference(losses, theirs, draws)
        return ComparedMethod(name, words, task.error(theirs, draws), difference)

    and_alone = "" if unlabeled is None else ", and the same model without the unlabeled rows"
    say(f"Fitting the baselines{and_alone}")
    alone, why_not = None, LEFT_OUT if without_unlabeled else "Every row of the table has a label."
    if unlabeled is not None:
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
    return Trial(judged, draws, outcome)


def _fitted(model: Any, rows: ReportRows, split: Split, **unlabeled: Any) -> Any:
    with warnings.catch_warnings():
        # The fit on all labels has asked its questions, and what a library warns of a baseline, by the
        # name of its own file, tells a reader of the page nothing.
        warnings.simplefilter("ignore", UserWarning)
        return clone(model).fit(rows.labeled[split.train], rows.y[split.train], **unlabeled)
