"""When to stop: the error now, and what more labels would gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.active.learning_curve import LEAST_JUDGED, Estimate, forecast, mean_loss, share_wrong
from twinviews.active.model_view import views_alone
from twinviews.passes.strata import check_label_probability, rows_stood_for
from twinviews.passes.targets import as_array, missing_labels

# Points of the learning curve, and the fewest labels of a fit.
_SIZES = 8
LEAST_LABELS = 10
FOLDS = 10


class ErrorForecast(NamedTuple):
    """Root mean squared errors of numbers, or error rates of classes, with 90% intervals."""

    labels: np.ndarray  # (sizes,) numbers of labels; the last one is all
    curve: list[Estimate]  # the error with so many labels
    more: np.ndarray  # (k,)
    promised: list[Estimate]  # the error to expect with so many more
    baseline: float  # error of always predicting the mean, or the most frequent class

    @property
    def now(self) -> Estimate:
        return self.curve[-1]


def forecast_error(
    model: Any,
    X: Any,
    y: Any,
    more: Sequence[int] = (10, 50, 100),
    *,
    label_probability: Any = None,
    random: Any = None,
) -> ErrorForecast:
    """The error on new rows, how it fell as labels were added, and what more labels would gain.

    All are root mean squared errors, or error rates, with 90% intervals. The model is solved again with
    the first 10 labels, with more, and with all. Its losses on labeled rows, each predicted by a fit
    without it (tenfold cross-validation), give the curve; a power law through the curve, resampled with
    it, gives the forecast. For a model with an ensemble the curve is that of its views, multiplied by
    the ratio of both errors on all labels: that takes half a second instead of minutes. It ends at the
    model's own ``cv_error_`` and ``cv_error_interval_``, unless ``random`` excludes labels.

    If rows were suggested, give the probabilities of all labels, to ``fit`` and here. The error then is
    that of the rows without a label. For classes it was too large in trials, several times in some: a
    likely reason is that leaving a row out opens a gap that the suggestions had closed.

    Parameters
    ----------
    model : fitted estimator of this library, for one target
        It is not changed.
    X : array or data frame of shape (n_labels, n_features)
        The labeled rows, in the order in which they were labeled.
    y : array-like of shape (n_labels,)
    more : sequence of int, default=(10, 50, 100)
        How many more labels to look ahead to.
    label_probability : array-like of shape (n_labels,), optional
        The probability with which each row was given its label, as in ``fit``;
        :func:`label_probabilities` has it for rows that were suggested. Losses are weighted by
        the rows without a label that each label stands for. By default all count alike.
    random : array-like of bool of shape (n_labels,), optional
        Instead of probabilities, which rows were drawn at random: only these are evaluated.

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
    >>> model = XNVRegressor(members=None, random_state=0).fit(X, labels)
    >>> found = forecast_error(model, X[:100], y[:100], more=[100])
    >>> [round(number, 2) for number in found.now]
    [0.4, 0.3, 0.54]
    >>> [round(number, 2) for number in found.promised[0]]
    [0.34, 0.25, 0.48]
    >>> model.relabel(X[:200], y[:200]).cv_error_  # what it came to
    0.342...
    """
    X, y, judged, weight = _labeled_rows(model, X, y, random, label_probability)
    more_labels = np.asarray(more)
    if more_labels.ndim != 1 or more_labels.dtype.kind not in "iu" or (more_labels < 1).any():
        raise ValueError(f"more={more!r} must be whole numbers of at least 1, such as [10, 50].")
    classes = is_classifier(model)
    with one_blas_thread(look=False):
        sizes = _sizes(y, classes)
        views = views_alone(model)
        losses = np.array([_losses(views, X, y, size, judged) for size in sizes])
        told = None
        if len(judged) == len(y) and (weight is None or _knows_weights(model)):
            told = _told_by_the_model(model, len(y))
        of_views = float(np.average(losses[-1], weights=weight))
        theirs = views.relabel(X, y).loo_error_ if told is None else of_views
        ratio = _error_ratio(model, theirs, len(y))
    estimate = share_wrong if classes else mean_loss
    curve = [_error(estimate(row, weight), ratio, classes) for row in losses]
    ahead = forecast(sizes, losses, more_labels, weight, squared=not classes)
    promised = [_error(one, ratio, classes) for one in ahead]
    if told is not None:
        curve[-1] = told
        promised = [Estimate(*np.minimum(one, [told.value, told.value, np.inf])) for one in promised]
    return ErrorForecast(sizes, curve, more_labels, promised, _baseline(y[judged], weight, classes))


def _labeled_rows(
    model: Any, X: Any, y: Any, random: Any, label_probability: Any
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """The rows that have a label, their labels, which are evaluated and with which weights; checked."""
    check_is_fitted(model)
    if model._task == "ordinal":
        raise ValueError(
            "forecast_error knows root mean squared errors and error rates, and not errors in steps. "
            "Use an XNVClassifier on the same labels."
        )
    model._as_numbers(X)  # raises an error for rows unlike those of the fit
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
    weight = None
    if label_probability is not None:
        if random is not None:
            raise ValueError("random and label_probability both say which labels count. Give one.")
        weight = _weights(label_probability, len(y), known)
    X, y = _safe_indexing(X, known), y[known]
    judged = np.flatnonzero(at_random[known])
    if len(judged) < LEAST_JUDGED or len(y) < LEAST_LABELS:
        raise ValueError(
            f"{len(y)} labels, {len(judged)} of them of rows drawn at random, are too few to judge by. "
            f"Label {LEAST_LABELS} rows, at least {LEAST_JUDGED} of them at random."
        )
    return X, y, judged, weight


def _weights(label_probability: Any, n_rows: int, known: np.ndarray) -> np.ndarray | None:
    """(labels,) weights that sum to one; None if all are equal."""
    given = np.asarray(label_probability, dtype=np.float64)
    if given.shape != (n_rows,):
        raise ValueError(
            f"label_probability has shape {given.shape} and there are {n_rows} rows. Give one each."
        )
    p = given[known]
    check_label_probability(p)
    if len(p) == 0 or np.ptp(p) == 0:
        return None
    weight = rows_stood_for(p)
    return weight / weight.sum()


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


def _losses(views: Any, X: Any, y: np.ndarray, size: int, judged: np.ndarray) -> np.ndarray:
    """(judged,) losses of the fit with the first labels, on rows that it has not seen.

    A row that it has seen is predicted by a fit without the fold that holds the row. That fit chooses
    its ridge again: a ridge chosen with the row's label would make the error look smaller.
    """
    losses = np.full(len(y), np.nan)
    parts = [(np.arange(size), judged[judged >= size])]
    for fold in range(FOLDS):
        left_out = np.arange(fold, size, FOLDS)
        parts.append((np.setdiff1d(np.arange(size), left_out), np.intersect1d(left_out, judged)))
    for seen, unseen in parts:
        if len(unseen):
            predicted = _predict(views, X, y, seen, unseen)
            if is_classifier(views):
                losses[unseen] = predicted.astype(object) != y[unseen].astype(object)
            else:
                losses[unseen] = np.square(predicted - y[unseen].astype(np.float64))
    return losses[judged]


def _predict(views: Any, X: Any, y: np.ndarray, seen: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    if is_classifier(views) and (y[seen] == y[seen[0]]).all():
        return np.full(len(unseen), y[seen[0]], dtype=object)
    views.relabel(_safe_indexing(X, seen), y[seen])
    return views.predict(_safe_indexing(X, unseen))


def _knows_weights(model: Any) -> bool:
    """Whether labels had weights when the model was judged, too."""
    return all(problem.importance is not None for problem in model._solution.problems)


def _told_by_the_model(model: Any, n: int) -> Estimate | None:
    """The error of an ensemble that was fitted to these n labels; None if there is none, or unknown."""
    if model._ensembles is None or model.n_labeled_ != n or model.cv_error_interval_ is None:
        return None
    told = Estimate(model.cv_error_, *map(float, model.cv_error_interval_))
    return told if np.isfinite(told).all() else None


def _error_ratio(model: Any, of_views: float, n: int) -> float:
    """The model's mean loss on held-out labels, divided by that of its views.

    For classes add one error to both counts, so that zero errors do not imply zero risk.
    """
    if model._ensembles is None or not of_views > 0:
        return 1.0
    one_error = 1 / n if is_classifier(model) else 0.0
    return float((model.loo_error_ + one_error) / (of_views + one_error))


def _error(loss: Estimate, ratio: float, classes: bool) -> Estimate:
    """The model's error from the mean loss of its views; for numbers, the root of it."""
    if classes:
        return Estimate(*(min(part * ratio, 1.0) for part in loss))
    return Estimate(*(part * ratio for part in loss)).root()


def _baseline(y: np.ndarray, weight: np.ndarray | None, classes: bool) -> float:
    """The error of always predicting the mean, or the most frequent class."""
    if not classes:
        numbers = y.astype(np.float64)
        mean = np.average(numbers, weights=weight)
        return float(np.sqrt(np.average(np.square(numbers - mean), weights=weight)))
    _, codes = np.unique(y.astype(str), return_inverse=True)
    shares = np.bincount(codes, weight) / (len(y) if weight is None else 1.0)
    return float(1 - shares.max())
