"""Regression: numbers to predict, their intervals and their error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, check_consistent_length

from twinviews.ensemble.ensembles import RegressionEnsemble
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import check_flag
from twinviews.estimators._ensemble import EnsembleFit, labels_of
from twinviews.estimators._inputs import labeled_rows_to_score
from twinviews.estimators._method import Problems
from twinviews.estimators._prediction_intervals import (
    Statistic,
    deviations,
    ends_of_intervals,
    fits_without_labels,
    from_left_out_fits,
    places_of,
    uncertainty_of_rows,
)
from twinviews.method.error_estimate import ROOT_MEAN_SQUARE, root_mean_squared_error
from twinviews.method.intervals import mean_square_scale
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.passes.targets import read_numbers

# Of all rows, those that tell how large errors are against those of labeled rows.
_ROWS_FOR_SCALE = 500


class SemiSupervisedRegressor(RegressorMixin, SemiSupervisedEstimator):
    """Numbers to predict: one column of y, or several that share one pass over the rows."""

    _task = "regression"
    _measure = ROOT_MEAN_SQUARE

    loo_error_: float | np.ndarray
    cv_r2_: float | np.ndarray
    intercept_: float | np.ndarray

    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        numbers = read_numbers(y, self.missing_label)
        return numbers.reshape(len(numbers), -1), {}

    def _expect_classes(self, classes: Any) -> None:
        if classes is not None:
            raise ValueError("classes is for classifiers; a regressor predicts numbers.")

    def _judge(self, problems: Problems, held_out: Sequence[np.ndarray]) -> None:
        self._tell(
            problems,
            [
                np.square(problem.Y - predicted) + problem.spread
                for problem, predicted in zip(problems, held_out, strict=True)
            ],
        )

    def _tell(self, problems: Problems, losses: Sequence[np.ndarray]) -> None:
        """Set what is told of the error, from squared errors of the labeled rows of each problem."""
        n_targets = len(self._solution.intercept)
        errors, r2, ends = np.empty(n_targets), np.empty(n_targets), np.empty((n_targets, 2))
        for problem, squared in zip(problems, losses, strict=True):
            errors[problem.targets] = problem.judging @ squared
            same = problem.variance <= np.square(1e-12 * np.abs(problem.Y).max(axis=0))  # to rounding
            variance = np.where(same, np.nan, problem.variance)
            r2[problem.targets] = 1 - errors[problem.targets] / variance
            for target, of_target in zip(problem.targets, squared.T, strict=True):
                ends[target] = root_mean_squared_error(of_target, problem.judging, self.n_unlabeled_)[
                    1:
                ]
            ends[problem.targets[same]] = np.nan
        self.loo_error_ = float(errors[0]) if self._one_column else errors
        self.cv_r2_ = float(r2[0]) if self._one_column else r2
        self._error_ends = tuple(ends.ravel().tolist())

    @property
    def cv_error_(self) -> float | np.ndarray:
        """Root mean squared error over labeled rows, each predicted by fits that have not seen it."""
        root = np.sqrt(self.loo_error_)
        return float(root) if self._one_column else root

    def _show_coefficients(self) -> None:
        coef, intercept = self._solution.coef, self._solution.intercept
        if self._one_column:
            self.coef_, self.intercept_ = coef[:, 0], float(intercept[0])
        else:
            self.coef_, self.intercept_ = coef.T, intercept

    def _fit_ensembles(self, fit: EnsembleFit) -> list[RegressionEnsemble] | None:
        return fit.regression(self._solution)

    def _judge_ensembles(self) -> None:
        assert self._ensembles is not None, "there are some"
        judged = [
            labels_of(self._ensembles[int(problem.targets[0])], problem)
            for problem in self._solution.problems
        ]
        losses = [
            np.column_stack([self._losses(some, int(target)) for target in some.targets])
            for some in judged
        ]
        self._tell(judged, losses)

    def _losses(self, some: LabeledProblem, target: int) -> np.ndarray:
        """(m,) squared errors of held-out labels, for labels that are no random sample as all rows
        would have them: relative to the local scale, times the mean square of that over all rows."""
        left_out, place = (
            fits_without_labels(self, target),
            int(np.flatnonzero(some.targets == target)[0]),
        )
        squared = np.square(left_out.residual)
        if some.importance is not None and self._unlabeled_sample is not None:
            at = left_out.at(self._unlabeled_sample[:_ROWS_FOR_SCALE])
            squared = np.square(left_out.relative_residual) * mean_square_scale(at, left_out)
        return squared + some.spread[place]

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict numbers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to give for each row the deviation to expect of its true value, too: the root of
            the squared error of labels that were left out, plus the spread of the fits without them.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets), as y was; with ``return_std`` two of them
        """
        check_flag("return_std", return_std)
        X = self._prepared(X)
        decision = self._decision(X)
        predicted = decision[:, 0] if self._one_column else decision
        if not return_std:
            return predicted
        return predicted, self._from_left_out_fits(X, deviations)

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, by: str | int | None = None
    ) -> np.ndarray:
        """An interval for the true value of each row, by jackknife+.

        Fits that have not seen a label tell how far off they are from it. Whatever the data, at least
        1 - 2 (1 - coverage) of new rows are inside, and in practice close to ``coverage``, provided
        that the labeled rows were drawn like the new ones. Several labels of the same row count as
        their mean.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Above 0 and below 1. With fewer than about 1 / (1 - coverage) labels the ends are infinite.
            So they are where labels are no random sample, as ``shift_`` tells, and none is like the
            row: no interval would be honest there.
        by : str or int, optional
            Name of an input column, or its number: intervals then hold within each group of rows
            that have the same value there. They are made of the labels of that group alone, which
            must be enough for it.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_targets, 2): lower and upper end
        """
        return self._from_left_out_fits(
            self._prepared(X), ends_of_intervals(coverage, places_of(self, by))
        )

    def _from_left_out_fits(self, X: Any, statistic: Statistic) -> np.ndarray:
        found = from_left_out_fits(self, X, statistic)
        return found[0] if self._one_column else np.stack(found, axis=1)

    def _row_uncertainty(self, X: Any) -> np.ndarray:
        return uncertainty_of_rows(self, X)

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None, by: str | int | None = None
    ) -> dict[str, np.ndarray]:
        X = self._scaled(X)
        columns = {"prediction": self._decision(X)}
        if coverage is not None:
            ends = self._from_left_out_fits(X, ends_of_intervals(coverage, places_of(self, by)))
            low, high = np.moveaxis(ends.reshape(len(X), -1, 2), 2, 0)
            columns |= {"lower": low, "upper": high}
        if self._one_column:
            return {name: values[:, 0] for name, values in columns.items()}
        return {
            f"{name}_{target}": values[:, target]
            for target in range(len(self._solution.intercept))
            for name, values in columns.items()
        }

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 over the labeled rows; the mean over targets if there are several."""
        predicted = self._decision(self._prepared(X))
        truth = read_numbers(y, self.missing_label)
        check_consistent_length(predicted, truth)
        truth = truth.reshape(len(truth), -1)
        if truth.shape[1] != predicted.shape[1]:
            raise ValueError(
                f"y has {truth.shape[1]} columns, and the model predicts {predicted.shape[1]} targets. "
                f"Give one column for each target."
            )
        scores = []
        for column, guess in zip(truth.T, predicted.T, strict=True):
            known, of_known = labeled_rows_to_score(~np.isnan(column), sample_weight, predicted)
            if len(known) == 1:
                raise ValueError("y has one label only, and R² needs at least 2. Label more rows.")
            scores.append(r2_score(column[known], guess[known], sample_weight=of_known))
        return float(np.mean(scores))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
