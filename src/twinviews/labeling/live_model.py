"""The model of one target that the page shows: it learns from each label at once."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from twinviews.active.acquisition import AcquisitionRule, Candidates
from twinviews.active.model_view import uncertain_directions
from twinviews.labeling.entries import Task
from twinviews.labeling.full_fit import COVERAGE, FullFit, RowLabels
from twinviews.labeling.page_data import ClassProbability, ModelGuess


class LiveModel:
    """The last full fit, corrected by the labels since then.

    The views are solved again with every label, and the change of their prediction is added to that of
    the full fit's ensemble. The ensemble's uncertainty is multiplied by the share of the views'
    predictive variance that the labels since then leave.
    """

    def __init__(self, task: Task, X: np.ndarray, rule: AcquisitionRule) -> None:
        self.task, self.X = task, X  # (m, D) the candidate rows
        self.full_fit: FullFit | None = None
        self.failure: str | None = None  # why there is no model
        self._rule = rule
        self._views: Any = None

    def adopt(self, full_fit: FullFit, labels: RowLabels) -> None:
        """Replace the full fit; ``labels`` are all that there are by now."""
        self.full_fit = full_fit
        self.learn(labels)

    def learn(self, labels: RowLabels) -> None:
        """Solve the views again; if an undo has left too few labels, there is no model any more."""
        if self.full_fit is None:
            return
        views = copy(self.full_fit.views)
        try:
            views.relabel(labels.X, labels.y)
        except ValueError as error:
            self.full_fit = self._views = None
            self.failure = str(error)
        else:
            self._views, self.failure = views, None

    def guess(self, x: np.ndarray, place: int | None) -> ModelGuess | None:
        """The prediction for a row (D,), which may be the candidate at a place."""
        if self.full_fit is None:
            return None
        if self.task == "regression":
            return self._guess_number(self.full_fit, x[None, :], place)
        return self._guess_class(self.full_fit, x[None, :], place)

    def _guess_number(self, fit: FullFit, row: np.ndarray, place: int | None) -> ModelGuess | None:
        if place is None:
            value = fit.model.predict(row)[0]
            low, high = fit.model.predict_interval(row, coverage=COVERAGE)[0]
        else:
            assert fit.intervals is not None, "numbers have intervals"
            value, (low, high) = fit.predicted[place], fit.intervals[place]
        change = float(self._views.predict(row)[0] - fit.views.predict(row)[0])
        if not np.isfinite(value + change):  # after a label that is far too large
            return None
        # Until the next full fit the interval also holds the earlier prediction.
        lower = float(low) + min(change, 0.0) if np.isfinite(low) else None
        upper = float(high) + max(change, 0.0) if np.isfinite(high) else None
        return ModelGuess(float(value) + change, lower, upper)

    def _guess_class(self, fit: FullFit, row: np.ndarray, place: int | None) -> ModelGuess:
        log_p = self._views.predict_log_proba(row)[0]
        classes = self._views.classes_
        if list(classes) == list(fit.views.classes_):
            known = fit.model.predict_log_proba(row)[0] if place is None else fit.predicted[place]
            log_p = known + log_p - fit.views.predict_log_proba(row)[0]
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        order = np.argsort(-p, kind="stable")
        found = tuple(ClassProbability(str(classes[j]), float(p[j])) for j in order)
        return ModelGuess(found[0].name, None, None, found)

    def choose(self, free: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        """k places among the free candidates, the most useful first."""
        assert self.full_fit is not None, "rows are drawn at random until there is a fit"
        is_classification = self.task == "classification"
        n_candidates = self._rule.n_candidates(k, is_classification)
        some = rng.choice(free, min(len(free), n_candidates), replace=False)
        X = self.X[some]
        T = uncertain_directions(self._views, X)
        before = np.square(uncertain_directions(self.full_fit.views, X)).sum(axis=1)
        remaining = np.square(T).sum(axis=1) / np.where(before > 0, before, 1.0)
        uncertainty = self.full_fit.uncertainty[some] * remaining
        chosen, _ = self._rule(Candidates(X, uncertainty, T, is_classification), k, rng)
        return some[chosen]

    def share_more_certain(self, place: int) -> float:
        """The share of candidates about which the last full fit was more certain."""
        assert self.full_fit is not None, "asked about suggested rows only"
        uncertainty = self.full_fit.uncertainty
        return min(float(np.mean(uncertainty < uncertainty[place])), 0.99)
