"""Classification: one class against the rest, and calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from twinviews.ensemble.ensembles import ClassificationEnsemble
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import check_class_weight
from twinviews.estimators._ensemble import EnsembleFit, labels_of
from twinviews.estimators._inputs import labeled_rows_to_score
from twinviews.estimators._method import Problems
from twinviews.method.class_costs import (
    balanced_costs,
    least_expected_cost,
    mean_auc,
    mean_average_precision,
    recalls,
    without_unseen,
)
from twinviews.method.error_estimate import ERROR_RATE, effective_number, error_rate
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.landmarks import row_priorities
from twinviews.method.lift import lift
from twinviews.method.uncertainty import (
    calibrated_scale,
    class_log_probabilities,
    class_shares,
    expected_errors,
)
from twinviews.passes.targets import one_against_rest, read_classes

# Classes that a message names.
_MOST_NAMED = 10
# Rows without a label that the model is asked about: how sure it is of them.
_ROWS_FOR_DOUBT, _LEAST_ROWS_FOR_DOUBT = 2000, 20


def accuracy(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Accuracy over the labeled rows."""
    predicted = self.predict(X)
    truth = read_classes(y, self.missing_label)
    check_consistent_length(predicted, truth.code)
    known, weight = labeled_rows_to_score(truth.code >= 0, sample_weight, predicted)
    labels = truth.labels[truth.code[known]].astype(object)
    right = predicted[known].astype(object) == labels
    return float(np.average(right, weights=weight))


