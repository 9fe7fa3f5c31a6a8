"""When to stop: the error now, and what more labels would buy."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.active.learning_curve import LEAST_JUDGED, Estimate, forecast, mean_loss, share_wrong
from twinviews.passes.targets import as_array, missing_labels

# Fits with fewer labels that the curve shows, and the least of their labels.
_SIZES = 8
LEAST_LABELS = 10
FOLDS = 10


class ErrorForecast(NamedTuple):
    """Root mean squared errors of numbers, or shares of wrong classes, with 90% intervals."""

    labels: np.ndarray  # (sizes,) the last one is all
    curve: list[Estimate]  # the error with so many labels
    more: np.ndarray  # (k,)
    promised: list[Estimate]  # the error to expect with so many more
    baseline: float  # of always saying the mean, or the commonest class

    @property
    def now(self) -> Estimate:
        return self.curve[-1]


def forecast_error(
    model: Any, X: Any, y: Any, more: Sequence[int] = (10, 50, 100), *, random: Any = None
) -> ErrorForecast:
    """The error that new rows will meet, how it fell as labels were added, and what more would buy.

    The model is solved again with the first 10 labels, with more, and with all. What each solution
    loses on the labeled rows, those that it has seen left out a tenth at a time, gives the curve; a
    power law through it, resampled with it, gives the promise. A model with a committee is judged by
    its views, whose curve is then brought to the level of the committee, by the errors of both on all
    labels: that takes half a second instead of minutes. Where rows were suggested, the error is rather
    too high than too low: leaving one out opens a gap that suggestions had closed.

    Parameters
    ----------
    model : fitted estimator of this library, for one target
        It is not changed.
    X : array or data frame of shape (n_labels, n_features)
        The labeled rows, in the order in which they were labeled.
    y : array-like of shape (n_labels,)
    more : sequence of int, default=(10, 50, 100)
        How many more labels to look ahead to.
    random : array-like of bool of shape (n_labels,), optional
        Which rows were drawn at random rather than chosen. Only those are judged: rows that were
        chosen because the model was in doubt are harder than others. By default all are.

    Returns
    -------
    ErrorForecast

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, forecast_error
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=2000)
    >>> labels = np.where(np.arange(2000) < 100, y, np.nan)
    >>> model = XNVRegressor(committee=False, random_state=0).fit(X, labels)
    >>> found = forecast_error(model, X[:100], y[:100], more=[100])
    >>> [round(number, 2) for number in found.now]
    [0.4, 0.3, 0.54]
    >>> [round(number, 2) for number in found.promised[0]]
    [0.34, 0.25, 0.48]
    >>> model.relabel(X[:200], y[:200]).loo_error_ ** 0.5  # what it came to
    0.342...
    """
    check_is_fitted(model)
    model._as_numbers(X)
    y = as_array(y)
    check_consistent_length(X, y)
    at_random = np.ones(len(y), bool) if random is None else np.asarray(random, bool)
    if at_random.shape != (len(y),):
        raise ValueError(
            f"random has {len(at_random)} entries and there are {len(y)} rows. Give one each."
        )
    if y.ndim != 1:
        raise ValueError(f"y has {y.ndim} dimensions. Forecast one target at a time: y[:, 0].")
    known = np.flatnonzero(~missing_labels(y.reshape(-1, 1), model.missing_label)[:, 0])
    if sparse.issparse(X):  # not every format can be asked for some of its rows
        X = X.tocsr()
    X, y = _safe_indexing(X, known), y[known]
    judged = np.flatnonzero(at_random[known])
    if len(judged) < LEAST_JUDGED or len(y) < LEAST_LABELS:
        raise ValueError(
            f"{len(y)} labels, {len(judged)} of them of rows drawn at random, are too few to judge by. "
            f"Label {LEAST_LABELS} rows, at least {LEAST_JUDGED} of them at random."
        )
    more_labels = np.asarray(more)
    if more_labels.ndim != 1 or more_labels.dtype.kind not in "iu" or (more_labels < 1).any():
        raise ValueError(f"more={more!r} must be whole numbers of at least 1, such as [10, 50].")
    classes = is_classifier(model)
    with one_blas_thread(look=False):
        sizes = _sizes(y, classes)
        views = views_alone(model)
        losses = np.array([_losses(views, X, y, size, judged) for size in sizes])
        views.relabel(X, y)
        level = _level(model, views, len(y))
    estimate = share_wrong if classes else mean_loss
    curve = [_at_level(estimate(row), level, classes) for row in losses]
    found = forecast(sizes, losses, more_labels, squared=not classes)
    promised = [_at_level(one, level, classes) for one in found]
    return ErrorForecast(sizes, curve, more_labels, promised, _baseline(y, judged, classes))


def _sizes(y: np.ndarray, classes: bool) -> np.ndarray:
    """Numbers of labels, each about 1.4 times the one before, from where two classes are known."""
    least = LEAST_LABELS
    if classes:
        other = np.flatnonzero(y != y[0])
        if len(other) == 0:
            raise ValueError(
                f"All labels are of one class, {y.tolist()[0]!r}. Label rows of another class."
            )
        least = max(least, int(other[0]) + 1)
    return np.unique(np.geomspace(least, len(y), _SIZES).round().astype(np.int64))


def views_alone(model: Any) -> Any:
    """A copy that relabels by its views alone, in milliseconds."""
    views = copy(model)
    views._unlabeled_sample = None
    return views


def _losses(views: Any, X: Any, y: np.ndarray, size: int, judged: np.ndarray) -> np.ndarray:
    """(judged,) what the fit with the first labels loses on rows that it has not seen.

    Those that it has seen, a fit without the tenth of the labels that they are in predicts; it chooses
    its ridge again, as a choice made with a label would flatter that label.
    """
    losses = np.full(len(y), np.nan)
    parts = [(np.arange(size), judged[judged >= size])]
    for fold in range(FOLDS):
        left_out = np.arange(fold, size, FOLDS)
        parts.append((np.setdiff1d(np.arange(size), left_out), np.intersect1d(left_out, judged)))
    for seen, unseen in parts:
        if len(unseen):
            said = _predict(views, X, y, seen, unseen)
            if is_classifier(views):
                losses[unseen] = said.astype(object) != y[unseen].astype(object)
            else:
                losses[unseen] = np.square(said - y[unseen].astype(np.float64))
    return losses[judged]


def _predict(views: Any, X: Any, y: np.ndarray, seen: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    if is_classifier(views) and (y[seen] == y[seen[0]]).all():
        return np.full(len(unseen), y[seen[0]], dtype=object)
    views.relabel(_safe_indexing(X, seen), y[seen])
    return views.predict(_safe_indexing(X, unseen))


def _level(model: Any, views: Any, n: int) -> float:
    """How the model's error compares to that of its views, on all labels.

    Of classes, one wrong row more on either side: none at all would promise that none ever will be.
    """
    if model._ensembles is None or not views.loo_error_ > 0:
        return 1.0
    more = 1 / n if is_classifier(model) else 0.0
    return float((model.loo_error_ + more) / (views.loo_error_ + more))


def _at_level(loss: Estimate, level: float, classes: bool) -> Estimate:
    """As it would be of the committee; of numbers, the root of it."""
    if classes:
        return Estimate(*(min(part * level, 1.0) for part in loss))
    return Estimate(*(part * level for part in loss)).root()


def _baseline(y: np.ndarray, judged: np.ndarray, classes: bool) -> float:
    if not classes:
        return float(np.std(y[judged].astype(np.float64)))
    _, counts = np.unique(y[judged].astype(str), return_counts=True)
    return float(1 - counts.max() / len(judged))
