"""The model of one target: full fits, seconds of work each, and a correction for each label since."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twinviews import DataWarning, XNVClassifier, XNVRegressor, forecast_error
from twinviews.active.acquisition import AcquisitionRule, Candidates
from twinviews.active.error_forecast import LEAST_LABELS, ErrorForecast
from twinviews.active.label_sampling import label_probabilities, of_the_sample
from twinviews.active.learning_curve import LEAST_JUDGED
from twinviews.active.model_view import uncertain_directions, uncertainty, views_alone
from twinviews.labeling.answer_now import AllRowsFit, all_rows_fit
from twinviews.labeling.entries import Task
from twinviews.labeling.page_data import ClassProbability, ModelGuess

_COVERAGE = 0.9
# How far the page forecasts the error, in shares of the labels so far.
_AHEAD = (0.2, 1.0)


class AskedOfAllRows(NamedTuple):
    """What an answer about all rows needs beside the labels."""

    target: str
    probability: np.ndarray  # (n,) of each label
    free: np.ndarray  # places of candidates without a label
    is_sample: bool  # whether the candidates are not all rows


class RowLabels(NamedTuple):
    """Labeled rows as numbers, in the order in which they were labeled."""

    rows: np.ndarray  # (n,) numbers of the rows in the table
    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,) float64, or object of str
    origin: np.ndarray  # (n,) how each row was chosen

    @property
    def random(self) -> np.ndarray:
        """(n,) bool: rows drawn at random"""
        return self.origin == "random"

    @property
    def sampled(self) -> np.ndarray:
        """(n,) bool: labels that stand for other rows, too: of rows drawn at random, and imported."""
        return of_the_sample(self.origin) | (self.origin == "designed")

    @property
    def n_labels(self) -> int:
        return len(self.rows)

    @property
    def are_enough(self) -> bool:
        """Whether a model can be fitted to them."""
        return self.n_labels >= LEAST_LABELS and len(np.unique(self.y.astype(str))) > 1

    def pairs(self) -> set[tuple[int, float | str]]:
        """Rows with their labels."""
        return set(zip(self.rows.tolist(), self.y.tolist(), strict=True))


@dataclass(frozen=True)
class FullFit:
    """A fitted model, and how uncertain it is about the candidate rows."""

    n_labels: int
    model: Any  # the default estimator, with its ensemble
    views: Any  # the same without, which relabels in milliseconds
    uncertainty: np.ndarray  # (m,) of each candidate
    forecast: ErrorForecast | None  # None if too few labels stand for other rows
    all_rows: AllRowsFit | None = None  # what is asked for in addition


def fit_fully(
    task: Task,
    X: np.ndarray,
    labels: RowLabels,
    n_rows: int,
    seed: int = 0,
    asked: AskedOfAllRows | None = None,
) -> FullFit:
    """A fit to the labels and candidate rows X of a table of n_rows, and an estimate of its error."""
    kind = XNVRegressor if task == "regression" else XNVClassifier
    model = kind(scale="standard", random_state=seed, progress=False, n_threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # labels change while people enter them
        probability = label_probabilities(labels.origin, n_rows) if asked is None else asked.probability
        model.fit(labels.X, labels.y, X_unlabeled=X, label_probability=probability)
    views = views_alone(model).relabel(labels.X, labels.y)
    told = _forecast(model, labels, probability)
    all_rows = None
    if asked is not None:
        all_rows = all_rows_fit(
            model,
            X,
            asked.free,
            labels.rows,
            labels.X,
            labels.y,
            asked.target,
            is_sample=asked.is_sample,
        )
    return FullFit(labels.n_labels, model, views, uncertainty(model, X), told, all_rows)


def _forecast(model: Any, labels: RowLabels, probability: np.ndarray) -> ErrorForecast | None:
    if labels.sampled.sum() < LEAST_JUDGED:
        return None
    more = sorted({max(5, round(share * labels.n_labels / 5) * 5) for share in _AHEAD})
    found = forecast_error(model, labels.X, labels.y, more, label_probability=probability)
    # The square of a label such as 1e200, typed by mistake, is infinite.
    return found if np.isfinite([*found.curve, *found.promised]).all() else None


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

    def adopt(self, outcome: FullFit | str, labels: RowLabels) -> None:
        """Use a full fit, or remember why there is none; ``labels`` are all that there are by now."""
        if isinstance(outcome, str):
            self.failure = outcome
        else:
            self.full_fit = outcome
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

    def guess(self, x: np.ndarray) -> ModelGuess | None:
        """The prediction for a row (D,)."""
        if self.full_fit is None:
            return None
        if self.task == "regression":
            return self._guess_number(self.full_fit, x[None, :])
        return self._guess_class(self.full_fit, x[None, :])

    def _guess_number(self, fit: FullFit, row: np.ndarray) -> ModelGuess | None:
        value = float(fit.model.predict(row)[0])
        low, high = fit.model.predict_interval(row, coverage=_COVERAGE)[0]
        change = float(self._views.predict(row)[0] - fit.views.predict(row)[0])
        if not np.isfinite(value + change):  # after a label that is far too large
            return None
        # Until the next full fit the interval also holds the earlier prediction.
        lower = float(low) + min(change, 0.0) if np.isfinite(low) else None
        upper = float(high) + max(change, 0.0) if np.isfinite(high) else None
        return ModelGuess(value + change, lower, upper)

    def _guess_class(self, fit: FullFit, row: np.ndarray) -> ModelGuess:
        log_p = self._views.predict_log_proba(row)[0]
        classes = self._views.classes_
        if list(classes) == list(fit.views.classes_):
            change = log_p - fit.views.predict_log_proba(row)[0]
            log_p = fit.model.predict_log_proba(row)[0] + change
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
        unsure = self.full_fit.uncertainty[some] * remaining
        chosen, _ = self._rule(Candidates(X, unsure, T, is_classification), k, rng)
        return some[chosen]
