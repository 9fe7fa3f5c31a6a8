"""Methods of XNV and XKS: canonical features, more rows, and merged fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._all_or_nothing import all_or_nothing, fitting
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._correlated_views import AllRows
from twinviews.estimators._held_labels import held_labels
from twinviews.estimators._inputs import check_present_rows, open_arrays
from twinviews.estimators._outside import merge_profiles, profile_of, profile_of_rows
from twinviews.estimators._questions import ask_after_fit, labels_as_given
from twinviews.method.correlation import CanonicalBasis
from twinviews.method.moments import Moments
from twinviews.method.views import View
from twinviews.passes.first_pass import labeled_rows_of
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.tables import ArrayTable, Block, Table
from twinviews.tables.base import MappedTable


def _all_rows(model: Any, what: str, error: type[Exception] = ValueError) -> AllRows:
    """The sums over all rows, which a small model file leaves out."""
    check_is_fitted(model)
    all_rows: AllRows | None = model._learned.all_rows
    if all_rows is None:
        raise error(
            f"{what} needs both views and the sums over all rows, which the file of this model left "
            f"out to be small. Save the model of the fit with save_model(model, path, whole=True)."
        )
    return all_rows


def views_(self: Any) -> tuple[View, View]:
    """Both views: functions x -> z(x)."""
    return _all_rows(self, "views_", AttributeError).views


def basis_(self: Any) -> CanonicalBasis:
    """Canonical directions of both views, one per column, and their correlations."""
    _all_rows(self, "basis_", AttributeError)
    return self._learned.basis


def transform(self: Any, X: Any) -> np.ndarray:
    """Canonical features: view 1 in its canonical basis, the most correlated direction first.

    Over the rows of the fit each has mean 0 and variance 1 (without an intercept: mean square 1);
    without a correlation ridge they are uncorrelated too.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, len(correlations_))
    """
    return self._by_blocks(self._learned.view, self._prepared(X)) - self._learned.offsets[0]


def transform_pair(self: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Canonical features of both views; column j of one correlates with column j of the other."""
    _, second = _all_rows(self, "transform_pair").views
    X = self._prepared(X)
    learned = self._learned
    second = View(second.columns, second.W @ learned.basis.B2)
    return (
        self._by_blocks(learned.view, X) - learned.offsets[0],
        self._by_blocks(second, X) - learned.offsets[1],
    )


def partial_fit(
    self: Any, X: Any, y: Any = None, classes: Any = None, *, sample_weight: Any = None
) -> Any:
    """Take in more rows, with landmarks, sigma and all rows so far kept.

    The first call is a ``fit``, which fixes the landmarks: its rows should be typical of all. From the
    second on ``shift_`` is None, since all rows are not there to compare the labels with.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Their labels, missing ones marked as in ``fit``; None if none is known.
    classes : array-like, optional
        For classifiers, classes to expect besides those seen. Not needed: a class may come later.
    sample_weight : array-like of shape (n_samples,), optional
        As in ``fit``.

    Returns
    -------
    self
    """
    fitted = "_learned" in vars(self)
    if fitted:
        _all_rows(self, "partial_fit")
    with all_or_nothing(self):
        self._expect_classes(classes)
        if fitted:
            return _add_rows(self, X, y, sample_weight)
        self._check_parameters()
        table = open_arrays(self, X, y, None, sample_weight)
        return self._fit_blocks(table, labels_as_given(y, sample_weight))


def _add_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    raw, X = X, model._as_numbers(X)
    if y is None:
        y = np.full(X.shape[0], None)
    X, y, weight, _ = check_present_rows(X, y, sample_weight)
    block = Block(X, y.reshape(len(y), -1), weight)
    table: Table = ArrayTable(block, n_threads=model.n_threads, progress=model.progress)
    if model._scaling is not None:
        table = MappedTable(table, model._scaling)
    with fitting(model):
        moments = model._method().moments_of_table(model._learned.all_rows, table)
    so_far = model._learned.all_rows.labeled
    labeled = labeled_rows_of(block, draw=so_far.draw, **held_labels(model))
    n_unlabeled = X.shape[0] - labeled.n_labels
    labeled = so_far.merge(labeled.scaled(model._scaling)).settled()
    merge_profiles(model, profile_of_rows(model, raw, X, sample_weight))
    return _take_in(model, moments, labeled, n_unlabeled)


def merge(self: Any, other: Any) -> Any:
    """Take in the rows of another fit that has the same landmarks and sigma.

    Two fits on parts of a table, merged, are one fit on the whole.

    Parameters
    ----------
    other : estimator of the same class, fitted
        It is not changed.

    Returns
    -------
    self
    """
    check_is_fitted(self)
    check_is_fitted(other)
    if type(other) is not type(self) or not _same_views(self, other):
        raise ValueError(
            f"These two cannot be merged: their views differ (sigma {self._learned.sigma:g} and "
            f"{other._learned.sigma:g}). Give both the same landmarks (or random_state) and sigma."
        )
    theirs = _all_rows(other, "merge")
    with all_or_nothing(self):
        merge_profiles(self, profile_of(other))
        labeled = self._learned.all_rows.labeled.merge(theirs.labeled).settled()
        return _take_in(self, theirs.moments, labeled, other.n_unlabeled_)


def _same_views(model: SemiSupervisedEstimator, other: SemiSupervisedEstimator) -> bool:
    ours, theirs = _all_rows(model, "merge"), _all_rows(other, "merge")
    scaling = model._scaling
    same_scale = other._scaling is None if scaling is None else scaling.same_as(other._scaling)
    if model._encoder != other._encoder or not same_scale:
        return False
    probe = np.linspace(-1, 1, 5 * model._width).reshape(5, -1)
    first, second = ours.columns(probe), theirs.columns(probe)
    return first.shape == second.shape and bool(np.array_equal(first, second))


def _take_in(model: Any, moments: Moments, labeled: LabeledRows, n_unlabeled: int) -> Any:
    """Solve again with the sums of more rows; ``labeled`` are all labeled rows."""
    problems = model._read_problems(labeled, model._one_column)
    model.n_unlabeled_ += n_unlabeled
    model._shift = model._importance = model._rows_to_compare = None  # of some of the rows only
    with fitting(model):
        model._learned = model._method().take_in(model._learned, moments, labeled, problems)
        model._solve(problems, labeled)
        so_far = [f"label {number:,} so far" for number in range(1, labeled.count + 1)]
        ask_after_fit(model, labeled, None, so_far)
        return model
