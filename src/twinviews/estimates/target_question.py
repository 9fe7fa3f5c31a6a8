"""One question about one target: labels and predictions of a table, by group, turned into estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.difference_estimator import MeanEstimate
from twinviews.estimates.group_answers import (
    MeanAnswer,
    Options,
    difference,
    group_answers,
    length,
    overall_answer,
    told_ends,
)
from twinviews.estimates.imputed_values import Grid
from twinviews.estimates.quantile_interval import has_ties, quantile_and_ends, thresholds
from twinviews.estimates.quantity import (
    ClassMean,
    ClassShare,
    NumberOnGrid,
    PredictedLabels,
    Quantity,
    SampledRows,
)
from twinviews.estimates.table_pass import Group, GroupTotals, TableTotals
from twinviews.estimates.told_estimate import AboutRows, ToldEstimate, ValueAndEnds, told

# Rows without a label that all fits predict: of a table, and of one group.
SAMPLE_ROWS, SAMPLE_OF_GROUP = 8000, 1000
LEAST_LABELS = 5


class Condition(NamedTuple):
    """Rows above a value, or at most there."""

    value: float
    is_above: bool


class TargetQuestion:
    """What is known of one target: labels, predictions and rows of each group."""

    def __init__(
        self,
        predictions: CrossPredictions,
        found: TableTotals,
        labels: PredictedLabels,
        name: str,
        by: Sequence[str],
    ) -> None:
        self.predictions, self.found, self.labels = predictions, found, labels
        self.name, self.by = name, by
        self.grid = None if predictions.is_classification else Grid(*predictions.bounds)
        self.groups = sorted(found.groups)
        self.rows = [self._sampled(found.groups[group]) for group in self.groups]
        places = {group: place for place, group in enumerate(self.groups)}
        self.group_of = np.array([places[group] for group in found.labeled.groups], dtype=np.intp)

    def _sampled(self, totals: GroupTotals) -> SampledRows:
        """The rows of a group, with predictions of a sample by all fits."""
        size = max(SAMPLE_OF_GROUP // 5, 2 * SAMPLE_ROWS // len(self.groups))
        totals = replace(totals, sample=totals.sample.first(size))
        if totals.n_rows == 0:
            folds, q = self.labels.by_fold.shape[1:]
            return SampledRows(totals, np.empty((0, folds, q)), np.empty((0, q)))
        X = totals.sample.rows
        return SampledRows(totals, self.predictions.without_folds(X), self.predictions.shipped(X))

    def means(
        self,
        what: str,
        condition: Condition | None,
        coverage: float,
        options: Options,
        versus: str | None,
    ) -> list[ToldEstimate]:
        """Means, totals and shares: of all rows, of each group, or differences between groups."""
        found = []
        for words, quantity in self._quantities(what, condition):
            if what == "total":
                words = words.replace("mean", "total").replace("share", "number")
            is_above = condition is not None and condition.is_above
            whole = overall_answer(self.labels, self.rows, quantity, options)
            bounds = self._bounds(quantity)
            if not self.by:
                found.append(self._told(words, None, whole, coverage, what, is_above, bounds))
                continue
            answers = group_answers(
                self.labels, self.group_of, self.rows, quantity, whole.power, options
            )
            if versus is not None:
                found += self._differences(words, answers, coverage, versus, is_above)
                continue
            found += [
                self._told(words, group, answer, coverage, what, is_above, bounds)
                for group, answer in zip(self.groups, answers, strict=True)
            ]
        return found

    def _quantities(self, what: str, condition: Condition | None) -> list[tuple[str, Quantity]]:
        """What to say, and the quantity whose mean is estimated."""
        if self.grid is None:
            classes = self.predictions.model.classes_
            if what == "mean":  # of ratings
                return [("mean", ClassMean(classes.astype(np.float64)))]
            return [(f"share = {_plain(one)}", ClassShare(code)) for code, one in enumerate(classes)]
        if condition is None:
            return [("mean", NumberOnGrid(self.grid, self.labels))]
        words = f"share {'above' if condition.is_above else 'at most'} {condition.value:g}"
        return [(words, NumberOnGrid(self.grid, self.labels, condition.value))]

    def _bounds(self, quantity: Quantity) -> tuple[float, float]:
        """Between which a mean is, whatever the labels: of counts above 0, of ratings among them."""
        if quantity.is_share:
            return 0.0, 1.0
        if self.grid is None:
            classes = self.predictions.model.classes_.astype(np.float64)
            return float(classes.min()), float(classes.max())
        return (0.0, np.inf) if self.predictions.model._task == "count" else (-np.inf, np.inf)

    def _about(self, words: str, group: Group | None, n_labels: int) -> AboutRows:
        labeled = self.found.labeled.groups
        if group is None:
            n_rows = len(labeled) + sum(totals.n_rows for totals in self.found.groups.values())
            return AboutRows(self.name, words, {}, n_rows, n_labels)
        n_rows = self.found.groups[group].n_rows + labeled.count(group)
        named = dict(zip(self.by, group, strict=True))
        return AboutRows(self.name, words, named, n_rows, n_labels)

    def _told(
        self,
        words: str,
        group: Group | None,
        answer: MeanAnswer,
        coverage: float,
        what: str,
        is_above: bool,
        bounds: tuple[float, float],
    ) -> ToldEstimate:
        powered = ValueAndEnds(answer.powered.value, *answer.ends(coverage))
        alone = ValueAndEnds(answer.alone.value, *answer.alone_ends(coverage))
        if is_above:
            powered, alone = powered.of_the_others(), alone.of_the_others()
        powered, alone = (one.within(*bounds) for one in (powered, alone))
        if what == "total":
            powered, alone = (one.times(answer.powered.weight) for one in (powered, alone))
        return told(
            self._about(words, group, len(answer.sample.y)),
            powered,
            alone,
            labels_worth=answer.worth,
            power=answer.power,
            is_shrunk=answer.is_shrunk,
        )

    def _differences(
        self, words: str, answers: Sequence[MeanAnswer], coverage: float, versus: str, is_above: bool
    ) -> list[ToldEstimate]:
        """Between each group and the one that ``versus`` names."""
        names = [group[0] for group in self.groups]
        if versus not in names:
            raise ValueError(
                f"versus={versus!r} is no value of {self.by[0]}; there are {', '.join(names[:10])}."
            )
        reference = answers[names.index(versus)]
        self._refuse_clusters_in_several_groups(versus)
        found = []
        for group, answer in zip(self.groups, answers, strict=True):
            if group[0] == versus:
                continue
            powered = difference(answer.powered, reference.powered)
            alone = difference(answer.alone, reference.alone)
            is_shrunk = answer.is_shrunk or reference.is_shrunk
            power = answer.power
            if not is_shrunk and length(powered) >= length(alone):
                powered, power = alone, 0.0
            found.append(
                told(
                    self._about(
                        f"difference from {versus} in the {words}", group, len(answer.sample.y)
                    ),
                    _interval(powered, coverage).times(-1 if is_above else 1),
                    _interval(alone, coverage).times(-1 if is_above else 1),
                    labels_worth=float("nan"),
                    power=power,
                    is_shrunk=is_shrunk,
                )
            )
        return found

    def _refuse_clusters_in_several_groups(self, versus: str) -> None:
        if self.labels.cluster is None:
            return
        pairs = np.unique(np.column_stack([self.labels.cluster, self.group_of]), axis=0)
        several = len(pairs) - len(np.unique(pairs[:, 0]))
        if several:
            raise ValueError(
                f"versus={versus!r} compares groups as if they were independent, and {several:,} "
                f"clusters have labels in several of them. Ask for each group without versus."
            )

    def quantiles(self, q: float, coverage: float, options: Options) -> list[ToldEstimate]:
        """Of all rows, or of each group that has labels enough."""
        if not self.by:
            return [self._quantile(q, None, self.labels, self.rows, coverage, options)]
        found = []
        for number, group in enumerate(self.groups):
            own = np.flatnonzero(self.group_of == number)
            if len(own) >= LEAST_LABELS:
                some = self.labels.take(own)
                rows = [self.rows[number]]
                found.append(self._quantile(q, group, some, rows, coverage, options))
        return found

    def _quantile(
        self,
        q: float,
        group: Group | None,
        labels: PredictedLabels,
        rows: Sequence[SampledRows],
        coverage: float,
        options: Options,
    ) -> ToldEstimate:
        assert self.grid is not None, "numbers only"
        ties = has_ties(labels.y)
        values = thresholds(labels.y, q, _weight_of_all(labels, rows))
        answers = [
            overall_answer(labels, rows, NumberOnGrid(self.grid, labels, float(value)), options)
            for value in values
        ]
        powered, alone = (
            ValueAndEnds(*quantile_and_ends(values, shares, q, coverage, ties=ties))
            for shares in ([one.powered for one in answers], [one.alone for one in answers])
        )
        if self.predictions.has_whole_numbers:
            powered, alone = powered.whole(), alone.whole()
        middle = answers[int(np.abs(values - powered.value).argmin())]
        worth, power = middle.worth, middle.power
        if powered.high - powered.low > alone.high - alone.low:
            powered, worth, power = alone, float(len(labels.y)), 0.0
        return told(
            self._about("median" if q == 0.5 else f"quantile {q:g}", group, len(labels.y)),
            powered,
            alone,
            labels_worth=worth,
            power=power,
        )


def _weight_of_all(labels: PredictedLabels, rows: Sequence[SampledRows]) -> np.ndarray:
    """(n,) for how many of all rows a label counts: itself, and its share of those without one."""
    v = labels.stands_for * labels.weight
    others = sum(one.totals.weight for one in rows)
    return labels.weight + (v * (others / v.sum()) if v.any() else 0.0)


def _interval(found: MeanEstimate, coverage: float) -> ValueAndEnds:
    return ValueAndEnds(found.value, *told_ends(found, coverage))


def _plain(label: Any) -> str:
    """A class as a reader writes it: 1, not 1.0."""
    return str(label).removesuffix(".0")
