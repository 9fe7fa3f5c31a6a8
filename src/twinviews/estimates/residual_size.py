"""How large the residual of a quantity is to be expected at a row, by fits that have not seen it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.imputed_values import Grid, share_below
from twinviews.estimators._prediction_intervals import fits_without_labels
from twinviews.method.counts import counts_of_scale
from twinviews.method.intervals import LeftOut


@dataclass(frozen=True)
class ResidualSize:
    """The root mean squared residual to expect, in units of the quantity.

    Of numbers it is the local scale of held-out residuals; of counts, the deviation around their mean;
    of a condition or a class, the deviation sqrt(p (1 - p)) of its probability. Rows without a label
    have the mean over the fits without a fold, a labeled row has what the fit without its own fold
    says.
    """

    predictions: CrossPredictions
    threshold: float | None = None  # of numbers: whether one is at most this

    def __call__(self, X: Any) -> np.ndarray:
        """(rows,) for rows on the scale of the fit."""
        if X.shape[0] == 0:
            return np.empty(0)
        return np.asarray(np.sqrt(np.square(self._by_fold(X)).mean(axis=1)))

    def at_labels(self) -> np.ndarray:
        """(m,) at the labeled rows of the fit."""
        problem, fold_of = self.predictions.problem, self.predictions.fold_of
        by_fold = self._by_fold(self.predictions.rows_of(problem.X))
        return by_fold[np.arange(len(fold_of)), fold_of]

    def _by_fold(self, X: Any) -> np.ndarray:
        """(rows, folds)"""
        if self.predictions.is_classification:
            p = self.predictions.without_folds(X)
            return np.asarray(np.sqrt(np.maximum(1 - np.square(p).sum(axis=2), 0)))
        if self.threshold is not None:
            p = self._share_below(self.predictions.without_folds(X)[:, :, 0])
            return np.asarray(np.sqrt(p * (1 - p)))
        if self.predictions.model._task == "count":
            mean = self.predictions.without_folds(X)[:, :, 0]
            return self.predictions.model._mean.deviation(mean)
        left_out = self._left_out
        at = left_out.at(X)
        squares = left_out.weight @ np.square(left_out.residual)
        if at.scale is None or left_out.scale is None:
            return np.full(at.prediction.shape, np.sqrt(squares))
        return np.asarray(at.scale * np.sqrt(squares / (left_out.weight @ np.square(left_out.scale))))

    def _share_below(self, predicted: np.ndarray) -> np.ndarray:
        """(rows, folds) probability of at most the threshold, from residuals of other folds."""
        assert self.threshold is not None, "asked for"
        (residual, fit_of), grid = self._residuals, Grid(*self.predictions.bounds)
        found = np.empty_like(predicted)
        for fold in range(predicted.shape[1]):
            others = residual[fit_of != fold]
            found[:, fold] = grid.at(
                share_below(grid.points, self.threshold, others), predicted[:, fold]
            )
        return found

    @cached_property
    def _residuals(self) -> tuple[np.ndarray, np.ndarray]:
        """Of labels, by the fit without their fold, and that fold."""
        predictions = self.predictions
        if predictions.model._task != "count":
            return self._left_out.residual, self._left_out.fit_of
        fold_of = predictions.fold_of
        own = predictions.at_labeled()[0][np.arange(len(fold_of)), fold_of, 0]
        scale = predictions.model._mean.scale
        return counts_of_scale(predictions.labels_of_fit(), scale) - own, fold_of

    @cached_property
    def _left_out(self) -> LeftOut:
        return fits_without_labels(self.predictions.model, self.predictions.target)