class SemiSupervisedClassifier(ClassifierMixin, SemiSupervisedEstimator):
    """Classes of any type and number: least squares on 1 and -1, one class against the rest."""

    _task = "classification"
    _measure = ERROR_RATE
    _members_are_classifiers = True

    classes_: np.ndarray
    loo_error_: float
    cv_auc_: float
    cv_log_loss_: float
    cv_balanced_error_: float
    cv_average_precision_: float
    cv_lift_: float
    cv_recall_: np.ndarray | None = None  # None in models that an earlier version saved
    _lift_ends: tuple[float, ...] | None = None
    class_weight: Any = None
    _n_labels_and_predicted: tuple[np.ndarray, np.ndarray] | None = None  # of each class, held out
    _class_cost: np.ndarray | None = None  # (K,) what an error on each class costs; None: the same
    _expected: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)

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

    def _tell(
        self,
        share: np.ndarray,
        decision: np.ndarray,
        weight: np.ndarray,
        judged: LabeledProblem | None = None,
    ) -> None:
        """Set what is told of the error, from decisions on rows by fits that have not seen them.

        ``judged`` are the labels that an ensemble was judged by.
        """
        self._class_cost = self._costs(share, weight)
        log_p = class_log_probabilities(decision, self._scale)
        chosen = without_unseen(self._chosen(decision), log_p, share, weight)
        wrong = 1 - share[np.arange(len(share)), chosen]
        if judged is not None:
            wrong *= self._doubt_of_others(float(weight @ expected_errors(log_p, chosen)), judged)
        if np.isnan(decision).any():  # some row alone determines a coefficient
            wrong = np.full(len(wrong), np.nan)
        self.loo_error_, *ends = error_rate(wrong, weight, self.n_unlabeled_)
        self._error_ends = tuple(ends)
        self.cv_log_loss_ = float(-weight @ (share * log_p).sum(axis=1))
        self.cv_auc_ = mean_auc(share, log_p, weight)
        self.cv_average_precision_ = mean_average_precision(share, log_p, weight)
        self.cv_lift_, *ends = lift(share, log_p, weight, self.n_unlabeled_)
        self._lift_ends = tuple(ends)
        known = np.isfinite(self.loo_error_)
        unknown = np.full(len(self.classes_), np.nan)
        self.cv_recall_ = recalls(share, chosen, weight) if known else unknown
        self.cv_balanced_error_ = float(1 - np.nanmean(self.cv_recall_)) if known else np.nan
        # Only for the questions after a fit; not kept in files.
        n_predicted = np.bincount(chosen, minlength=len(self.classes_))
        self._n_labels_and_predicted = (share.sum(axis=0), n_predicted)

    def _costs(self, share: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
        """(K,) as ``class_weight`` says."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            return balanced_costs(share, weight)
        places = {_name(label): place for place, label in enumerate(self.classes_)}
        costs = np.ones(len(self.classes_))
        for label, cost in self.class_weight.items():
            if _name(label) not in places:
                raise ValueError(
                    f"class_weight has {label!r:.40}, which is no class of y; there are "
                    f"{', '.join(repr(str(known)) for known in self.classes_[:_MOST_NAMED])}."
                )
            costs[places[_name(label)]] = float(cost)
        return costs

    @property
    def cv_error_(self) -> float:
        """Share of the labeled rows that fits that have not seen them put in the wrong class.

        Where labels are no random sample, as it would be on rows without a label.
        """
        return self.loo_error_

    @property
    def cv_lift_interval_(self) -> np.ndarray | None:
        """(2,) ends of the 90% interval of the lift; None in models that an earlier version saved."""
        return None if self._lift_ends is None else np.array(self._lift_ends)

    @property
    def class_prior_(self) -> np.ndarray:
        """(K,) share of each class in the labels; where these are no random sample, in all rows."""
        (problem,) = self._solution.problems
        return np.asarray(problem.judging @ class_shares(problem.Y))

    @property
    def class_weight_(self) -> np.ndarray:
        """(K,) what probabilities are multiplied by before the class of the largest is predicted."""
        return np.ones(len(self.classes_)) if self._class_cost is None else self._class_cost.copy()

    @property
    def threshold_(self) -> float | None:
        """The probability of the second of two classes from which on it is predicted, else None."""
        first = self.class_weight_[0]
        return float(first / self.class_weight_.sum()) if len(self.classes_) == 2 else None

    def _show_coefficients(self) -> None:
        self.coef_, self.intercept_ = self._solution.coef.T, self._solution.intercept

    def _fit_ensembles(self, fit: EnsembleFit) -> list[ClassificationEnsemble] | None:
        return fit.classification(self._solution)

    def _judge_ensembles(self) -> None:
        assert self._ensembles is not None, "there are some"
        (problem,), (ensemble,) = self._solution.problems, self._ensembles
        judged = labels_of(ensemble, problem)
        self._scale = 1.0  # its log-odds are calibrated already
        self._tell(class_shares(judged.Y), ensemble.held_out, judged.judging, judged)

    def _doubt_of_others(self, doubt_of_labels: float, judged: LabeledProblem) -> float:
        """How unsure the model is of rows without a label, relative to how unsure fits that have not
        seen them were of the labels; 1 where labels are a random sample.

        Where rows were chosen to be labeled, the choice depended on the labels before: next to these
        nothing was asked, and fits without them are worse there than elsewhere.
        """
        sample = self._unlabeled_sample
        if judged.importance is None or sample is None:
            return 1.0
        labels, rows = row_priorities(judged.X, 0), row_priorities(sample, 0)
        others = np.flatnonzero(~np.isin(rows, labels))[:_ROWS_FOR_DOUBT]
        if len(others) < _LEAST_ROWS_FOR_DOUBT:
            return 1.0
        decision = self._decision(sample[others])
        doubts = expected_errors(class_log_probabilities(decision, self._scale), self._chosen(decision))
        one_label = 1 / effective_number(judged.judging)  # more in doubt: small doubts are uncertain
        ratio = (float(doubts.mean()) + one_label) / (doubt_of_labels + one_label)
        # The fit of all labels is surer than those without some. It may be less sure of rows that
        # labels do not cover, but where it is known how rows were chosen, labels cover all.
        return ratio if self._importance is not None else min(ratio, 1.0)

    def _chosen(self, decision: np.ndarray) -> np.ndarray:
        """(rows,) position of the class of least expected cost: the likeliest if all cost the same."""
        if self._class_cost is not None:
            log_p = class_log_probabilities(decision, self._scale)
            return least_expected_cost(log_p, self._class_cost)
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
        """Predict the class of each row: the likeliest or, with ``class_weight``, that of least cost.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        chosen = self._chosen(self._decision(self._prepared(X)))
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
        columns = {"prediction": self.classes_[self._chosen(decision)]}
        for label, column in zip(self.classes_, p.T, strict=True):
            columns[f"probability_{label}"] = column
        return columns

    score = accuracy


def _name(label: Any) -> str:
    """The same for 1, 1.0 and "1": a file or a command line gives classes as text."""
    try:
        return repr(float(str(label)))
    except ValueError:
        return str(label)
