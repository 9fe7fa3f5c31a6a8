"""Regression and classification: what a label is, how a prediction reads, how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._all_or_nothing import asking
from twinviews.estimators._checks import check_flag
from twinviews.estimators._table_methods import TableMethods
from twinviews.estimators._weights import check_weight
from twinviews.method.intervals import LeftOut, deviation, interval_ends
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.probability import calibrated_scale, class_log_probabilities, class_shares
from twinviews.passes.targets import one_against_rest, read_classes, read_numbers

if TYPE_CHECKING:
    from twinviews.estimators._frame import SemiSupervised as _Frame
else:
    _Frame = object


class SemiSupervisedRegressor(RegressorMixin, TableMethods, _Frame):
    """Numbers to predict: one column of y, or several that share one pass over the rows."""

    loo_error_: float | np.ndarray
    intercept_: float | np.ndarray

    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        numbers = read_numbers(y, self.missing_label)
        return numbers.reshape(len(numbers), -1), {}

    def _expect(self, classes: Any) -> None:
        if classes is not None:
            raise ValueError("classes is for classifiers; a regressor predicts numbers.")

    def _judge(self, problems: Sequence[LabeledProblem], left_out: Sequence[np.ndarray]) -> None:
        errors = np.empty(len(self._intercept))
        for problem, predicted in zip(problems, left_out, strict=True):
            squared = np.square(problem.Y - predicted)
            errors[problem.targets] = problem.weight @ squared + problem.spread
        if self._one_column:
            self.coef_, self.intercept_ = self._coef[:, 0], float(self._intercept[0])
            self.loo_error_ = float(errors[0])
        else:
            self.coef_, self.intercept_, self.loo_error_ = self._coef.T, self._intercept, errors

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
        decision = self._decide(X)
        predicted = decision[:, 0] if self._one_column else decision
        if not return_std:
            return predicted
        return predicted, self._ask_left_out(X, deviation)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
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

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_targets, 2): lower and upper end
        """
        return self._ask_left_out(X, _interval_question(coverage))

    def _ask_left_out(
        self, X: Any, question: Callable[..., np.ndarray], *, checked: bool = False
    ) -> np.ndarray:
        """What the fits without a label say at each row, target by target."""
        check_is_fitted(self)
        X = self._scale_checked(X) if checked else self._check_scaled_rows(X)
        answers = []
        for target in range(len(self._intercept)):
            with asking(self):
                left_out = self._left_out_fits(target)
            answers.append(self._by_blocks(_Asked(left_out, question), X))
        return answers[0] if self._one_column else np.stack(answers, axis=1)

    def _doubt(self, X: Any) -> np.ndarray:
        """How uncertain the predicted numbers are, labels apart."""
        return self._uncertainty(X)

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None
    ) -> dict[str, np.ndarray]:
        """What a table of predictions holds, by name."""
        columns = {"prediction": self._decide_checked(X)}
        if coverage is not None:
            ends = self._ask_left_out(X, _interval_question(coverage), checked=True)
            low, high = np.moveaxis(ends.reshape(len(X), -1, 2), 2, 0)
            columns |= {"lower": low, "upper": high}
        if self._one_column:
            return {name: values[:, 0] for name, values in columns.items()}
        return {
            f"{name}_{target}": values[:, target]
            for target in range(len(self._intercept))
            for name, values in columns.items()
        }

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 over the labeled rows; the mean over targets if there are several."""
        predicted = self._decide(X)
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
            known, of_known = _known_rows(~np.isnan(column), sample_weight, predicted)
            if len(known) == 1:
                raise ValueError("y has one label only, and R² needs at least 2. Label more rows.")
            scores.append(r2_score(column[known], guess[known], sample_weight=of_known))
        return float(np.mean(scores))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class SemiSupervisedClassifier(ClassifierMixin, TableMethods, _Frame):
    """Classes of any type and number: least squares on 1 and -1, one class against the rest."""

    classes_: np.ndarray
    _expected: Any = None

    def _expect(self, classes: Any) -> None:
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

    def _judge(self, problems: Sequence[LabeledProblem], left_out: Sequence[np.ndarray]) -> None:
        (problem,), (decision,) = problems, left_out  # all classes are known on the same rows
        share = class_shares(problem.Y)
        right = share[np.arange(len(share)), self._most_likely(decision)]
        unknown = np.isnan(decision).any()  # some row alone determines a coefficient
        self.loo_error_ = np.nan if unknown else float(1 - problem.weight @ right)
        self._scale = calibrated_scale(decision, problem.Y, problem.weight)
        self.coef_, self.intercept_ = self._coef.T, self._intercept

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
        decision = self._decide(X)
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
        chosen = self._most_likely(self._decide(X))
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
        decision = self._decide(X)
        return class_log_probabilities(decision, self._scale)

    def _doubt(self, X: Any) -> np.ndarray:
        """How likely two draws from the probabilities of a row differ."""
        p = np.exp(class_log_probabilities(self._decision(X), self._scale))
        return 1 - np.square(p).sum(axis=1)

    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None
    ) -> dict[str, np.ndarray]:
        """What a table of predictions holds, by name; probabilities tell the doubt already."""
        decision = self._decide_checked(X)
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
        known, weight = _known_rows(truth.code >= 0, sample_weight, predicted)
        labels = truth.labels[truth.code[known]].astype(object)
        right = predicted[known].astype(object) == labels
        return float(np.average(right, weights=weight))


def _interval_question(coverage: float) -> Callable[..., np.ndarray]:
    if not isinstance(coverage, Real) or not 0 < coverage < 1:
        raise ValueError(f"coverage={coverage!r} must be above 0 and below 1, such as 0.9.")
    return partial(interval_ends, coverage=float(coverage))


class _Asked:
    """A question to the left-out fits, for a block of rows."""

    def __init__(self, left_out: LeftOut, question: Callable[..., np.ndarray]) -> None:
        self.left_out, self.question = left_out, question

    def __call__(self, X: Any) -> np.ndarray:
        return self.question(self.left_out.predict(X), self.left_out)


def _known_rows(
    known: np.ndarray, sample_weight: Any, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Which rows to score by, and their weights."""
    if not known.any():
        raise ValueError("y has no label at all: every entry is missing, so there is nothing to score.")
    if sample_weight is None:
        return np.flatnonzero(known), None
    weight = check_weight(sample_weight, rows)
    present = np.flatnonzero(known & (weight > 0))
    if len(present) == 0:
        raise ValueError("sample_weight is zero for every row that has a label. Give some a weight.")
    return present, weight[present]
