"""What a fitted model predicts for one target, by the fit on all labels and by those without a fold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from twinviews.ensemble.ensembles import ClassificationEnsemble, RegressionEnsemble
from twinviews.estimates.ridge_folds import RidgeFolds
from twinviews.estimates.score_values import HeldOutScores, ScoreValues, score_values
from twinviews.estimators._ensemble import dense, labels_of
from twinviews.estimators._table_methods import numbers_of
from twinviews.method.counts import on_count_scale
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.landmarks import row_priorities
from twinviews.method.uncertainty import class_log_probabilities


@dataclass(frozen=True)
class CrossPredictions:
    """One target of a model.

    Values are numbers or mean counts (rows, 1), or probabilities of classes (rows, K).
    """

    model: Any
    target: int = 0

    @property
    def is_classification(self) -> bool:
        return is_classifier(self.model)

    @property
    def ensemble(self) -> RegressionEnsemble | ClassificationEnsemble | None:
        """None if the model has none: the folds are then those of its ridge regression."""
        found = self.model._ensembles
        return None if found is None else found[self.target]

    @cached_property
    def ridge(self) -> RidgeFolds:
        """The model without an ensemble, with and without each fold of the labels."""
        problem, place = self.model._solution.problem_of(self._column)
        if self.model._task != "classification":
            return RidgeFolds(self.model._solution, problem, (place,), None)
        places = tuple(range(problem.Y.shape[1]))
        return RidgeFolds(self.model._solution, problem, places, self.model._scale)

    @cached_property
    def score_values(self) -> ScoreValues | None:
        """Of ratings and counts, whose fits predict a rank, or a count on a scale; None of others."""
        if self.model._task not in ("ordinal", "count"):
            return None
        problem, fold_of = self.problem, self.fold_of
        if self.ensemble is None:
            own = self.ridge.without_folds(self.rows_of(problem.X))
            score = own[np.arange(len(fold_of)), fold_of, 0]
        else:
            score = self.ensemble.held_out[:, 0]
        held_out = HeldOutScores(problem.Y[:, 0], score, problem.judging, fold_of)
        return score_values(self.model, held_out)

    @property
    def problem(self) -> LabeledProblem:
        """The distinct labeled rows of the target."""
        problem = self.model._solution.problem_of(self._column)[0]
        return problem if self.ensemble is None else labels_of(self.ensemble, problem)

    @property
    def _column(self) -> int:
        return 0 if self.is_classification else self.target

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which predicted numbers are."""
        if self.ensemble is None:
            ends = self.ridge.bounds
        else:
            assert isinstance(self.ensemble, RegressionEnsemble), "classes have none"
            ends = self.ensemble.bounds
        if self.score_values is None:
            return ends
        low, high = self.score_values.of_all(np.array(ends))[:, 0]
        return float(low), float(high)

    @cached_property
    def keys(self) -> np.ndarray:
        """(m,) hashes by which the labeled rows of the fit are found again."""
        return row_priorities(self.rows_of(self.problem.X), seed=0)

    @property
    def fold_of(self) -> np.ndarray:
        """(m,) the fold of each labeled row of the fit."""
        if self.ensemble is None:
            return self.ridge.fold_of
        assert self.ensemble.fold_of is not None, "checked before"
        return self.ensemble.fold_of

    def scaled(self, rows: Any) -> Any:
        """Rows of a record batch, or numbers that are scaled already."""
        if hasattr(rows, "schema"):
            rows = self.model._scaled(numbers_of(self.model, rows))
        return self.rows_of(rows)

    def rows_of(self, X: Any) -> Any:
        """Dense, unless the model was fitted to sparse rows."""
        return X if self.model._rows_are_sparse else dense(X)

    def shipped(self, X: Any) -> np.ndarray:
        """(rows, 1 or K) by the fit on all labels."""
        found = self.ridge.shipped(X) if self.ensemble is None else self.ensemble(X)
        if self.score_values is not None:
            return self.score_values.of_all(found[:, 0])
        if isinstance(self.ensemble, ClassificationEnsemble):
            return np.exp(class_log_probabilities(found, self.model._scale))
        return found

    def without_folds(self, X: Any) -> np.ndarray:
        """(rows, folds, 1 or K) by the fit without each fold."""
        if self.ensemble is None:
            found = self.ridge.without_folds(X)
        elif isinstance(self.ensemble, RegressionEnsemble):
            found = self.ensemble.without_folds(X)[0][:, :, None]
        else:
            found = self.ensemble.without_folds(X)
        if self.score_values is None:
            return found
        values = self.score_values.without
        return np.stack([of(found[:, fold, 0]) for fold, of in enumerate(values)], axis=1)

    def at_labeled(self) -> tuple[np.ndarray, np.ndarray]:
        """(m, folds, 1 or K) and (m, 1 or K) at the labeled rows of the fit."""
        X = self.rows_of(self.problem.X)
        return self.without_folds(X), self.shipped(X)

    def labels_of_fit(self) -> np.ndarray:
        """(m,) numbers that members were fitted to: of counts, on their scale."""
        problem = self.problem
        return np.asarray(problem.Y[:, np.flatnonzero(problem.targets == self.target)[0]])

    @property
    def has_whole_numbers(self) -> bool:
        """Whether labels are counts, all of them whole."""
        return self.model._task == "count" and self.model._whole

    def as_fitted(self, y: np.ndarray) -> np.ndarray:
        """Numbers as members are fitted to them."""
        return on_count_scale(y, self.model._mean.scale) if self.model._task == "count" else y


def refuse_without_folds(model: Any) -> None:
    """An ensemble whose file has no fits without a fold cannot be used."""
    if model._ensembles is None:
        return
    if any(one.fold_of is None or not one.members[0].folds for one in model._ensembles):
        raise ValueError(
            "This model comes from a file of an earlier version, which has no fits without a fold of "
            "the labels. Fit it again."
        )
