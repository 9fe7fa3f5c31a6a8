"""The live model of one target: each label counts at once, and a study brings it up to date."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from twinviews.active.acquisition import best_of_handfuls
from twinviews.active.suggestion import CLASS_HANDFUL, NUMBER_HANDFUL, open_directions
from twinviews.labeling.entries import Task
from twinviews.labeling.shown import ClassProbability, Guess
from twinviews.labeling.study import COVERAGE, Labels, Study


class Learner:
    """The last study, and what labels since then have changed.

    The views are solved again with every label. What that changes at a row is added to what the
    committee of the study said there, and the doubt that the committee had is lowered as far as the
    labels since then settle it.
    """

    def __init__(self, task: Task, X: np.ndarray) -> None:
        self.task, self.X = task, X  # (m, D) the sample
        self.study: Study | None = None
        self.failure: str | None = None  # why there is no model
        self._views: Any = None

    def adopt(self, study: Study, labels: Labels) -> None:
        self.study = study
        self.learn(labels)

    def learn(self, labels: Labels) -> None:
        """Solve again; if too few labels are left after an undo, say so and forget."""
        if self.study is None:
            return
        views = copy(self.study.views)
        try:
            views.relabel(labels.X, labels.y)
        except ValueError as error:
            self.study = self._views = None
            self.failure = str(error)
        else:
            self._views, self.failure = views, None

    def guess(self, x: np.ndarray, place: int | None) -> Guess | None:
        """For a row (D,), which may be a place in the sample."""
        if self.study is None:
            return None
        rows = x[None, :]
        study, then, now = self.study, self.study.views, self._views
        if self.task == "regression":
            value = study.predicted[place] if place is not None else study.model.predict(rows)[0]
            assert study.ends is not None, "numbers have intervals"
            low, high = (
                study.ends[place]
                if place is not None
                else study.model.predict_interval(rows, coverage=COVERAGE)[0]
            )
            change = float(now.predict(rows)[0] - then.predict(rows)[0])
            if not np.isfinite(value + change):  # after a label that is far too large
                return None
            # Until the next study the interval holds what was said there, too.
            low = float(low) + min(change, 0.0) if np.isfinite(low) else None
            high = float(high) + max(change, 0.0) if np.isfinite(high) else None
            return Guess(float(value) + change, low, high)
        log_p = now.predict_log_proba(rows)[0]
        if list(now.classes_) == list(then.classes_):
            known = (
                study.predicted[place] if place is not None else study.model.predict_log_proba(rows)[0]
            )
            log_p = known + log_p - then.predict_log_proba(rows)[0]
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        order = np.argsort(-p, kind="stable")
        found = tuple(ClassProbability(str(now.classes_[j]), float(p[j])) for j in order)
        return Guess(found[0].name, None, None, found)

    def choose(self, free: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        """k places in the sample, of those that are free, the most useful first."""
        assert self.study is not None, "rows are drawn at random until there is a study"
        handful = NUMBER_HANDFUL if self.task == "regression" else CLASS_HANDFUL
        some = rng.choice(free, min(len(free), handful * k), replace=False)
        T = open_directions(self._views, self.X[some])
        then = np.square(open_directions(self.study.views, self.X[some])).sum(axis=1)
        left = np.square(T).sum(axis=1) / np.where(then > 0, then, 1.0)
        chosen, _ = best_of_handfuls(T, self.study.doubt[some] * left, k, handful, rng)
        return some[chosen]

    def share_surer(self, place: int) -> float:
        """Of how many rows of the sample the last study was surer than of this one."""
        assert self.study is not None, "asked of rows that were suggested"
        return min(float(np.mean(self.study.doubt < self.study.doubt[place])), 0.99)
