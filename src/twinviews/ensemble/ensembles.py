"""Who sits on the committee, and what it says together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from twinviews.ensemble.anchor_graph import AnchorGraph, Anchors, centres_of
from twinviews.ensemble.blending import (
    ClassBlend,
    blend_classes,
    blend_numbers,
    class_log_mixture,
    two_sided,
)
from twinviews.ensemble.boosted_trees import MOST_CLASSES_FOR_BOOSTING, Boosting
from twinviews.ensemble.cross_fitting import CrossFit, Seat, cross_fit, folds_of
from twinviews.ensemble.gaussian_process import MOST_COLUMNS_FOR_WIDTHS, ColumnWidths
from twinviews.ensemble.learned_metric import InMetric, MetricRidges, TunedWidth
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import Labeled, Predictor, Recipe
from twinviews.method.probability import class_shares
from twinviews.passes.scaling import Scale, Scaling, rank_scaling, robust_scaling

# With fewer labels there is nothing to weigh members by.
LEAST_LABELS = 25
# Members are made with at most so many labels: most cost their number cubed.
MOST_LABELS = 1000
# Unlabeled rows for scales, gradients and graphs.
GUIDE_ROWS = 3000

STANDARD, UNSCALED, ROBUST, RANK = "standard", "unscaled", "robust", "rank"
# Columns whose spreads differ by less than this are as good as standardised.
_SAME_SPREAD = 1.01
_ANCHORS_OF_A_ROW = (3, 8)


class Member(NamedTuple):
    name: str
    scale: str
    weight: Annotated[float, "> 0"]
    fit: Annotated[Predictor, "D t"]
    folds: Annotated[tuple[Annotated[Predictor, "D t"], ...], "f"]


@dataclass(frozen=True)
class Committee:
    scales: Mapping[str, Annotated[Scale, "D"] | None]
    members: Annotated[tuple[Annotated[Member, "D t f"], ...], "j", ">= 1"]

    def _scaled(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """The rows on each scale that some member uses."""
        used = {member.scale for member in self.members}
        return {name: _on(scale, X) for name, scale in self.scales.items() if name in used}

    def metric(self) -> np.ndarray | None:
        """(D,) how much each standardised column counts in squared distances, summing to 1.

        The mean over the members that learned a metric, by their weight; None if there are none.
        """
        found, weights = [], []
        for member in self.members:
            if isinstance(member.fit, InMetric) and member.fit.metric.is_learned:
                scale = self.scales[member.scale]
                units = scale.spread if isinstance(scale, Scaling) else 1.0
                found.append(member.fit.metric.column_weights(units))
                weights.append(member.weight)
        return np.average(found, axis=0, weights=weights) if found else None


@dataclass(frozen=True)
class NumberCommittee(Committee):
    """A weighted mean of its members' predictions of one target.

    A row unlike all others, say in a column that hardly varied before, can drive one member to any
    number; none is believed beyond the bounds.
    """

    bounds: tuple[float, float]
    # Prediction of each labeled row by the committee without its fold.
    held_out: Annotated[np.ndarray, "m t"]
    fold_of: Annotated[np.ndarray, "m", "int64", "< f"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows, 1)"""
        on = self._scaled(X)
        return self._mean([member.fit(on[member.scale]) for member in self.members])

    def without_folds(self, X: np.ndarray) -> np.ndarray:
        """(rows, folds) what the committee says that has not seen that fold."""
        on = self._scaled(X)
        by_fold = [
            self._mean([member.folds[fold](on[member.scale]) for member in self.members])
            for fold in range(len(self.members[0].folds))
        ]
        return np.hstack(by_fold)

    def _mean(self, predictions: Sequence[np.ndarray]) -> np.ndarray:
        weights = [member.weight for member in self.members]
        return np.average(np.clip(predictions, *self.bounds), axis=0, weights=weights)


