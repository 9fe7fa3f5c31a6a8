"""Several fitted members as one predictor, weighted by their predictions of held-out labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from twinviews.ensemble.blending import (
    SUREST,
    ClassBlend,
    blend_classes,
    blend_numbers,
    class_log_mixture,
    two_sided,
    without_the_least,
)
from twinviews.ensemble.cross_fitting import CrossFit, cross_fit, folds_of
from twinviews.ensemble.leading_directions import DIRECTIONS, LeadingDirections, OnDirections
from twinviews.ensemble.learned_metric import InMetric
from twinviews.ensemble.many_labels import (
    SOME_LABELS,
    specs_for_all_labels,
    specs_for_some_labels,
)
from twinviews.ensemble.member import Labeled, MemberContext, MemberSpec, Predictor
from twinviews.ensemble.outlying_labels import (
    are_alike,
    are_unlike_others,
    far_labels,
    is_better_without,
)
from twinviews.ensemble.scales import STANDARD, on_scale
from twinviews.ensemble.unvaried_columns import UnvariedColumns, unvaried_columns
from twinviews.method.uncertainty import class_shares
from twinviews.passes.scaling import Scale, Scaling

# With fewer labels the weights would be arbitrary.
LEAST_LABELS = 5
# How often labels that are far from their predictions are looked for.
MOST_ROUNDS = 3
# Unlabeled rows for scales, gradients and graphs: so many, and fewer of wide tables.
_UNLABELED_ROWS, _LEAST_UNLABELED_ROWS, _UNLABELED_VALUES = 3000, 300, 6_000_000


def n_unlabeled_rows(rows: Any) -> int:
    """How many unlabeled rows members see at most; of sparse rows they see directions."""
    n_columns = 1 if issparse(rows) else rows.shape[1]
    return max(_LEAST_UNLABELED_ROWS, min(_UNLABELED_ROWS, _UNLABELED_VALUES // n_columns))


class Member(NamedTuple):
    name: str
    scale: str
    weight: Annotated[float, "> 0"]
    fit: Annotated[Predictor, "D t"]
    folds: Annotated[tuple[Annotated[Predictor, "D t"], ...], "f"]

    @property
    def told_name(self) -> str:
        """With the scale; members on directions have theirs in the name."""
        return self.name if isinstance(self.fit, OnDirections) else f"{self.name}, {self.scale}"


@dataclass(frozen=True)
class Ensemble:
    """Fitted members and the scales of the rows that they see."""

    # Of sparse rows only the rows themselves: members on directions hold these.
    scales: Mapping[str, Annotated[Scale, "D"] | None]
    members: Annotated[tuple[Annotated[Member, "D t f"], ...], "j", ">= 1"]
    # Columns of which labels tell nothing; None in older files, too.
    unvaried: Annotated[UnvariedColumns, "D"] | None = field(default=None, kw_only=True)

    def _scaled(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """The rows on each scale that some member uses."""
        X = X if self.unvaried is None else self.unvaried(X)
        used = {member.scale for member in self.members}
        return {name: on_scale(scale, X) for name, scale in self.scales.items() if name in used}

    def by_weight(self) -> list[tuple[str, float]]:
        """Names and weights of the members, the largest weight first."""
        members = sorted(self.members, key=lambda member: -member.weight)
        return [(member.told_name, round(member.weight, 3)) for member in members]

    def metric(self) -> np.ndarray | None:
        """(D,) weight of each standardised column in squared distances; they sum to 1.

        The weighted mean over the members that learned a metric; None if there are none.
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
class RegressionEnsemble(Ensemble):
    """A weighted mean of its members' predictions of one target.

    A row unlike all others, say in a column that hardly varied before, can drive one member to any
    number; predictions beyond the bounds are clipped.
    """

    bounds: tuple[float, float]
    # Prediction of each labeled row by the fits without its fold, with the weights of that fold.
    held_out: Annotated[np.ndarray, "m t"]
    fold_of: Annotated[np.ndarray, "m", "int64", "< f"]
    # Weights from the labels outside each fold; None in files of the preview: those of the members.
    fold_weights: Annotated[np.ndarray, "f j", ">= 0"] | None = None
    # Labels so far from what all others predict that the fit was made without them.
    outlying: Annotated[np.ndarray, "o", "int64", "< m"] | None = None
    # How far members without a fold are apart at its labeled rows; None in older files.
    held_out_spread: Annotated[np.ndarray, "m", ">= 0"] | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows, 1)"""
        on = self._scaled(X)
        weights = [member.weight for member in self.members]
        return self._mean([member.fit(on[member.scale]) for member in self.members], weights)

    def without_folds(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rows, folds) predictions of the ensemble without that fold, and its members' deviation."""
        on = self._scaled(X)
        means, spreads = [], []
        for fold in range(len(self.members[0].folds)):
            predictions = [member.folds[fold](on[member.scale]) for member in self.members]
            weights = self._weights_without(fold)
            means.append(self._mean(predictions, weights))
            off = np.square(np.clip(predictions, *self.bounds) - means[-1])
            spreads.append(np.sqrt(np.average(off, axis=0, weights=weights)))
        return np.hstack(means), np.hstack(spreads)

    def _weights_without(self, fold: int) -> Sequence[float]:
        if self.fold_weights is None:
            return [member.weight for member in self.members]
        return list(self.fold_weights[fold])

    def _mean(self, predictions: Sequence[np.ndarray], weights: Sequence[float]) -> np.ndarray:
        return np.average(np.clip(predictions, *self.bounds), axis=0, weights=weights)


