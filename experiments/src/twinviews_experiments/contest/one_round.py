"""One round: draw test rows, unlabeled rows and nested labels of a set, and let a method predict."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from twinviews.evaluation.draws import one_of_each_class_first
from twinviews.evaluation.measures import (
    calibration_bins,
    error_rate,
    log_loss,
    normalised_squared_error,
    share_inside,
    weighted_auc,
)
from twinviews_experiments.contest.competing_methods import Peer
from twinviews_experiments.contest.tuned_methods import Few
from twinviews_experiments.datasets.preparation import Task, prepare
from twinviews_experiments.datasets.public_sources import RawTable

LABELS = (50, 100, 200, 500)
REPETITIONS = 20
MOST_TEST_ROWS = 2000
MOST_ROWS = 10_000  # unlabeled ones among them; more if there are more labels than half of them
LEAST_LABELS = 10
_UNLABELED_IS_ENOUGH = MOST_ROWS // 2
INTERVAL_COVERAGE = 0.9
_TEST_SHARE = 0.3


class Draw(NamedTuple):
    """The rows of one repetition; every method and every n sees the same."""

    X: np.ndarray  # training rows, the first of them to be labeled
    y: np.ndarray  # NaN where unknown
    X_test: np.ndarray
    y_test: np.ndarray


class Outcome(NamedTuple):
    error: float
    seconds: float  # to tune and fit
    failure: str | None = None  # what went wrong, if the method could not predict at all
    calibration: float | None = None  # expected calibration error, of methods with probabilities
    coverage: float | None = None  # share of the test rows in their 90% interval, of methods with one
    width: float | None = None  # mean width of those, in deviations of the test targets
    auc: float | None = None  # each class against the rest, weighted by its share; of probabilities
    log_loss: float | None = None


def fewest_and_most_labels(raw: RawTable, task: Task) -> tuple[int, int]:
    """The values of n that a table has room for; none if the first is larger.

    Every class has a label. No test row is labeled, and as many rows as have a label, or 5,000, are
    left without.
    """
    known = ~np.isnan(raw.y)
    n_known = int(known.sum())
    n_train = n_known - _n_test(n_known)
    n_rows = n_train + int((~known).sum())
    most = min(n_train, max(n_rows // 2, n_rows - _UNLABELED_IS_ENOUGH))
    n_classes = len(np.unique(raw.y[known])) if task == "classification" else 0
    return max(LEAST_LABELS, n_classes), most


def rows_for(n: int) -> int:
    """Training rows of a draw, the same for all n up to 5,000."""
    return max(MOST_ROWS, n + _UNLABELED_IS_ENOUGH)


def _n_test(n_known: int) -> int:
    return min(MOST_TEST_ROWS, int(_TEST_SHARE * n_known))


def draw(raw: RawTable, task: Task, repetition: int, seed: int, most_rows: int = MOST_ROWS) -> Draw:
    """Test rows, then training rows: labeled ones first, in random order.

    For classes, the first labels hold one of each class, so that no method meets a class for the
    first time in the test rows.
    """
    rng = np.random.default_rng([seed, repetition])
    known = rng.permutation(np.flatnonzero(~np.isnan(raw.y)))
    n_test = _n_test(len(known))
    test, labeled = known[:n_test], known[n_test:]
    if task == "classification":
        labeled = one_of_each_class_first(labeled, raw.y)
    unknown = rng.permutation(np.flatnonzero(np.isnan(raw.y)))
    train = np.concatenate([labeled, unknown])[:most_rows]
    rows = np.concatenate([train, test])
    is_test = np.arange(len(rows)) >= len(train)
    features = {name: column[rows] for name, column in raw.features.items()}
    return Draw(*prepare(RawTable(features, raw.y[rows], is_test), len(train), seed=0))


def few_labels(rows: Draw, task: Task, n: int, seed: int) -> Few:
    """What every method of a round is given."""
    return Few(task, rows.X[:n], rows.y[:n], rows.X[n:], seed)


def play(peer: Peer, few: Few, rows: Draw) -> Outcome:
    """Error of the method on the test rows.

    A method that fails is given the error of the constant that suits its labels best, and the
    failure is noted: one peer's bug must not end a contest of hours, nor go unseen.
    """
    start = time.perf_counter()
    # Rounds run side by side, and threads on so few rows only wait for each other.
    with warnings.catch_warnings(), threadpool_limits(1):
        # Rare classes in folds, likelihoods at the edge of their bounds: a peer's own affair.
        warnings.simplefilter("ignore")
        try:
            model = peer.fit(few)
            seconds = time.perf_counter() - start
            predicted = np.ravel(model.predict(rows.X_test))  # CatBoost's classes are a column
            doubts = _doubts(model, rows)
        except Exception as problem:
            seconds = time.perf_counter() - start
            constant = np.full(len(rows.X_test), _constant(few))
            failure = f"{type(problem).__name__}: {problem}"
            return Outcome(_error(few.task, rows.y_test, constant), seconds, failure)
    return Outcome(_error(few.task, rows.y_test, predicted), seconds, None, **doubts)


def _error(task: Task, truth: np.ndarray, predicted: np.ndarray) -> float:
    measure = normalised_squared_error if task == "regression" else error_rate
    return measure(truth, predicted)


def _doubts(model: Any, rows: Draw) -> dict[str, float]:
    """How far the method's own word on its errors can be trusted, if it gives one."""
    if hasattr(model, "predict_proba"):
        truth = rows.y_test.astype(int)
        p = _of_all_classes(model, rows, 1 + int(np.nanmax(np.concatenate([rows.y, rows.y_test]))))
        measures = {"calibration": calibration_bins(truth, p).error, "log_loss": log_loss(truth, p)}
        auc = weighted_auc(truth, p)
        return measures if np.isnan(auc) else {**measures, "auc": auc}
    if hasattr(model, "predict_interval"):
        low, high = model.predict_interval(rows.X_test, coverage=INTERVAL_COVERAGE).T
        width = float(np.mean(high - low) / rows.y_test.std())
        return {"coverage": share_inside(rows.y_test, low, high), "width": width}
    return {}


def _of_all_classes(model: Any, rows: Draw, n_classes: int) -> np.ndarray:
    """(rows, K) probabilities of the test rows; a class that no label had is impossible to a method."""
    known = model.predict_proba(rows.X_test)
    # Label spreading says NaN of a row that is far from all others: no opinion.
    known = np.where(np.isnan(known).any(axis=1, keepdims=True), 1 / known.shape[1], known)
    p = np.zeros((len(known), n_classes))
    p[:, np.asarray(model.classes_).astype(int)] = known
    return p


def _constant(few: Few) -> float:
    """The mean of the labels, or the class that most of them are of."""
    if few.is_regression:
        return float(few.y.mean())
    classes, counts = np.unique(few.y, return_counts=True)
    return float(classes[counts.argmax()])
