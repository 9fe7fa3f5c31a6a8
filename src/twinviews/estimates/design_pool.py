"""One pass over a table: how many rows each group has, random rows without a label, labeled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.table_pass import Group, groups_of_rows
from twinviews.method.landmarks import row_priorities, stack_rows
from twinviews.passes.strata import StratumRows
from twinviews.passes.targets import missing_labels
from twinviews.tables import Block

# Each group keeps its own random rows.
MOST_GROUPS_PLANNED = 200
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SomeRows:
    """Rows with what a design needs of them."""

    keys: np.ndarray  # (m,) uint64, random
    places: np.ndarray  # (m,) from 0 in the order of the table
    X: Any  # (m, D) on the scale of the fit
    weight: np.ndarray  # (m,)
    probability: np.ndarray  # (m,) of a label so far, as the table says; NaN if it does not
    stratum: np.ndarray  # (m,) uint64; 0 without strata
    rows: Any  # pyarrow.Table of m rows; None in memory, where places are enough

    def take(self, some: np.ndarray) -> Self:
        return replace(
            self,
            keys=self.keys[some],
            places=self.places[some],
            X=self.X[some],
            weight=self.weight[some],
            probability=self.probability[some],
            stratum=self.stratum[some],
            rows=None if self.rows is None else self.rows.take(some),
        )

    def first(self, size: int) -> Self:
        """Those of smallest key, in the order of the keys."""
        return self.take(np.argsort(self.keys, kind="stable")[:size])

    def followed_by(self, other: Self, n_before: int) -> Self:
        """The rows of both; those of ``other`` come after ``n_before`` rows of the table."""
        return type(self)(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.places, other.places + n_before]),
            stack_rows([self.X, other.X]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.probability, other.probability]),
            np.concatenate([self.stratum, other.stratum]),
            None if self.rows is None else _stack_tables(self.rows, other.rows),
        )


@dataclass(frozen=True)
class DesignPool:
    """What a plan needs of a table."""

    size: int  # random rows kept of each group
    n_rows: int
    # Of each group: rows, their weight, rows without a label, and random ones of these.
    groups: dict[Group, tuple[int, float, int, SomeRows]]
    labeled: SomeRows
    labeled_groups: tuple[Group, ...]
    strata: StratumRows | None

    def merge(self, other: Self) -> Self:
        groups = {group: found for group, found in self.groups.items() if group not in other.groups}
        for group, (n_rows, weight, n_free, rows) in other.groups.items():
            if group in self.groups:
                before = self.groups[group]
                n_rows, weight, n_free = n_rows + before[0], weight + before[1], n_free + before[2]
                rows = before[3].followed_by(rows, self.n_rows).first(self.size)
            else:
                rows = replace(rows, places=rows.places + self.n_rows)
            groups[group] = n_rows, weight, n_free, rows
        _refuse_many_groups(len(groups))
        strata = self.strata
        if strata is not None and other.strata is not None:
            strata = strata.merge(other.strata)
        return type(self)(
            self.size,
            self.n_rows + other.n_rows,
            groups,
            self.labeled.followed_by(other.labeled, self.n_rows),
            self.labeled_groups + other.labeled_groups,
            strata,
        )


@dataclass(frozen=True)
class DesignPoolOf:
    """From a block of rows to what a plan needs of it; it is sent to the workers of a cluster."""

    predictions: CrossPredictions
    by: tuple[str, ...]
    kept: tuple[str, ...] | None  # columns of the rows that come back; None in memory
    size: int
    seed: int

    def __call__(self, block: Block) -> DesignPool:
        n_rows = block.X.shape[0]
        is_batch = hasattr(block.X, "schema")
        X = self.predictions.scaled(block.X if is_batch else block.X.X)
        y = np.full(n_rows, np.nan) if block.Y is None else block.Y[:, 0]
        unknown = missing_labels(y, self.predictions.model.missing_label)
        groups, group_of = groups_of_rows(block.X, self.by, n_rows)
        _refuse_many_groups(len(groups))
        everything = SomeRows(
            _row_keys(X, self.seed),
            np.arange(n_rows),
            X,
            np.ones(n_rows) if block.weight is None else block.weight,
            np.full(n_rows, np.nan) if block.probability is None else block.probability,
            np.zeros(n_rows, np.uint64) if block.stratum is None else block.stratum,
            None if self.kept is None else _stack_tables(block.X).select(list(self.kept)),
        )
        found = {}
        for number, group in enumerate(groups):
            own = group_of == number
            free = np.flatnonzero(own & unknown)
            rows = everything.take(free).first(self.size)
            found[group] = int(own.sum()), float(everything.weight[own].sum()), len(free), rows
        known = np.flatnonzero(~unknown)
        return DesignPool(
            self.size,
            n_rows,
            found,
            # Labeled rows are found among those of the fit, so they have its keys.
            replace(everything.take(known), keys=row_priorities(X[known], seed=0)),
            tuple(groups[place] for place in group_of[known]),
            None if block.stratum is None else StratumRows.of(block.stratum),
        )


def _row_keys(X: Any, seed: int) -> np.ndarray:
    """(rows,) random numbers that do not depend on the order of the rows.

    Equal rows of a block get numbers of their own: the hash of the block and a count are added.
    """
    keys = row_priorities(X, seed)
    if len(np.unique(keys)) == len(keys):
        return keys
    order = np.argsort(keys, kind="stable")
    is_first = np.concatenate([[True], keys[order][1:] != keys[order][:-1]])
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    count = np.empty(len(keys), np.uint64)
    count[order] = (np.arange(len(keys)) - starts).astype(np.uint64)
    block = np.bitwise_xor.reduce(keys * _ODD)
    beside = np.column_stack([keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF), count]).astype(float)
    return row_priorities(beside, seed ^ int(block & np.uint64(0xFFFFFFFF)))


def _refuse_many_groups(n_groups: int) -> None:
    if n_groups > MOST_GROUPS_PLANNED:
        raise ValueError(
            f"by has more than {MOST_GROUPS_PLANNED} groups of rows, and each would need labels of its "
            f"own. Name columns with fewer values."
        )


def _stack_tables(*parts: Any) -> Any:
    """Tables and record batches, one under the other."""
    import pyarrow as pa

    return pa.concat_tables([pa.table(part) for part in parts])