@dataclass(frozen=True)
class ClassificationEnsemble(Ensemble):
    """A mixture of its members' probabilities."""

    blend: Annotated[ClassBlend, "j"]
    # Decision values of labeled rows by the fits, and the blend, without their fold.
    held_out: Annotated[np.ndarray, "m t"]
    # The fold of each labeled row, and the blend of the labels outside it; None in older files.
    fold_of: Annotated[np.ndarray, "m", "int64", "< f"] | None = None
    fold_blends: Annotated[tuple[Annotated[ClassBlend, "j"], ...], "f"] | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows, t) log-odds for two classes, log-probabilities for more."""
        on = self._scaled(X)
        decisions = np.array([two_sided(member.fit(on[member.scale])) for member in self.members])
        return as_decision(class_log_mixture(decisions, self.blend))

    def without_folds(self, X: np.ndarray) -> np.ndarray:
        """(rows, folds, K) probabilities by the ensemble without that fold."""
        assert self.fold_blends is not None, "not from an older file"
        on = self._scaled(X)
        found = []
        for fold, blend in enumerate(self.fold_blends):
            fits = [member.folds[fold](on[member.scale]) for member in self.members]
            found.append(np.exp(class_log_mixture(np.array([two_sided(fit) for fit in fits]), blend)))
        return np.stack(found, axis=1)


def as_decision(log_p: np.ndarray) -> np.ndarray:
    return log_p[:, 1:] - log_p[:, :1] if log_p.shape[1] == 2 else log_p


class Judging(NamedTuple):
    """How members are compared: on rows of a fold, by the fits without it, with these weights."""

    fold_of: np.ndarray  # (m,)
    weight: np.ndarray  # (m,) sums to one

    def outside(self, learned: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each fold, the learned rows outside it and their weights, which sum to one."""
        for fold in range(int(self.fold_of.max()) + 1):
            rows = np.flatnonzero((self.fold_of != fold) & learned)
            yield rows, self.weight[rows] / self.weight[rows].sum()


def regression_ensemble(
    labeled: Labeled,
    choosing: np.ndarray,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    n_threads: int,
    *,
    progress: bool = False,
    most_rounds: int = MOST_ROUNDS,
) -> RegressionEnsemble:
    """Members fitted to one target, on standardised rows, and weighted.

    ``choosing`` (m,) are the weights of labels where members are compared. In each of ``most_rounds``
    labels that are slips are looked for.
    """
    context = _as_labeled_rows_are(context, labeled)
    if len(labeled.Y) > SOME_LABELS:
        some = _some(labeled, choosing)
        first = specs_for_some_labels(specs)
        found = _without_outlying(
            *some, first, context, n_threads, progress, most_rounds, weights_alone=True
        )
        specs = specs_for_all_labels(specs, _weights_of(found), len(labeled.Y))
    return _without_outlying(labeled, choosing, specs, context, n_threads, progress, most_rounds)


def _some(labeled: Labeled, choosing: np.ndarray) -> tuple[Labeled, np.ndarray]:
    """The labels that all members are fitted to, where there are more."""
    weight = choosing[:SOME_LABELS]
    return labeled.take(np.arange(SOME_LABELS)), weight / weight.sum()


