"""New labels for a fitted model, with what was learned from all rows kept."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._all_or_nothing import all_or_nothing, fitting
from twinviews.estimators._compared_labels import compare_labels
from twinviews.estimators._held_labels import held_labels
from twinviews.estimators._inputs import check_present_rows, present_clusters
from twinviews.estimators._questions import ask_after_fit, labels_as_given
from twinviews.passes.first_pass import labeled_rows_of
from twinviews.tables import Block


def relabel(
    self: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    label_probability: Any = None,
    cluster: Any = None,
) -> Any:
    """Solve again for another set of labeled rows, with what was learned from all rows kept.

    The unlabeled rows are not needed: it takes milliseconds whatever their number (with XNV's
    ensemble, which is fitted and weighted again, seconds). Landmarks,
    views and correlations stay, and so do sigma and the correlation ridge that made them, even
    where labels of the fit chose them; the ridge and the canonical weight, where "auto", are chosen
    again. ``shift_`` compares the new labels with rows that the fit has kept; it is None in a model
    from a file, which keeps none. If an error is raised, the model is as it was.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The labeled rows, all of them: rows of the fit, new rows, or both.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their labels. A row without a label is passed over.
    sample_weight, label_probability, cluster : array-like of shape (n_samples,), optional
        As in ``fit``.

    Returns
    -------
    self
    """
    check_is_fitted(self)
    labels = y
    X = self._as_numbers(X)
    clusters = present_clusters(cluster, X, sample_weight)
    X, y, weight, p = check_present_rows(X, y, sample_weight, label_probability)
    block = Block(X, y.reshape(len(y), -1), weight, p, cluster=clusters)
    labeled = labeled_rows_of(block, draw=0, **held_labels(self)).redrawn(self._seed).settled()
    unscaled, labeled = labeled, labeled.scaled(self._scaling)
    with all_or_nothing(self), fitting(self, look=False):
        problems = self._read_problems(labeled, y.ndim == 1)
        problems = compare_labels(self, unscaled, problems)
        self._one_column = y.ndim == 1
        self._solve(problems, labeled)
        ask_after_fit(self, unscaled, labels_as_given(labels, sample_weight))
        return self
