"""What a careful colleague would ask about labels and columns, as warnings, before a fit learns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from twinviews.data_checks import (
    check_classes,
    check_inputs,
    check_numbers,
    outlying_labels,
    warn_of,
)
from twinviews.data_checks.data_finding import Rows, place
from twinviews.data_checks.label_design import improbable_labels
from twinviews.data_checks.unlabeled_strata import unlabeled_strata
from twinviews.data_checks.unpredicted_classes import unpredicted_classes
from twinviews.method.landmarks import stack_rows
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.strata import rows_implied
from twinviews.passes.targets import as_array, missing_labels, read_numbers

# Labeled rows that are looked at when columns are compared with the target, and the most columns,
# each counted once for every class: beyond it would take longer than many a fit.
_MOST_ROWS, _MOST_COLUMNS = 500, 10_000


class RowNumbers(Sequence[int]):
    """The numbers, from 1, of the labeled rows of a table, read when the first of them is named.

    Labels of a clean table are never named, so nothing is read of it once more.
    """

    def __init__(self, table: Any, missing_label: Any) -> None:
        self.table, self.missing_label = table, missing_label

    @cached_property
    def _numbers(self) -> np.ndarray:
        return np.concatenate(
            [
                numbers[~missing_labels(Y, self.missing_label).all(axis=1)]
                for numbers, Y in self.table.numbered_labels()
            ]
        )

    def __getitem__(self, position: Any) -> Any:
        return self._numbers[position]

    def __len__(self) -> int:
        return len(self._numbers)


def rows_of(table: Any, missing_label: Any) -> RowNumbers | None:
    """How to name the labeled rows of a table; None for one whose rows have no numbers."""
    return RowNumbers(table, missing_label) if hasattr(table, "numbered_labels") else None


def ask_about_data(
    model: Any, labeled: LabeledRows, y: np.ndarray | None, rows: RowNumbers | None = None
) -> None:
    """Warn of labels and columns that may not be what they seem.

    ``y`` holds the labels as the user gave them, so that a row can be named by its place. For tables
    ``rows`` has the numbers of the labeled rows; without them, as on a cluster, labels are counted.
    """
    warn_of(model._questions_of_task())
    classes, missing = is_classifier(model), model.missing_label
    labels, names = _named_labels(labeled, y, rows)
    for column in labels.T:
        if classes:
            warn_of(check_classes(column, names, missing))
        else:
            warn_of(check_numbers(read_numbers(column, missing), names))
    X, first = stack_rows(list(labeled.X_parts))[:_MOST_ROWS], labeled.labels[:_MOST_ROWS, 0]
    if sparse.issparse(X) or X.shape[1] * len(getattr(model, "classes_", [0])) > _MOST_COLUMNS:
        return
    known = np.flatnonzero(~missing_labels(first, missing))
    goal = first[known] if classes else read_numbers(first[known])
    warn_of(check_inputs(X[known], goal, _names(model), classes=classes))


def ask_about_design(first_pass: FirstPass) -> None:
    """Warn of strata that have no label, and of probabilities that do not go with the rows."""
    parts = first_pass.labeled.probability_parts
    found = None
    if first_pass.n_without_label:
        found = unlabeled_strata(first_pass.n_without_label, first_pass.n_rows)
    elif parts and first_pass.n_rows > first_pass.labeled.n_labels:
        of_all = first_pass.labeled.n_labels / first_pass.labeled.count
        implied = rows_implied(np.concatenate(parts), of_all)
        found = improbable_labels(*implied, first_pass.n_rows)
    warn_of([] if found is None else [found])


def ask_after_fit(model: Any, labeled: LabeledRows, y: np.ndarray | None, rows: Rows = None) -> None:
    """Warn of what only a fit can find in its labels; rows are named as above."""
    if is_classifier(model):
        _ask_about_classes_never_predicted(model)
    else:
        _ask_about_outlying_labels(model, labeled, y, rows)


def _ask_about_classes_never_predicted(model: Any) -> None:
    has_costs = "class_weight" in model.get_params(deep=False)
    if has_costs and model.class_weight is None and model._n_labels_and_predicted is not None:
        names = [str(label) for label in model.classes_]
        n_labels, n_predicted = model._n_labels_and_predicted
        found = unpredicted_classes(names, n_labels, n_predicted, model.cv_auc_)
        warn_of([] if found is None else [found])


def _ask_about_outlying_labels(
    model: Any, labeled: LabeledRows, y: np.ndarray | None, rows: Rows = None
) -> None:
    """Warn of labels that the ensemble of a regressor has left out."""
    if model._ensembles is None:
        return
    labels, names = _named_labels(labeled, y, rows)
    for target, ensemble in enumerate(model._ensembles):
        if ensemble.outlying is None:
            continue
        problem, column = model._solution.problem_of(target)
        truth, predicted = problem.Y[: len(ensemble.held_out), column], ensemble.held_out[:, 0]
        others = np.delete(truth - predicted, ensemble.outlying)
        error = float(np.sqrt(np.mean(np.square(others))))
        given = read_numbers(labels[:, target], model.missing_label)
        off = [np.abs(given - label) for label in truth[ensemble.outlying]]
        places = [place(int(np.nanargmin(distances)), names) for distances in off]
        out = ensemble.outlying
        warn_of([outlying_labels(places, truth[out], predicted[out], len(truth), error)])


def _named_labels(labeled: LabeledRows, y: np.ndarray | None, rows: Rows) -> tuple[np.ndarray, Any]:
    """(rows, targets) labels and how to name their rows; None: by their place."""
    if y is not None:
        return y.reshape(len(y), -1), None
    if labeled.is_sample:
        return labeled.labels, _Unnamed(labeled.count)
    return labeled.labels, _counted(len(labeled.labels)) if rows is None else rows


class _Unnamed(Sequence[str]):
    """Names of rows of a sample, which no longer have a place."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows

    def __getitem__(self, position: Any) -> Any:
        return "a row of the sample" if isinstance(position, int | np.integer) else self

    def __len__(self) -> int:
        return self._n_rows


def _counted(n_labels: int) -> list[str]:
    """Names for the labels of a table whose rows have no numbers, such as a Dask or Spark frame."""
    return [f"label {number:,} in the order of the partitions" for number in range(1, n_labels + 1)]


def labels_as_given(y: Any, sample_weight: Any) -> np.ndarray:
    """All labels in their places; a row of weight zero is absent, and so is its label."""
    labels = as_array(y)
    if sample_weight is None:
        return labels
    labels = labels.astype(object)
    labels[np.broadcast_to(np.asarray(sample_weight, dtype=float), len(labels)) == 0] = None
    return labels


def _names(model: Any) -> list[str]:
    """Of the column from which each number of a row comes."""
    if model._encoder is not None:
        return [code.name for code in model._encoder.codes for _ in code.outputs]
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    return [f"column {number}" for number in range(model.n_features_in_)]
