"""One round: draw test rows, unlabeled rows and nested labels of a set, and let a method predict."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from twinviews.contest.peers import Few, Peer
from twinviews.datasets.measures import error_rate, normalised_squared_error
from twinviews.datasets.origins import RawTable
from twinviews.datasets.preparation import Task, prepare

LABELS = (50, 100, 200, 500)
MOST_TEST_ROWS = 2000
MOST_ROWS = 10_000  # unlabeled ones among them
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


def draw(raw: RawTable, task: Task, repetition: int, seed: int) -> Draw:
    """Test rows, then training rows: labeled ones first, in random order.

    For classes, the first labels hold one of each class, so that no method meets a class for the
    first time in the test rows.
    """
    rng = np.random.default_rng([seed, repetition])
    known = rng.permutation(np.flatnonzero(~np.isnan(raw.y)))
    n_test = min(MOST_TEST_ROWS, int(_TEST_SHARE * len(known)))
    test, labeled = known[:n_test], known[n_test:]
    if task == "classification":
        _, first = np.unique(raw.y[labeled], return_index=True)
        labeled = np.concatenate([labeled[first], np.delete(labeled, first)])
    unknown = rng.permutation(np.flatnonzero(np.isnan(raw.y)))
    train = np.concatenate([labeled, unknown])[:MOST_ROWS]
    rows = np.concatenate([train, test])
    is_test = np.arange(len(rows)) >= len(train)
    features = {name: column[rows] for name, column in raw.features.items()}
    return Draw(*prepare(RawTable(features, raw.y[rows], is_test), len(train), seed=0))


def play(peer: Peer, rows: Draw, task: Task, n: int, seed: int) -> Outcome:
    """Error on the test rows of the method with the first n labels.

    A method that fails is given the error of the constant that suits its labels best, and the
    failure is noted: one peer's bug must not end a contest of hours, nor go unseen.
    """
    few = Few(task, rows.X[:n], rows.y[:n], rows.X[n:], seed)
    start = time.perf_counter()
    failure = None
    # Rounds run side by side, and threads on so few rows only wait for each other.
    with warnings.catch_warnings(), threadpool_limits(1):
        # Rare classes in folds, likelihoods at the edge of their bounds: a peer's own affair.
        warnings.simplefilter("ignore")
        try:
            model = peer.fit(few)
            seconds = time.perf_counter() - start
            predicted = model.predict(rows.X_test)
        except Exception as problem:
            seconds = time.perf_counter() - start
            failure = f"{type(problem).__name__}: {problem}"
            predicted = np.full(len(rows.X_test), _constant(few))
    measure = normalised_squared_error if few.is_regression else error_rate
    return Outcome(measure(rows.y_test, predicted), seconds, failure)


def _constant(few: Few) -> float:
    """The mean of the labels, or the class that most of them are of."""
    if few.is_regression:
        return float(few.y.mean())
    classes, counts = np.unique(few.y, return_counts=True)
    return float(classes[counts.argmax()])
