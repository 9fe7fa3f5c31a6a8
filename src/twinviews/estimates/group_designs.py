"""The design of each group of a table: how many labels it gets, which rows, and what that promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.design_pool import DesignPool, SomeRows
from twinviews.estimates.labels_so_far import SoFar
from twinviews.estimates.planned_labels import GroupPlan
from twinviews.estimates.residual_size import ResidualSize
from twinviews.estimates.sampling_design import (
    Curve,
    DrawRule,
    RowSizes,
    curve_of,
    draws_by_group,
    draws_for_width,
    over_phases,
    rule_for,
    systematic_draw,
    variance_before,
    variance_of_total,
)
from twinviews.estimates.table_pass import Group, groups_of_rows
from twinviews.tables import Block
from twinviews.tables.base import SourceTable


@dataclass(frozen=True)
class GroupDesigns:
    """Everything that the rows of a table are drawn by.

    ``unit`` is the half-width of an interval for each deviation of the estimate.
    """

    predictions: CrossPredictions
    size: ResidualSize
    pool: DesignPool
    so_far: SoFar
    of_total: bool  # the question is of totals, not of means
    unit: float

    @cached_property
    def groups(self) -> list[Group]:
        return sorted(self.pool.groups)

    @cached_property
    def rows(self) -> list[RowSizes]:
        """Of each group, random rows without a label."""
        return [self._sizes(*self.pool.groups[group][2:]) for group in self.groups]

    def _sizes(self, n_free: int, rows: SomeRows) -> RowSizes:
        before = self.so_far.before(rows, self.pool, labeled=False)
        return RowSizes(self.size(rows.X), before, rows.weight, len(rows.keys) / max(n_free, 1))

    @cached_property
    def scale(self) -> np.ndarray:
        """(groups,) what the root of the variance of a total is multiplied by: a half-width."""
        found = []
        for group in self.groups:
            n_rows, _, n_free, _ = self.pool.groups[group]
            found.append(self.unit * np.sqrt(n_rows / max(n_free, 1)))  # labeled rows vary, too
        return np.array(found) / self.weights

    @cached_property
    def weights(self) -> np.ndarray:
        """(groups,) weight of all their rows; 1 where totals are asked for."""
        found = [1.0 if self.of_total else self.pool.groups[group][1] for group in self.groups]
        return np.array(found)

    def draws(self, k: int | None, half_width: float | None) -> np.ndarray:
        """(groups,) how many rows of each are drawn."""
        most = np.array([len(rows.size) for rows in self.rows])
        if k is not None:
            if len(self.groups) == 1:
                return np.minimum(k, most)
            return draws_by_group(self._curves, self.scale, k)
        assert half_width is not None, "one of both"
        wanted = draws_for_width(self._curves, self.scale, half_width)
        return np.minimum(np.ceil(wanted - 1e-6).astype(int), most)

    @cached_property
    def _curves(self) -> list[Curve]:
        return [curve_of(rows) for rows in self.rows]

    def rules(self, draws: Sequence[int] | np.ndarray) -> list[DrawRule]:
        return [rule_for(rows, int(k)) for rows, k in zip(self.rows, draws, strict=True)]

    def drawn(self, draws: np.ndarray, seed: int) -> tuple[SomeRows, tuple[Group, ...]]:
        """The rows to label in random order, and their groups."""
        rng = np.random.default_rng(seed)
        chosen: SomeRows | None = None
        groups: list[Group] = []
        rules = self.rules(draws)
        for group, sizes, rule, k in zip(self.groups, self.rows, rules, draws, strict=True):
            start = rng.random()
            if k == 0:
                continue
            rows = self.pool.groups[group][3]
            # Rows with similar predictions are neighbours: the draw has some of each.
            order = np.lexsort((rows.keys, *self.predictions.shipped(rows.X).T))
            chance = rule.chance(sizes.size * sizes.weight, sizes.before) / sizes.share
            found = rows.take(order[systematic_draw(chance[order], int(k), start)])
            chosen = found if chosen is None else chosen.followed_by(found, 0)
            groups += [group] * int(k)
        if chosen is None:
            chosen = self.pool.groups[self.groups[0]][3].take(np.empty(0, np.intp))
        mixed = rng.permutation(len(groups))
        return chosen.take(mixed), tuple(groups[place] for place in mixed)

    def told(self, draws: np.ndarray) -> tuple[GroupPlan, ...]:
        """What the plan promises, group by group."""
        found = []
        rules = self.rules(draws)
        for number, group in enumerate(self.groups):
            rows, k = self.rows[number], int(draws[number])
            n_labels = self.pool.labeled_groups.count(group)
            half = [
                float(self.scale[number] * np.sqrt(variance))
                for variance in (
                    variance_before(rows),
                    variance_of_total(rows, rules[number]),
                    variance_before(_with_random_labels(rows, k)),
                )
            ]
            found.append(GroupPlan(group, self.pool.groups[group][0], n_labels, k, *half))
        return tuple(found)

    def probabilities(self, table: SourceTable, by: Sequence[str], draws: np.ndarray) -> np.ndarray:
        """(rows of the table,) of a label in any phase, this one included."""
        rules = dict(zip(self.groups, self.rules(draws), strict=True))
        of_block = partial(self._of_block, tuple(by), rules)
        found = np.concatenate(list(table.map_blocks(of_block)))
        found[self.pool.labeled.places] = self._of_labeled(rules)
        return found

    def _of_block(self, by: tuple[str, ...], rules: dict[Group, DrawRule], block: Block) -> np.ndarray:
        n_rows = block.X.shape[0]
        is_batch = hasattr(block.X, "schema")
        X = self.predictions.scaled(block.X if is_batch else block.X.X)
        weight = np.ones(n_rows) if block.weight is None else block.weight
        groups, group_of = groups_of_rows(block.X, by, n_rows)
        size = self.size(X) * weight
        before = self.so_far.of_block(block, self.pool)
        found = np.empty(n_rows)
        for number, group in enumerate(groups):
            own = group_of == number
            found[own] = over_phases(before[own], rules[group].chance(size[own], before[own]))
        return found

    def _of_labeled(self, rules: dict[Group, DrawRule]) -> np.ndarray:
        """(labels,) with the sizes that the fits without their folds expect."""
        labeled, keys = self.pool.labeled, self.predictions.keys
        order = np.argsort(keys)
        place = order[np.minimum(np.searchsorted(keys[order], labeled.keys), len(keys) - 1)]
        size = self.size.at_labels()[place] * labeled.weight
        before = self.so_far.before(labeled, self.pool, labeled=True)
        groups = self.pool.labeled_groups
        now = [
            float(rules[group].chance(size[i : i + 1], before[i : i + 1])[0])
            for i, group in enumerate(groups)
        ]
        return over_phases(before, np.array(now))


def _with_random_labels(rows: RowSizes, k: int) -> RowSizes:
    """As if k of the rows that they stand for had been drawn at random."""
    n_free = len(rows.size) / rows.share if rows.share > 0 else 1
    return rows._replace(before=over_phases(rows.before, np.full(len(rows.size), min(k / n_free, 1.0))))