def _weights_of(ensemble: Ensemble) -> list[tuple[str, str, float]]:
    return [(member.name, member.scale, member.weight) for member in ensemble.members]


def _without_outlying(
    labeled: Labeled,
    choosing: np.ndarray,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    n_threads: int,
    progress: bool,
    most_rounds: int,
    *,
    weights_alone: bool = False,
) -> RegressionEnsemble:
    """Members fitted and weighted, without labels that are slips."""
    fit = partial(
        _weighted,
        labeled,
        specs,
        context,
        n_threads=n_threads,
        progress=progress,
        weights_alone=weights_alone,
    )
    y, fold_of = labeled.Y[:, 0], folds_of(labeled.Y, classes=False, cluster=labeled.cluster)
    judging = Judging(fold_of, choosing)
    nothing, X = np.zeros(len(y), bool), _dense_rows(labeled, context)
    found, left_out = fit(judging, nothing), nothing
    for _ in range(most_rounds):
        residual = y - found.held_out[:, 0]
        far = far_labels(residual, y, labeled.weight)
        if not far.any() or (far == left_out).all() or are_unlike_others(X, y, far):
            break
        without = fit(judging, far)
        after = y - without.held_out[:, 0]
        if are_alike(X, far_labels(after, y, labeled.weight)):
            break
        # Labels that were far from a spoiled fit only come back; others must be worth leaving out.
        if (far > left_out).any() and not is_better_without(residual, after, y, labeled.weight):
            break
        found, left_out = without, far
    return found


def _weighted(
    labeled: Labeled,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    judging: Judging,
    left_out: np.ndarray,
    n_threads: int,
    progress: bool,
    weights_alone: bool,
) -> RegressionEnsemble:
    """Members fitted to the labels that are not left out, and weighted by these.

    With ``weights_alone`` no member is fitted to all labels: only its weight is asked for.
    """
    learned, fold_of = ~left_out, judging.fold_of
    bounds = _bounds(labeled.Y[learned, 0])
    made = _cross_fit(
        labeled, specs, context, fold_of, bounds, learned, n_threads, progress, weights_alone
    )
    held_out, y = np.clip(made.held_out[:, :, 0], *bounds), labeled.Y[:, 0]
    # Each fold is judged with weights from the labels outside it; the mean of these weights predicts.
    group = _groups_of(specs)
    by_fold = np.array(
        [
            blend_numbers(held_out[:, rows], y[rows], weight, group)
            for rows, weight in judging.outside(learned)
        ]
    )
    weights = without_the_least(by_fold.mean(axis=0))
    kept = weights > 0
    fold_weights = by_fold[:, kept] / by_fold[:, kept].sum(axis=1, keepdims=True)
    mean = np.einsum("mj,jm->m", fold_weights[fold_of], held_out[kept])
    squares = np.einsum("mj,jm->m", fold_weights[fold_of], np.square(held_out[kept] - mean))
    return RegressionEnsemble(
        _stored_scales(context),
        _members(made, weights, context),
        bounds=bounds,
        held_out=mean[:, None],
        held_out_spread=np.sqrt(squares),
        fold_of=fold_of,
        fold_weights=fold_weights,
        outlying=np.flatnonzero(left_out) if left_out.any() else None,
        unvaried=unvaried_columns(labeled.X),
    )


def _groups_of(specs: Sequence[MemberSpec]) -> np.ndarray:
    """(J,) one group of the members of the library, one of each that the user gives."""
    groups = [number + 1 if spec.given else 0 for number, spec in enumerate(specs)]
    return np.repeat(groups, [len(spec.recipe.names) for spec in specs])


def _bounds(y: np.ndarray) -> tuple[float, float]:
    """The range of the labels, extended by its length on either side."""
    low, high = float(y.min()), float(y.max())
    return low - (high - low), high + (high - low)


def classification_ensemble(
    labeled: Labeled,
    choosing: np.ndarray,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    n_threads: int,
    *,
    progress: bool = False,
) -> ClassificationEnsemble:
    """Members fitted to all classes together, on standardised rows, and weighted."""
    context = _as_labeled_rows_are(context, labeled)
    if len(labeled.Y) > SOME_LABELS:
        some = _some(labeled, choosing)
        first = specs_for_some_labels(specs)
        found = _of_classes(*some, first, context, n_threads, progress, weights_alone=True)
        specs = specs_for_all_labels(specs, _weights_of(found), len(labeled.Y))
    return _of_classes(labeled, choosing, specs, context, n_threads, progress)


