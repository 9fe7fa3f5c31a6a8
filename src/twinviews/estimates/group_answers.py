"""Means, totals and shares, over all rows and by group, with and without predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twinviews.estimates.difference_estimator import (
    LabeledSample,
    MeanEstimate,
    UnlabeledRows,
    centred,
    difference_estimate,
    labels_worth,
    population_variance,
    share_variance,
)
from twinviews.estimates.interval_ends import mean_ends, share_ends
from twinviews.estimates.power_tuning import tuned_power
from twinviews.estimates.quantity import (
    PredictedLabels,
    Quantity,
    SampledRows,
    all_unlabeled_rows,
    labeled_sample,
    unlabeled_rows,
)
from twinviews.estimates.small_groups import (
    FEW_LABELS,
    BetweenGroups,
    compare_groups,
    drawn_to_all,
    pooled_variance,
)


class MeanAnswer(NamedTuple):
    """A mean of a quantity, by predictions and by labels alone."""

    sample: LabeledSample
    others: UnlabeledRows
    powered: MeanEstimate
    alone: MeanEstimate
    power: float
    is_share: bool
    is_shrunk: bool = False
    population: bool = False

    def ends(self, coverage: float) -> tuple[float, float]:
        return self._ends(self.powered, coverage)

    def alone_ends(self, coverage: float) -> tuple[float, float]:
        return self._ends(self.alone, coverage)

    def _ends(self, found: MeanEstimate, coverage: float) -> tuple[float, float]:
        if not self.is_share:
            return told_ends(found, coverage)
        if found.variance <= 0:
            return found.value, found.value
        if self.is_shrunk or not np.isfinite(found.variance):
            low, high = mean_ends(found.value, found.variance, found.degrees, coverage)
            return max(0.0, low), min(1.0, high)
        return told_share_ends(found, self.sample, found.value, coverage)

    @property
    def worth(self) -> float:
        """Random labels that alone would have this variance."""
        if self.is_shrunk or len(self.sample.y) < 2:
            return float("nan")
        how = {"population": self.population, "is_share": self.is_share}
        return labels_worth(self.powered.variance, self.sample, self.others, **how)


def told_ends(found: MeanEstimate, coverage: float) -> tuple[float, float]:
    """Of a mean of numbers, or a difference."""
    return mean_ends(found.value, found.variance, found.degrees, coverage, found.skewness)


def told_share_ends(
    found: MeanEstimate, sample: LabeledSample, value: float, coverage: float
) -> tuple[float, float]:
    """Of a share, if the estimate were this value."""
    spread = min(population_variance(sample, is_share=True), share_variance(value, sample))
    return share_ends(value, spread / found.variance, found.degrees, coverage)


def length(found: MeanEstimate) -> float:
    """Of the interval of a number, which is the same wherever the estimate is."""
    low, high = told_ends(found, 0.95)
    return high - low


def is_shorter(
    powered: MeanEstimate, alone: MeanEstimate, sample: LabeledSample, *, is_share: bool
) -> bool:
    """Whether predictions make the interval shorter, were both estimates the same."""
    if not is_share:
        return length(powered) < length(alone)
    if min(powered.variance, alone.variance) <= 0:
        return powered.variance < alone.variance
    (low, high), (low_alone, high_alone) = (
        told_share_ends(one, sample, alone.value, 0.95) for one in (powered, alone)
    )
    return high - low < high_alone - low_alone


class Options(NamedTuple):
    population: bool = False


def overall_answer(
    labels: PredictedLabels, groups: Sequence[SampledRows], quantity: Quantity, options: Options
) -> MeanAnswer:
    """Over the rows of all groups. Predictions count only where they make the variance smaller."""
    others = all_unlabeled_rows(groups, quantity, labels.fold_shares)
    sample = labeled_sample(labels, quantity).standing_for(others.weight)
    how = {"population": options.population, "is_share": quantity.is_share}
    power = tuned_power(sample.y, sample.predicted, sample.stands_for * sample.weight)
    alone = difference_estimate(sample, others, 0.0, **how)
    powered = difference_estimate(sample, others, power, **how)
    if not is_shorter(powered, alone, sample, is_share=quantity.is_share):
        powered, power = alone, 0.0
    return MeanAnswer(
        sample, others, powered, alone, power, quantity.is_share, population=options.population
    )


def group_answers(
    labels: PredictedLabels,
    group_of: np.ndarray,
    groups: Sequence[SampledRows],
    quantity: Quantity,
    power: float,
    options: Options,
) -> list[MeanAnswer]:
    """In each group; ``group_of`` (n,) is that of each label, ``power`` that of all rows."""
    sample = labeled_sample(labels, quantity)
    v = sample.stands_for * sample.weight
    compared = {
        one: compare_groups(sample.y - one * sample.predicted, group_of, v, is_share=quantity.is_share)
        for one in {0.0, power}
    }
    found = []
    for number, rows in enumerate(groups):
        own = np.flatnonzero(group_of == number)
        some = labels.take(own)
        shares = some.fold_shares if len(own) >= FEW_LABELS else labels.fold_shares
        others = unlabeled_rows(rows, quantity, shares)
        of_group = labeled_sample(some, quantity).standing_for(others.weight)
        # How clusters differ between groups is not known, so that nothing is pooled.
        few = len(own) < FEW_LABELS and labels.cluster is None
        make = _shrunk if few else _pooled
        powered, alone = (
            make(of_group, others, one, compared[one], options, is_share=quantity.is_share)
            for one in (power, 0.0)
        )
        counts = power
        is_share = quantity.is_share
        if not few and not is_shorter(powered, alone, of_group, is_share=is_share):
            powered, counts = alone, 0.0
        if some.cluster is not None and len(np.unique(some.cluster)) < 2:
            unknown = MeanEstimate(powered.value, np.inf, 0.0, powered.weight)
            powered, alone = unknown, unknown._replace(value=np.nan)
        elif few and len(own) < 2:
            alone = MeanEstimate(np.nan, np.inf, 0.0, alone.weight)
        elif few:
            how = {"population": options.population, "is_share": quantity.is_share}
            alone = difference_estimate(of_group, others, 0.0, **how)
        found.append(
            MeanAnswer(
                of_group,
                others,
                powered,
                alone,
                counts,
                quantity.is_share,
                few,
                options.population,
            )
        )
    return found


def _pooled(
    sample: LabeledSample,
    others: UnlabeledRows,
    power: float,
    groups: BetweenGroups,
    options: Options,
    *,
    is_share: bool,
) -> MeanEstimate:
    """By the labels of the group, with a variance that all groups tell of."""
    found = difference_estimate(sample, others, power, population=options.population, is_share=is_share)
    factor = float(sample.factor.sum())
    if is_share or factor <= 0 or sample.cluster is not None:
        return found
    residual = sample.y - power * sample.predicted
    own = float(sample.factor @ np.square(centred(sample, residual))) / factor
    pooled, degrees = pooled_variance(own, len(residual), groups.within)
    variance = found.variance + (pooled - own) * factor / found.weight**2
    return found._replace(variance=variance, degrees=max(found.degrees, degrees))


def _shrunk(
    sample: LabeledSample,
    others: UnlabeledRows,
    power: float,
    groups: BetweenGroups,
    options: Options,
    *,
    is_share: bool,
) -> MeanEstimate:
    """With the mean residual drawn to that of all groups."""
    n = len(sample.y)
    v = sample.stands_for * sample.weight
    residual = sample.y - power * sample.predicted
    own = float(v @ residual / v.sum()) if n and v.sum() > 0 else 0.0
    correction, variance = drawn_to_all(own, n, groups)
    known = float(sample.weight.sum())
    total = known + others.weight
    of_others = power * others.mean + correction
    value = (float(sample.weight @ sample.y) + others.weight * of_others) / total
    if others.weight > 0:
        variance += groups.within * others.squares / others.weight**2 + power**2 * others.variance
    variance *= (others.weight / total) ** 2
    if options.population:
        squares = float(np.square(sample.weight).sum()) + others.squares
        variance += groups.within * squares / total**2
    return MeanEstimate(value, variance, max(n - 1, 0) + FEW_LABELS, total)


def difference(one: MeanEstimate, other: MeanEstimate) -> MeanEstimate:
    """One group less another; degrees of freedom by Satterthwaite."""
    variance = one.variance + other.variance
    spread = sum(each.variance**2 / each.degrees for each in (one, other) if each.degrees > 0)
    degrees = variance**2 / spread if spread > 0 else min(one.degrees, other.degrees)
    third = one.third - other.third
    return MeanEstimate(one.value - other.value, variance, degrees, 1.0, third)
