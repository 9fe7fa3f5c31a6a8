"""Every member fitted on all labeled rows, and again without each fold of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order
from twinviews.ensemble.member import Labeled, MemberSpec, Predictor, RecipeWithStarts, class_codes

# With few labels, leaving out a large fold would cost accuracy and widen the intervals: of very few,
# each is left out alone.
_VERY_FEW, _FOLDS_OF_FEW, _FEW, _FOLDS = 25, 10, 250, 5
# Unlabeled rows on which the fit on all labels is compared with the fits without a fold.
_ROWS_TO_COMPARE = 200
# How much farther from the folds' fits, in squares, the fit on all labels may be than any of them.
_FARTHER = 2.0


class CrossFit(NamedTuple):
    """Members in the order of their specifications; one recipe may make several."""

    names: tuple[str, ...]
    scales: tuple[str, ...]
    full: list[Predictor]  # on all labels, or the central fold's where that one strays
    folds: list[list[Predictor]]  # fold, member
    held_out: np.ndarray  # (J, m, t) predictions of rows by the fit without their fold


def folds_of(Y: np.ndarray, *, classes: bool, cluster: np.ndarray | None = None) -> np.ndarray:
    """(m,) fold of each row, of equal size, also within classes; ten for few numbers, else five.

    Of very few labels each is a fold. The order of the rows depends on their values and not on their
    labels, so assigning them in turn is as good as assigning them at random. Rows of a ``cluster``
    (m,) are in one fold.
    """
    if cluster is not None:
        return _folds_of_clusters(class_codes(Y) if classes else None, cluster)
    m = len(Y)
    if m < _VERY_FEW:
        return np.arange(m)
    if not classes:
        return np.arange(m) % (_FOLDS_OF_FEW if m < _FEW else _FOLDS)
    order = np.argsort(class_codes(Y), kind="stable")
    fold = np.empty(m, int)
    fold[order] = np.arange(m) % _FOLDS
    return fold


def _folds_of_clusters(codes: np.ndarray | None, cluster: np.ndarray) -> np.ndarray:
    """(m,) each cluster, the largest first, where it makes labels, or those of classes, most even."""
    units = np.unique(cluster, return_inverse=True)[1]
    codes = np.zeros(len(units), int) if codes is None else codes
    n_units = int(units.max()) + 1
    counts = np.zeros((n_units, int(codes.max()) + 1))
    np.add.at(counts, (units, codes), 1)
    if n_units < _VERY_FEW:
        return np.asarray(units)
    few = counts.shape[1] == 1 and n_units < _FEW
    in_fold = np.zeros((_FOLDS_OF_FEW if few else _FOLDS, counts.shape[1]))
    fold = np.empty(n_units, int)
    for unit in np.argsort(-counts.sum(axis=1), kind="stable"):
        # Of the sum of squares over folds, what depends on the fold; then the fold of fewest rows.
        uneven = in_fold @ (counts[unit] / counts.sum(axis=0))
        fold[unit] = np.lexsort((in_fold.sum(axis=1), np.round(uneven, 9)))[0]
        in_fold[fold[unit]] += counts[unit]
    return np.asarray(fold[units])


def cross_fit(
    specs: Sequence[MemberSpec],
    labeled: Mapping[str, Labeled],
    unlabeled: Mapping[str, np.ndarray],
    fold_of: np.ndarray,
    learned: np.ndarray,
    bounds: tuple[float, float],
    n_threads: int,
    *,
    progress: bool = False,
    held_out_alone: bool = False,
) -> CrossFit:
    """All members fitted, and their predictions of the rows of the fold that was left out.

    ``learned`` (m,) says which rows are learned from; the others are predicted only. With
    ``held_out_alone`` there are no fits on all labels: those without the first fold take their place.
    """
    n_folds = int(fold_of.max()) + 1

    def fit(job: tuple[int, int]) -> list[Predictor]:
        number, fold = job
        scale, recipe = specs[number][:2]
        rows, chosen = labeled[scale], learned & (fold_of != fold)
        if not chosen.all():
            rows = rows.take(np.flatnonzero(chosen))
        if fold == n_folds and isinstance(recipe, RecipeWithStarts):
            made = recipe.fit_after(rows, unlabeled[scale], [fitted[number, k] for k in range(n_folds)])
        else:
            made = recipe.fit(rows, unlabeled[scale])
        if len(made) != len(recipe.names):
            raise ValueError(
                f"The recipe of {', '.join(recipe.names)} made {len(made)} members for "
                f"{len(recipe.names)} names. Return one for each."
            )
        return made

    fitted: dict[tuple[int, int], list[Predictor]] = {}  # by specification and fold
    # The fits on all labels come last: some start from those without a fold.
    rounds = [[*range(n_folds)], [] if held_out_alone else [n_folds]]
    with progress_bar(len(specs) * sum(map(len, rounds)), progress, unit="fits") as bar:
        for folds_now in rounds:
            jobs = [(number, fold) for number in range(len(specs)) for fold in folds_now]
            threaded = [job for job in jobs if specs[job[0]].in_threads]
            for job, made in zip(threaded, map_in_order(fit, threaded, n_threads), strict=True):
                fitted[job] = made
                bar.update()
            for job in jobs:
                if job not in fitted:
                    fitted[job] = fit(job)
                    bar.update()
    folds = [_in_order(fitted, len(specs), fold) for fold in range(n_folds)]
    members = [(name, spec.scale) for spec in specs for name in spec.recipe.names]
    names, scales = zip(*members, strict=True)
    held_out = np.empty((len(names), *next(iter(labeled.values())).Y.shape))
    for fold, predictors in enumerate(folds):
        rows = np.flatnonzero(fold_of == fold)
        for member, predictor in enumerate(predictors):
            held_out[member, rows] = predictor(labeled[scales[member]].X[rows])
    for member, predicted in enumerate(held_out):
        if np.isnan(predicted).any():
            raise ValueError(
                f"The member {names[member]!r} predicts something that is not a number. Mend it, or "
                f"leave it out of members."
            )
    rows_of = {scale: rows[:_ROWS_TO_COMPARE] for scale, rows in unlabeled.items()}
    if held_out_alone:
        return CrossFit(names, scales, folds[0], folds, held_out)
    full = _in_order(fitted, len(specs), n_folds)
    shipped = [
        like_the_folds(full[member], [fold[member] for fold in folds], rows_of[scale], bounds)
        for member, scale in enumerate(scales)
    ]
    return CrossFit(names, scales, shipped, folds, held_out)


def _in_order(fitted: Mapping[tuple[int, int], list[Predictor]], n: int, fold: int) -> list[Predictor]:
    """The members of a fold, in the order of their specifications."""
    return [predictor for number in range(n) for predictor in fitted[number, fold]]


def like_the_folds(
    full: Predictor, folds: Sequence[Predictor], rows: np.ndarray, bounds: tuple[float, float]
) -> Predictor:
    """The fit on all labels or, if it is unlike the fits that were judged, the most central of those.

    A member is judged by its fits without a fold, and it is another fit that predicts. That one may
    have ended in a worse optimum, which no held-out label shows, but unlabeled rows do: there its
    distance from the mean of the folds' fits is compared with that of each fold's fit from the
    mean of the other ones. Predictions are clipped to the bounds, as they are in the ensemble.
    """
    at_folds = np.clip([fold(rows) for fold in folds], *bounds)
    mean = at_folds.mean(axis=0)
    # Leaving a fit out of the mean moves the mean away from it.
    off = np.square(at_folds - mean).sum(axis=(1, 2)) * (len(folds) / (len(folds) - 1)) ** 2
    if np.square(np.clip(full(rows), *bounds) - mean).sum() <= _FARTHER * off.max():
        return full
    return folds[int(off.argmin())]
