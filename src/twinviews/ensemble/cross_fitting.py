"""Every member fitted on all labeled rows, and again without each fold of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from twinviews._system.threads import map_in_order
from twinviews.ensemble.member import Labeled, Predictor, Recipe

# The fewer the labels, the more each that is left out is missed, and the wider intervals come out.
_FOLDS_OF_FEW, _FEW, _FOLDS = 10, 250, 5


class Seat(NamedTuple):
    """A recipe and the scale on which it sees the rows."""

    scale: str
    recipe: Recipe
    # joblib, inside scikit-learn, sets and resets Python's warnings, which all threads share.
    in_threads: bool = True


class CrossFit(NamedTuple):
    """Members in the order of the seats; a seat may hold several."""

    names: tuple[str, ...]
    scales: tuple[str, ...]
    full: list[Predictor]
    folds: list[list[Predictor]]  # fold, member
    held_out: np.ndarray  # (J, m, t) predictions of rows by the fit without their fold


def folds_of(Y: np.ndarray, *, classes: bool) -> np.ndarray:
    """(m,) fold of each row: equal in size, and in each class. Ten of few numbers, else five.

    Rows come in an order that depends on their values alone and not on their labels, so to deal them
    out in turn is as good as at random.
    """
    m = len(Y)
    if not classes:
        return np.arange(m) % (_FOLDS_OF_FEW if m < _FEW else _FOLDS)
    code = Y[:, 0] > 0 if Y.shape[1] == 1 else Y.argmax(axis=1)
    order = np.argsort(code, kind="stable")
    fold = np.empty(m, int)
    fold[order] = np.arange(m) % _FOLDS
    return fold


def cross_fit(
    seats: Sequence[Seat],
    labeled: Mapping[str, Labeled],
    unlabeled: Mapping[str, np.ndarray],
    fold_of: np.ndarray,
    n_threads: int,
) -> CrossFit:
    n_folds = int(fold_of.max()) + 1

    def fit(job: tuple[Seat, int]) -> list[Predictor]:
        (scale, recipe, _), fold = job
        rows = labeled[scale]
        if fold < n_folds:
            rows = rows.take(np.flatnonzero(fold_of != fold))
        return recipe.fit(rows, unlabeled[scale])

    jobs = [(seat, fold) for seat in seats for fold in range(n_folds + 1)]
    threaded = [number for number, (seat, _) in enumerate(jobs) if seat.in_threads]
    results = map_in_order(fit, [jobs[number] for number in threaded], n_threads)
    fitted = dict(zip(threaded, results, strict=True))
    fitted |= {number: fit(job) for number, job in enumerate(jobs) if number not in fitted}
    by_fold: list[list[Predictor]] = [[] for _ in range(n_folds + 1)]
    for number, (_, fold) in enumerate(jobs):
        by_fold[fold] += fitted[number]
    *folds, full = by_fold
    members = [(name, seat.scale) for seat in seats for name in seat.recipe.names]
    names, scales = zip(*members, strict=True)
    held_out = np.empty((len(full), *next(iter(labeled.values())).Y.shape))
    for fold, predictors in enumerate(folds):
        rows = np.flatnonzero(fold_of == fold)
        for member, predictor in enumerate(predictors):
            held_out[member, rows] = predictor(labeled[scales[member]].X[rows])
    return CrossFit(names, scales, full, folds, held_out)
