"""Counts: an ensemble on a scale that suits them, means that are never below 0, and whole intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags, check_consistent_length, column_or_1d

from twinviews.data_checks import Finding
from twinviews.data_checks.count_target import not_whole
from twinviews.ensemble.ensembles import RegressionEnsemble
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._ensemble import EnsembleFit
from twinviews.estimators._inputs import labeled_rows_to_score
from twinviews.estimators._method import Problems
from twinviews.estimators._prediction_intervals import (
    ends_of_intervals,
    from_left_out_fits,
    places_of,
    uncertainty_of_rows,
)
from twinviews.method.counts import (
    COUNT_SCALES,
    CountMean,
    JudgedMean,
    counts_of_scale,
    judged_mean,
    on_count_scale,
    poisson_deviance,
    preferred_scale,
    whole_ends,
)
from twinviews.method.error_estimate import ROOT_MEAN_SQUARE, root_mean_squared_error
from twinviews.method.intervals import SingleLabels
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.views import View
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.targets import read_numbers


class _Counts(NamedTuple):
    """The different labels of each row, in the order of the rows, which depends on these alone."""

    y: np.ndarray  # (n,)
    row: np.ndarray  # (n,)
    share: np.ndarray  # (n,) of the weight of its row; equal labels of a row are one

    @classmethod
    def of(cls, y: np.ndarray, labeled: LabeledRows) -> _Counts:
        row = np.unique(np.concatenate(labeled.keys), return_inverse=True)[1].ravel()
        weight = np.concatenate(labeled.weight_parts)
        pairs, pair = np.unique(np.column_stack([row, y]), axis=0, return_inverse=True)
        share = np.bincount(pair.ravel(), weight / np.bincount(row, weight)[row])
        return cls(pairs[:, 1], pairs[:, 0].astype(np.intp), share)


class SemiSupervisedCountRegressor(RegressorMixin, SemiSupervisedEstimator):
    """One column of counts: whole numbers from 0 up, or other amounts that are never below 0."""

    _task = "count"
    _measure = ROOT_MEAN_SQUARE

    loo_error_: float
    cv_r2_: float
    cv_deviance_: float
    cv_d2_: float
    intercept_: float
    _mean: CountMean
    _whole: bool  # whether all labels are whole numbers
    _singles: SingleLabels | None
    _counts: _Counts  # of the last fit; no file has it

    def _expect_classes(self, classes: Any) -> None:
        if classes is not None:
            raise ValueError("classes is for classifiers; a regressor predicts numbers.")

    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        counts = _read_counts(y, self.missing_label)
        known = counts[~np.isnan(counts)]
        on_scales = np.column_stack([on_count_scale(counts, scale) for scale in COUNT_SCALES])
        return on_scales, {"_whole": bool((known == np.round(known)).all())}

    def _read_problems(self, labeled: LabeledRows, one_column: bool) -> list[LabeledProblem]:
        problems = super()._read_problems(labeled, one_column)
        self._counts = _Counts.of(_read_counts(labeled.labels[:, 0], self.missing_label), labeled)
        return problems

    def _questions_of_task(self) -> list[Finding]:
        return [] if self._whole else [not_whole(self._counts.y)]

    # --- the scale, and means on it -----------------------------------------------------------------

    def _judge(self, problems: Problems, held_out: Sequence[np.ndarray]) -> None:
        """Keep the scale that suits the counts, by leave-one-out predictions of the views."""
        (problem,), (predicted,) = problems, held_out
        judged = {
            scale: self._judged(problem, predicted[:, place], place)
            for place, scale in enumerate(COUNT_SCALES)
        }
        chosen = preferred_scale({scale: one.deviance for scale, one in judged.items()})
        self._keep_scale(problem, COUNT_SCALES.index(chosen))
        self._tell(problem, judged[chosen])
        if np.isnan(predicted).any():  # some row alone determines a coefficient
            self.loo_error_ = self.cv_r2_ = self.cv_deviance_ = self.cv_d2_ = np.nan
            self._error_ends = (np.nan, np.nan)

    def _judged(self, problem: LabeledProblem, predicted: np.ndarray, place: int) -> JudgedMean:
        """From (m,) predictions of the labeled rows by fits that have not seen them."""
        counts, scale = self._counts, COUNT_SCALES[place]
        z = np.where(np.isnan(predicted), problem.weight @ problem.Y[:, place], predicted)
        return judged_mean(counts.y, z[counts.row], self._weights(problem), scale)

    def _weights(self, problem: LabeledProblem) -> np.ndarray:
        return self._counts.share * problem.judging[self._counts.row]

    def _keep_scale(self, problem: LabeledProblem, place: int) -> None:
        """The solution for one scale of the three, which shared the steps up to here."""
        solution, counts = self._solution, self._counts
        kept = problem._replace(
            Y=problem.Y[:, [place]], spread=problem.spread[[place]], targets=np.array([0])
        )
        coef = solution.coef[:, [place]]
        readout = View(solution.view.columns, solution.view.W @ coef)
        intercept = solution.intercept[[place]]
        self._solution = replace(
            solution, problems=(kept,), coef=coef, intercept=intercept, readout=readout
        )
        on_scale = on_count_scale(counts.y, COUNT_SCALES[place])
        off = on_scale - kept.Y[counts.row, 0]
        several = len(counts.y) > len(kept.Y)
        self._singles = SingleLabels(counts.row, off, counts.share) if several else None
        self._show()

    def _fit_ensembles(self, fit: EnsembleFit) -> list[RegressionEnsemble] | None:
        return fit.regression(self._solution, most_rounds=0)

    def _judge_ensembles(self) -> None:
        assert self._ensembles is not None, "there are some"
        (problem,), (ensemble,) = self._solution.problems, self._ensembles
        z = ensemble.held_out[:, 0][self._counts.row]
        self._tell(problem, judged_mean(self._counts.y, z, self._weights(problem), self._mean.scale))

    def _tell(self, problem: LabeledProblem, judged: JudgedMean) -> None:
        """Set the mean, and what is told of its error."""
        y, weight = self._counts.y, self._weights(problem)
        average = float(weight @ y)
        squared, variance = np.square(y - judged.held_out), float(weight @ np.square(y - average))
        self._mean = judged.mean
        self.loo_error_ = float(weight @ squared)
        ends = root_mean_squared_error(squared, weight, self.n_unlabeled_)[1:]
        same = variance <= np.square(1e-12 * y.max())
        self.cv_r2_ = np.nan if same else 1 - self.loo_error_ / variance
        self._error_ends = (np.nan, np.nan) if same else tuple(ends)
        self.cv_deviance_ = judged.deviance
        of_average = poisson_deviance(y, np.full(len(y), average), weight)
        self.cv_d2_ = np.nan if same else 1 - judged.deviance / of_average

    @property
    def cv_error_(self) -> float:
        """Root mean squared error over labeled rows, each predicted by fits that have not seen it."""
        return float(np.sqrt(self.loo_error_))

    @property
    def count_scale_(self) -> str:
        """The scale on which members are fitted: "identity", "square root" or "logarithm"."""
        return self._mean.scale

    def _show_coefficients(self) -> None:
        coef, intercept = self._solution.coef, self._solution.intercept
        self.coef_, self.intercept_ = coef[:, 0], float(intercept[0])

    # --- predictions --------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean count of each row, which is never below 0 and need not be whole.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        z = self._decision(self._prepared(X))[:, 0]
        return self._mean(z)

    def predict_count_proba(self, X: Any, counts: Any) -> np.ndarray:
        """Probability that the count of a row is each of some counts.

        Counts are taken as negative binomial around the predicted mean, with the dispersion of greatest
        likelihood on held-out labels (none: Poisson).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        counts : array-like of shape (n_counts,)
            Whole numbers from 0 up.

        Returns
        -------
        array of shape (n_samples, n_counts)
        """
        asked = np.asarray(counts, dtype=np.float64)
        if asked.ndim != 1 or not (asked >= 0).all() or (asked != np.round(asked)).any():
            raise ValueError(f"counts={counts!r:.60} must be whole numbers from 0 up: [0, 1, 2].")
        z = self._decision(self._prepared(X))[:, 0]
        return np.exp(self._mean.log_probabilities(z, asked))

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, by: str | int | None = None
    ) -> np.ndarray:
        """An interval for the count of each row, by jackknife+; both ends are counts inside it.

        Intervals are made on the scale of the fit, which keeps their coverage: at least
        1 - 2 (1 - coverage) of new rows whatever the data, and in practice close to ``coverage``,
        provided that the labeled rows were drawn like the new ones. Where all labels are whole numbers,
        so are the ends.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Above 0 and below 1. With fewer than about 1 / (1 - coverage) labels the upper end is
            infinite.
        by : str or int, optional
            Name of an input column, or its number: intervals then hold within each group of rows
            that have the same value there.

        Returns
        -------
        array of shape (n_samples, 2): lower and upper end
        """
        return self._intervals(self._prepared(X), coverage, by)

    def _intervals(self, X: Any, coverage: float, by: str | int | None) -> np.ndarray:
        statistic = ends_of_intervals(coverage, places_of(self, by))
        (ends,) = from_left_out_fits(self, X, statistic, self._singles)
        ends = counts_of_scale(ends, self._mean.scale)
        return whole_ends(ends) if self._whole else ends

    def _row_uncertainty(self, X: Any) -> np.ndarray:
        return uncertainty_of_rows(self, X)

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None, by: str | int | None = None
    ) -> dict[str, np.ndarray]:
        X = self._scaled(X)
        columns = {"prediction": self._mean(self._decision(X)[:, 0])}
        if coverage is None:
            return columns
        low, high = self._intervals(X, coverage, by).T
        return {**columns, "lower": low, "upper": high}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D^2 over the labeled rows: the share of the Poisson deviance that is explained."""
        predicted = self.predict(X)
        truth = _read_counts(y, self.missing_label)
        check_consistent_length(predicted, truth)
        known, given = labeled_rows_to_score(~np.isnan(truth), sample_weight, predicted)
        if len(known) == 1:
            raise ValueError("y has one label only, and D² needs at least 2. Label more rows.")
        weight = np.full(len(known), 1 / len(known)) if given is None else given / given.sum()
        truth = truth[known]
        average = np.full(len(truth), weight @ truth)
        left, of_average = (
            poisson_deviance(truth, mean, weight) for mean in (predicted[known], average)
        )
        return float(1 - left / of_average) if of_average > 0 else float(left == 0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _read_counts(y: Any, missing_label: Any) -> np.ndarray:
    """(rows,) labels as numbers, NaN where missing; none below 0."""
    counts = column_or_1d(read_numbers(y, missing_label), warn=True)
    below = np.flatnonzero(counts < 0)
    if len(below):
        raise ValueError(
            f"y[{below[0]}] is {counts[below[0]]:g}, and counts are never below 0. Correct it, name it "
            f"as missing_label if it marks a row without a label, or use XNVRegressor."
        )
    return counts