def _of_classes(
    labeled: Labeled,
    choosing: np.ndarray,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    n_threads: int,
    progress: bool,
    *,
    weights_alone: bool = False,
) -> ClassificationEnsemble:
    judging = Judging(folds_of(labeled.Y, classes=True, cluster=labeled.cluster), choosing)
    fold_of = judging.fold_of
    bounds = (-SUREST, SUREST)
    everything = np.ones(len(fold_of), bool)
    made = _cross_fit(
        labeled, specs, context, fold_of, bounds, everything, n_threads, progress, weights_alone
    )
    held_out, share = two_sided(made.held_out), class_shares(labeled.Y)
    group = _groups_of(specs)
    blend = blend_classes(held_out, share, choosing, group)
    # The blend fits every label, so each fold is judged by the blend of the labels outside it.
    log_p, without = np.empty_like(share), []
    for fold, (rows, weight) in enumerate(judging.outside(everything)):
        without.append(blend_classes(held_out[:, rows], share[rows], weight, group))
        log_p[fold_of == fold] = class_log_mixture(held_out[:, fold_of == fold], without[-1])
    kept = np.flatnonzero(blend.weights > 0)
    blend = _blend_of(blend, kept)
    all_weights = np.zeros(len(made.names))
    all_weights[kept] = blend.weights
    return ClassificationEnsemble(
        _stored_scales(context),
        _members(made, all_weights, context),
        blend=blend,
        held_out=as_decision(log_p),
        fold_of=fold_of,
        fold_blends=tuple(_blend_of(one, kept) for one in without),
        unvaried=unvaried_columns(labeled.X),
    )


def _blend_of(blend: ClassBlend, kept: np.ndarray) -> ClassBlend:
    """The blend of some members alone."""
    weights = blend.weights[kept]
    if not weights.any():
        weights = np.ones(len(kept))
    assert blend.offsets is not None, "only blends of older files have none"
    return ClassBlend(weights / weights.sum(), blend.sureness[kept], blend.temper, blend.offsets[kept])


def _as_labeled_rows_are(context: MemberContext, labeled: Labeled) -> MemberContext:
    """The context, with unlabeled rows as labeled ones are in columns that do not vary among these."""
    unvaried = unvaried_columns(labeled.X)
    return context if unvaried is None else context._replace(unlabeled=unvaried(context.unlabeled))


def _cross_fit(
    labeled: Labeled,
    specs: Sequence[MemberSpec],
    context: MemberContext,
    fold_of: np.ndarray,
    bounds: tuple[float, float],
    learned: np.ndarray,
    n_threads: int,
    progress: bool,
    held_out_alone: bool,
) -> CrossFit:
    on = {name: labeled.on(scale) for name, scale in context.scales.items()}
    unlabeled = {name: on_scale(scale, context.unlabeled) for name, scale in context.scales.items()}
    how = {"progress": progress, "held_out_alone": held_out_alone}
    return cross_fit(specs, on, unlabeled, fold_of, learned, bounds, n_threads, **how)


def _members(made: CrossFit, weights: np.ndarray, context: MemberContext) -> tuple[Member, ...]:
    found = []
    for j in np.flatnonzero(weights > 0):
        name, scale, fit = made.names[j], made.scales[j], made.full[j]
        folds = [fold[j] for fold in made.folds]
        leading = context.scales[scale]
        if isinstance(leading, LeadingDirections):
            name, scale, fit = f"{name}, {scale}", STANDARD, OnDirections(leading, fit)
            folds = [OnDirections(leading, fold) for fold in folds]
        found.append(Member(name, scale, float(weights[j]), fit, tuple(folds)))
    return tuple(found)


def _stored_scales(context: MemberContext) -> dict[str, Scale | None]:
    return {
        name: scale
        for name, scale in context.scales.items()
        if not isinstance(scale, LeadingDirections)
    }


def _dense_rows(labeled: Labeled, context: MemberContext) -> np.ndarray:
    """The labeled rows to compare with each other; of sparse ones their directions."""
    return context.scales[DIRECTIONS](labeled.X) if issparse(labeled.X) else labeled.X
