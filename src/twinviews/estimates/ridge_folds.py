"""Fits without a fold of a model that has no ensemble: its ridge regression, solved again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from twinviews.ensemble.correlated_views import ViewRidge
from twinviews.ensemble.cross_fitting import folds_of
from twinviews.ensemble.member import Labeled, Predictor
from twinviews.estimators._method import Solution
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.uncertainty import class_log_probabilities


@dataclass(frozen=True)
class RidgeFolds:
    """One target, or all classes: features and penalties are those of the fit, labels those outside."""

    solution: Solution
    problem: LabeledProblem
    places: tuple[int, ...]  # the columns of labels
    probability_scale: float | None  # of decision values of classes; None: numbers

    @cached_property
    def fold_of(self) -> np.ndarray:
        """(m,)"""
        classes = self.probability_scale is not None
        return folds_of(self.problem.Y, classes=classes, cluster=self.problem.cluster)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the labels, extended by its length on either side, as of an ensemble."""
        y = self.problem.Y[:, self.places[0]]
        low, high = float(y.min()), float(y.max())
        return 2 * low - high, 2 * high - low

    @cached_property
    def fits(self) -> list[Predictor]:
        """The fit without each fold, then the one on all labels."""
        problem = self.problem
        ridge = ViewRidge(self.solution.view, self.solution.penalty, self.solution.fit_intercept)
        labeled = Labeled(problem.X, problem.Y[:, list(self.places)], problem.weight)
        folds = range(int(self.fold_of.max()) + 1)
        some = [labeled.take(np.flatnonzero(self.fold_of != fold)) for fold in folds]
        return [ridge.fit(one, np.empty((0, 0)))[0] for one in [*some, labeled]]

    def shipped(self, X: np.ndarray) -> np.ndarray:
        """(rows, 1 or K)"""
        return self._told(self.fits[-1](X))

    def without_folds(self, X: np.ndarray) -> np.ndarray:
        """(rows, folds, 1 or K)"""
        return np.stack([self._told(fit(X)) for fit in self.fits[:-1]], axis=1)

    def _told(self, decision: np.ndarray) -> np.ndarray:
        if self.probability_scale is None:
            return decision
        return np.asarray(np.exp(class_log_probabilities(decision, self.probability_scale)))