@dataclass(frozen=True)
class ClassCommittee(Committee):
    """A mixture of its members' probabilities."""

    blend: Annotated[ClassBlend, "j"]
    held_out: Annotated[np.ndarray, "m t"]  # decision values of labeled rows, without their fold

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows, t) log-odds for two classes, log-probabilities for more."""
        on = self._scaled(X)
        decisions = np.array([two_sided(member.fit(on[member.scale])) for member in self.members])
        return as_decision(class_log_mixture(decisions, self.blend))


def as_decision(log_p: np.ndarray) -> np.ndarray:
    return log_p[:, 1:] - log_p[:, :1] if log_p.shape[1] == 2 else log_p


def number_committee(
    labeled: Labeled, guides: np.ndarray, units: np.ndarray | None, own: Recipe, n_threads: int
) -> NumberCommittee:
    """For one target: ``own`` and the others, weighed.

    Rows come standardised; ``units`` (D,) are the spreads by which they were divided, if they were.
    """
    scales = _scales(guides, units)
    fold_of = folds_of(labeled.Y, classes=False)
    D = labeled.X.shape[1]
    seats = [Seat(STANDARD, own), Seat(STANDARD, TunedWidth(D))]
    for scale in scales:
        seats += [Seat(scale, MetricRidges(kernel, 2.0, D)) for kernel in ("gaussian", "laplace")]
        seats += _smooth_seats(scale, D)
    made = _cross_fit(seats, scales, labeled, guides, fold_of, n_threads)
    bounds = _bounds(labeled.Y[:, 0])
    held_out = np.clip(made.held_out[:, :, 0], *bounds)
    weights = blend_numbers(held_out, labeled.Y[:, 0], labeled.weight)
    return NumberCommittee(
        scales,
        _members(made, weights, keep_folds=True),
        bounds=bounds,
        held_out=(weights @ held_out)[:, None],
        fold_of=fold_of,
    )


def _bounds(y: np.ndarray) -> tuple[float, float]:
    """As far beyond the labels, on either side, as they lie apart."""
    low, high = float(y.min()), float(y.max())
    return low - (high - low), high + (high - low)


def class_committee(
    labeled: Labeled,
    guides: np.ndarray,
    units: np.ndarray | None,
    own: Recipe,
    n_threads: int,
    seed: int,
) -> ClassCommittee:
    """For all classes together: ``own`` and the others, weighed."""
    scales = {name: scale for name, scale in _scales(guides, units).items() if name != ROBUST}
    fold_of = folds_of(labeled.Y, classes=True)
    D, n_classes = labeled.X.shape[1], max(labeled.Y.shape[1], 2)
    seats = [Seat(STANDARD, own), Seat(STANDARD, TunedWidth(D))]
    for name, scale in scales.items():
        seats.append(Seat(name, MetricRidges("laplace", 1.0, D, matrix=False)))
        seats += _smooth_seats(name, D)
        rows = _on(scale, guides)
        centres = centres_of(rows, seed)
        seats += [
            Seat(name, AnchorGraph.of(Anchors(centres, near), rows)) for near in _ANCHORS_OF_A_ROW
        ]
    if n_classes <= MOST_CLASSES_FOR_BOOSTING:
        seats.append(Seat(STANDARD, Boosting(seed), in_threads=False))
    made = _cross_fit(seats, scales, labeled, guides, fold_of, n_threads)
    held_out = two_sided(made.held_out)
    blend = blend_classes(held_out, class_shares(labeled.Y), labeled.weight)
    decision = as_decision(class_log_mixture(held_out, blend))
    kept = np.flatnonzero(blend.weights > 0)
    blend = ClassBlend(blend.weights[kept], blend.sureness[kept], blend.temper)
    all_weights = np.zeros(len(made.names))
    all_weights[kept] = blend.weights
    return ClassCommittee(
        scales, _members(made, all_weights, keep_folds=False), blend=blend, held_out=decision
    )


def _scales(guides: np.ndarray, units: np.ndarray | None) -> dict[str, Scale | None]:
    """The same rows four ways; unscaled only if that is another way.

    Where all columns have one unit, as pixels have, a column of small spread matters little, and to
    blow it up is to add noise.
    """
    scales: dict[str, Scale | None] = {STANDARD: None}
    if units is not None and units.max() > _SAME_SPREAD * units.min():
        scales[UNSCALED] = Scaling(np.zeros_like(units), units.max() / units, None)
    return {**scales, ROBUST: robust_scaling(guides), RANK: rank_scaling(guides)}


def _on(scale: Scale | None, X: np.ndarray) -> np.ndarray:
    return X if scale is None else scale(X)


def _smooth_seats(scale: str, D: int) -> list[Seat]:
    linear = Seat(scale, LinearRidge())
    return [Seat(scale, ColumnWidths()), linear] if D <= MOST_COLUMNS_FOR_WIDTHS else [linear]


def _cross_fit(
    seats: Sequence[Seat],
    scales: Mapping[str, Scale | None],
    labeled: Labeled,
    guides: np.ndarray,
    fold_of: np.ndarray,
    n_threads: int,
) -> CrossFit:
    on = {name: labeled.on(scale) for name, scale in scales.items()}
    unlabeled = {name: _on(scale, guides) for name, scale in scales.items()}
    return cross_fit(seats, on, unlabeled, fold_of, n_threads)


def _members(made: CrossFit, weights: np.ndarray, *, keep_folds: bool) -> tuple[Member, ...]:
    return tuple(
        Member(
            made.names[j],
            made.scales[j],
            float(weights[j]),
            made.full[j],
            tuple(fold[j] for fold in made.folds) if keep_folds else (),
        )
        for j in np.flatnonzero(weights > 0)
    )
