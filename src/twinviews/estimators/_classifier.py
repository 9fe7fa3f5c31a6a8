"""Classification: one class against the rest, and calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from twinviews.ensemble.ensembles import ClassificationEnsemble
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._ensemble import EnsembleFit, labels_of
from twinviews.estimators._inputs import labeled_rows_to_score
from twinviews.estimators._method import Problems
from twinviews.method.error_estimate import error_rate, mean_auc
from twinviews.method.uncertainty import calibrated_scale, class_log_probabilities, class_shares
from twinviews.passes.targets import one_against_rest, read_classes


class SemiSupervisedClassifier(ClassifierMixin, SemiSupervisedEstimator):
    """Classes of any type and number: least squares on 1 and -1, one class against the rest."""

    classes_: np.ndarray
    loo_error_: float
    cv_auc_: float
    cv_log_loss_: float
    _expected: Any = None

    def _expect_classes(self, classes: Any) -> None:
        if classes is not None:
            self._expected = read_classes(classes, self.missing_label).labels

    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        classes = read_classes(y, self.missing_label, self._expected)
        if len(classes.labels) == 1:
            raise ValueError(
                f"y has one class only, {classes.labels[0]!r}, and a classifier needs at least 2. "
                f"Label rows of another class."
            )
        Y = one_against_rest(classes.code, len(classes.labels))
        return Y, {"classes_": classes.labels}

    def _judge(self, problems: Problems, held_out: Sequence[np.ndarray]) -> None:
        (problem,), (decision,) = problems, held_out  # all classes are known on the same rows
        share = class_shares(problem.Y)
        self._scale = calibrated_scale(decision, problem.Y, problem.judging)
        self._tell(share, decision, problem.judging)

    def _tell(self, share: np.ndarray, decision: np.ndarray, weight: np.ndarray) -> None:
        """Set what is told of the error, from decisions on rows by fits that have not seen them."""
        wrong = 1 - share[np.arange(len(share)), self._most_likely(decision)]
        if np.isnan(decision).any():  # some row alone determines a coefficient
            wrong = np.full(len(wrong), np.nan)
        self.loo_error_, *ends = error_rate(wrong, weight, self.n_unlabeled_)
        self._error_ends = tuple(ends)
        log_p = class_log_probabilities(decision, self._scale)
        self.cv_log_loss_ = float(-weight @ (share * log_p).sum(axis=1))
        self.cv_auc_ = mean_auc(share, log_p, weight)

    @property
    def cv_error_(self) -> float:
        """Share of the labeled rows that fits that have not seen them put in the wrong class."""
        return self.loo_error_

    def _show_coefficients(self) -> None:
        self.coef_, self.intercept_ = self._solution.coef.T, self._solution.intercept

    def _fit_ensembles(self, fit: EnsembleFit) -> list[ClassificationEnsemble] | None:
        return fit.classification(self._solution)

    def _judge_ensembles(self) -> None:
        assert self._ensembles is not None, "there are some"
        (problem,), (ensemble,) = self._solution.problems, self._ensembles
        judged = labels_of(ensemble, problem)
        self._scale = 1.0  # its log-odds are calibrated already
        self._tell(class_shares(judged.Y), ensemble.held_out, judged.judging)

    @staticmethod
    def _most_likely(decision: np.ndarray) -> np.ndarray:
        """(rows,) position of the class."""
        return (decision[:, 0] > 0).astype(int) if decision.shape[1] == 1 else decision.argmax(axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        """The regression function: above 0 speaks for a class, 1 is what its labels were coded as.

        Returns
        -------
        array of shape (n_samples,) for two classes (the second of ``classes_`` is positive), of shape
        (n_samples, n_classes) for more
        """
        decision = self._decision(self._prepared(X))
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        chosen = self._most_likely(self._decision(self._prepared(X)))
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class: a softmax of the decision function.

        Its one parameter, the scale, has the greatest likelihood on the labeled rows with each row's
        decision made by the fit without it. So the probabilities are as sure as the model was right.

        Returns
        -------
        array of shape (n_samples, n_classes), columns in the order of ``classes_``
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of :meth:`predict_proba`."""
        return class_log_probabilities(self._decision(self._prepared(X)), self._scale)

    def _row_uncertainty(self, X: Any) -> np.ndarray:
        """How likely two draws from the probabilities of a row differ."""
        p = np.exp(class_log_probabilities(self._decision(X), self._scale))
        return 1 - np.square(p).sum(axis=1)

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None, by: str | int | None = None
    ) -> dict[str, np.ndarray]:
        decision = self._decision(self._scaled(X))
        p = np.exp(class_log_probabilities(decision, self._scale))
        columns = {"prediction": self.classes_[self._most_likely(decision)]}
        for label, column in zip(self.classes_, p.T, strict=True):
            columns[f"probability_{label}"] = column
        return columns

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy over the labeled rows."""
        predicted = self.predict(X)
        truth = read_classes(y, self.missing_label)
        check_consistent_length(predicted, truth.code)
        known, weight = labeled_rows_to_score(truth.code >= 0, sample_weight, predicted)
        labels = truth.labels[truth.code[known]].astype(object)
        right = predicted[known].astype(object) == labels
        return float(np.average(right, weights=weight))
