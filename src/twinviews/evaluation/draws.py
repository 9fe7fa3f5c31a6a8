"""Repeated draws of few labels from a table: test rows, rows that keep their label, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from twinviews.data_checks import DataWarning
from twinviews.evaluation.measures import error_rate, normalised_squared_error
from twinviews.passes.targets import as_array, read_classes, read_numbers

Measure = Callable[[np.ndarray, np.ndarray], float]


def one_of_each_class_first(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The rows with one of each class first, so that every fit has seen all classes."""
    _, first = np.unique(y[rows], return_index=True)
    return np.concatenate([rows[first], np.delete(rows, first)])


class LabeledTable(NamedTuple):
    """A table as its estimators read it: rows, labels, and which labels are known."""

    X: Any
    y: np.ndarray  # (rows,) numbers or classes; what stands where nothing is known does not matter
    known: np.ndarray  # (rows,) bool
    classes: bool

    @classmethod
    def of(cls, estimators: Sequence[Any], X: Any, y: Any) -> Self:
        """The table of estimators that are all classifiers or all regressors."""
        classes = is_classifier(estimators[0])
        if any(is_classifier(estimator) != classes for estimator in estimators):
            raise ValueError(
                "Some of the estimators are classifiers and some are regressors. Compare those of one "
                "kind."
            )
        y = as_array(y)
        if y.ndim != 1:
            raise ValueError(f"y has {y.ndim} dimensions. Give one column, y[:, 0] for example.")
        check_consistent_length(X, y)
        X = indexable(X)[0]
        marks = [mark for mark in map(missing_label_of, estimators) if mark is not None]
        missing_label = marks[0] if marks else None
        if not classes:
            numbers = read_numbers(y, missing_label)
            return cls(X, numbers, ~np.isnan(numbers), classes)
        found = read_classes(y, missing_label)
        return cls(X, found.labels[found.code], found.code >= 0, classes)

    def labels(self, rows: np.ndarray, n_labels: int) -> np.ndarray:
        """The labels of the rows, hidden after the first ``n_labels``."""
        y = self.y[rows].astype(object if self.classes else np.float64)
        y[n_labels:] = None if self.classes else np.nan
        return y

    @property
    def measure(self) -> Measure:
        return error_rate if self.classes else normalised_squared_error

    def error_name(self, measure: Measure | None) -> str:
        """The name of a measure on an axis; None stands for the measure of the task."""
        return getattr(measure or self.measure, "__name__", "error").replace("_", " ")


def _missing_labels(estimator: Any) -> list[Any]:
    """Every ``missing_label`` of an estimator, also inside a pipeline or a search."""
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return [mark for name, mark in given.items() if name.split("__")[-1] == "missing_label"]


def missing_label_of(estimator: Any) -> Any:
    """The first ``missing_label`` of an estimator; None without one."""
    return next(iter(_missing_labels(estimator)), None)


class LabelDraw(NamedTuple):
    """One draw. Label sets are nested: a larger set contains every smaller one."""

    train: np.ndarray  # in random order
    labeled: np.ndarray  # those of them with a label, one of each class first
    test: np.ndarray  # all with a label

    @classmethod
    def of(cls, table: LabeledTable, n_test: int, seed: int) -> Self:
        order = np.random.default_rng(seed).permutation(len(table.y))
        test, labeled = np.split(order[table.known[order]], [n_test])
        train = order[~np.isin(order, test)]
        if table.classes:
            labeled = one_of_each_class_first(labeled, table.y)
        return cls(train, labeled, test)

    def rows(self, n_labels: int, n_unlabeled: int | None) -> np.ndarray:
        """Rows to fit on, the labeled ones first; None takes all other rows as unlabeled."""
        chosen = self.labeled[:n_labels]
        others = self.train[~np.isin(self.train, chosen)]
        return np.concatenate([chosen, others[:n_unlabeled]])


class Case(NamedTuple):
    """An estimator and the rows that it is given in every draw."""

    estimator: Any
    n_labels: int
    n_unlabeled: int | None = None  # None: all the other rows


def make_draws(
    table: LabeledTable, n_draws: int, test_size: float, random_state: Any
) -> list[LabelDraw]:
    """Independent draws of test rows and labels, reproducible from ``random_state``."""
    if not isinstance(n_draws, Integral) or n_draws < 1:
        raise ValueError(f"n_draws={n_draws!r} must be a whole number of at least 1.")
    n_labeled = int(table.known.sum())
    n_test = int(test_size if isinstance(test_size, Integral) else test_size * n_labeled)
    if not 2 <= n_test <= n_labeled - 2:
        raise ValueError(
            f"test_size={test_size!r} makes {n_test} of {n_labeled} labeled rows the test rows. At "
            f"least 2 must test and 2 train: use a share such as 0.3, or label more rows."
        )
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_draws)
    return [LabelDraw.of(table, n_test, int(seed)) for seed in seeds]


def errors_over_draws(
    cases: Sequence[Case],
    table: LabeledTable,
    draws: Sequence[LabelDraw],
    measure: Measure | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """(cases, draws) errors on the test rows, which all cases of a draw share."""
    work = [(case, draw) for case in cases for draw in draws]
    errors = Parallel(n_jobs=n_jobs)(
        delayed(held_out_error)(case, table, draw, measure or table.measure) for case, draw in work
    )
    return np.array(errors, dtype=np.float64).reshape(len(cases), len(draws))


def held_out_error(case: Case, table: LabeledTable, draw: LabelDraw, measure: Measure) -> float:
    """The error of one fit on the test rows.

    An estimator with a parameter ``missing_label``, as all of this library have, is also given the
    unlabeled rows; any other only the labeled ones.
    """
    if case.n_labels > len(draw.labeled):
        raise ValueError(
            f"n_labels={case.n_labels} is more than the {len(draw.labeled)} labeled rows that are not "
            f"for testing. Use {len(draw.labeled)} or fewer."
        )
    estimator = clone(case.estimator)
    rows = draw.labeled[: case.n_labels]
    y = table.y[rows]
    if _missing_labels(estimator):
        rows = draw.rows(case.n_labels, case.n_unlabeled)
        y = table.labels(rows, case.n_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the same questions in every draw
        estimator.fit(_safe_indexing(table.X, rows), y)
    predicted = estimator.predict(_safe_indexing(table.X, draw.test))
    return float(measure(table.y[draw.test], predicted))
