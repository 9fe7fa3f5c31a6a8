"""Ordered classes: an ensemble for their ranks, and probabilities from held-out predictions of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from twinviews.data_checks import Finding
from twinviews.data_checks.class_order import order_of_words
from twinviews.ensemble.cross_fitting import folds_of
from twinviews.ensemble.ensembles import RegressionEnsemble
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._classifier import accuracy
from twinviews.estimators._ensemble import EnsembleFit, labels_of
from twinviews.estimators._method import Problems
from twinviews.method.cumulative_link import (
    CumulativeLink,
    expected_steps,
    likeliest_link,
    median_class,
)
from twinviews.method.error_estimate import STEPS, mean_steps
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.ordered_classes import (
    check_order,
    labels_in_order,
    ordered_categories,
    read_ordered_classes,
)


class SemiSupervisedOrdinalClassifier(ClassifierMixin, SemiSupervisedEstimator):
    """Classes in their order: least squares on ranks 0 to K - 1, and a cumulative link."""

    _task = "ordinal"
    _measure = STEPS

    classes: Any  # in their order; None: as their values say
    classes_: np.ndarray
    loo_error_: float
    cv_error_rate_: float
    cv_log_loss_: float
    _link: CumulativeLink
    _order: np.ndarray | None = None  # of the ordered categories that labels came with
    _share: np.ndarray  # (m, K) of each class in the labels of a row; no file has it

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_order(self.classes)

    def _notice(self, y: Any) -> None:
        self._order = ordered_categories(y)

    def _expect_classes(self, classes: Any) -> None:
        if classes is None:
            return
        expected = labels_in_order(classes)
        if self.classes is not None and expected != labels_in_order(self.classes):
            raise ValueError(
                f"partial_fit has classes={expected!r:.60}, and the estimator has others in its own "
                f"parameter classes. Leave one of them out."
            )
        self._order = np.asarray(expected)

    def _questions_of_task(self) -> list[Finding]:
        return order_of_words(self.classes_) if self._given_order() is None else []

    def _given_order(self) -> Any:
        return self._order if self.classes is None else self.classes

    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        classes = read_ordered_classes(y, self.missing_label, self._given_order())
        if len(np.unique(classes.code[classes.code >= 0])) == 1:
            raise ValueError(
                f"y has one class only, {classes.labels[classes.code.max()]!r}, and a classifier needs "
                f"at least 2. Label rows of another class."
            )
        rank = np.where(classes.code < 0, np.nan, classes.code)
        return rank[:, None], {"classes_": classes.labels}

    def _read_problems(self, labeled: LabeledRows, one_column: bool) -> list[LabeledProblem]:
        problems = super()._read_problems(labeled, one_column)
        rank = self._read_targets(labeled.labels[:, 0])[0].astype(np.intp)
        (of_classes,) = labeled.problems(np.eye(len(self.classes_))[rank[:, 0]])
        self._share = of_classes.Y
        return problems

    def _fit_ensembles(self, fit: EnsembleFit) -> list[RegressionEnsemble] | None:
        return fit.regression(self._solution, most_rounds=0)

    def _judge(self, problems: Problems, held_out: Sequence[np.ndarray]) -> None:
        (problem,), (score,) = problems, held_out
        self._tell(problem, score[:, 0], folds_of(problem.Y, classes=False))

    def _judge_ensembles(self) -> None:
        assert self._ensembles is not None, "there are some"
        (problem,), (ensemble,) = self._solution.problems, self._ensembles
        self._tell(labels_of(ensemble, problem), ensemble.held_out[:, 0], ensemble.fold_of)

    def _tell(self, problem: LabeledProblem, score: np.ndarray, fold_of: np.ndarray) -> None:
        """Set the link, and what is told of the error, from scores by fits without the row.

        The link that judges a row has not seen it either: it is that of the labels outside its fold.
        """
        share, weight = self._share, problem.judging
        self._link = likeliest_link(score, share, weight)
        log_p = np.empty_like(share)
        for fold in range(int(fold_of.max()) + 1):
            rows, others = fold_of == fold, np.flatnonzero(fold_of != fold)
            link = likeliest_link(score[others], share[others], weight[others] / weight[others].sum())
            log_p[rows] = link.log_probabilities(score[rows])
        chosen = median_class(np.exp(log_p))
        steps = expected_steps(share, chosen)
        wrong = 1 - share[np.arange(len(share)), chosen]
        if np.isnan(score).any():  # some row alone determines a coefficient
            steps, wrong = np.full(len(steps), np.nan), np.full(len(wrong), np.nan)
        self.loo_error_, *ends = mean_steps(steps, len(self.classes_), weight, self.n_unlabeled_)
        self._error_ends = tuple(ends)
        self.cv_error_rate_ = float(weight @ wrong)
        self.cv_log_loss_ = float(-weight @ (share * log_p).sum(axis=1))

    @property
    def cv_error_(self) -> float:
        """Mean distance, in steps from class to class, between predicted and true classes.

        Over labeled rows, each predicted by fits that have not seen it.
        """
        return self.loo_error_

    def _show_coefficients(self) -> None:
        self.coef_, self.intercept_ = self._solution.coef.T, self._solution.intercept

    def _log_probabilities(self, X: Any) -> np.ndarray:
        return self._link.log_probabilities(self._decision(X)[:, 0])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of least expected distance, in steps, from the true one: the median.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        p = self.predict_proba(X)
        return self.classes_[median_class(p)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class: a cumulative link model of the predicted rank.

        Its slope and its cuts between classes have the greatest likelihood on the labeled rows with
        each row's rank predicted by fits without it.

        Returns
        -------
        array of shape (n_samples, n_classes), columns in the order of ``classes_``
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of :meth:`predict_proba`."""
        return self._log_probabilities(self._prepared(X))

    def _row_uncertainty(self, X: Any) -> np.ndarray:
        """How many steps the predicted class is expected to be off."""
        p = np.exp(self._log_probabilities(X))
        return expected_steps(p, median_class(p))

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None, by: str | int | None = None
    ) -> dict[str, np.ndarray]:
        p = np.exp(self._log_probabilities(self._scaled(X)))
        columns = {"prediction": self.classes_[median_class(p)]}
        for label, column in zip(self.classes_, p.T, strict=True):
            columns[f"probability_{label}"] = column
        return columns

    score = accuracy
