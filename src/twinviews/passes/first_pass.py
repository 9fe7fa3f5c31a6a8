"""The first pass over a table: a sample of its distinct rows, its labeled rows, its size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from twinviews.method.landmarks import AllDistinctRows, RowSample, row_priorities
from twinviews.method.moments import Moments
from twinviews.passes.input_profile import ColumnRanges
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import (
    ColumnMoments,
    Scale,
    rank_scaling,
    refuse_vanishing_columns,
    robust_scaling,
    standard_scaling,
)
from twinviews.passes.strata import StratumRows
from twinviews.tables.base import Block, Table, merge_all


@dataclass(frozen=True)
class FirstPass:
    """What the first pass over all rows collects."""

    n_rows: int
    sample: RowSample
    labeled: LabeledRows
    columns: ColumnMoments | None  # only for tables that are to be scaled by them
    level_rows: np.ndarray  # (levels,) how many rows have each level of columns of words
    ranges: ColumnRanges | None = None  # only of tables that are not encoded
    strata: StratumRows | None = None
    labeled_strata: StratumRows | None = None  # their numbers of labeled rows
    n_without_label: int = 0  # rows of strata that have no label

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.sample.merge(other.sample),
            self.labeled.merge(other.labeled),
            merge_all([self.columns, other.columns]),
            self.level_rows + other.level_rows,
            merge_all([self.ranges, other.ranges]),
            merge_all([self.strata, other.strata]),
            merge_all([self.labeled_strata, other.labeled_strata]),
        )

    def with_labels_drawn(self, table: Table, seed: int, **how: Any) -> Self:
        """The same with at most as many labeled rows as a fit holds, drawn by what none foresees."""
        labeled = self.labeled.redrawn(seed)
        if labeled.bounds:  # of some that were dropped, the new draw may choose others
            labeled = table.fold(partial(labeled_rows_of, draw=labeled.draw, **how))
        return replace(self, labeled=labeled.settled())

    def with_label_probabilities(self) -> Self:
        """The same, with the label probabilities of strata if there are some."""
        if self.strata is None or self.labeled_strata is None:
            return self
        without = self.strata.without_label(self.labeled_strata.strata)
        labeled = self.labeled.by_strata(self.strata, self.labeled_strata)
        return replace(self, labeled=labeled, n_without_label=without)

    def scaling(self, kind: str | None) -> Scale | None:
        """How columns are brought to one scale, by its name; None: not at all."""
        if kind is None:
            return None
        if kind == "rank":
            return rank_scaling(self.sample.rows)
        refuse_vanishing_columns(self.sample.rows)
        if kind == "robust":
            return robust_scaling(self.sample.rows)
        assert self.columns is not None, "the pass was asked for them"
        return standard_scaling(self.columns)

    def scaled(self, scaling: Scale) -> Self:
        """The first pass of the scaled table."""
        return replace(
            self,
            sample=replace(self.sample, rows=scaling(self.sample.rows)),
            labeled=self.labeled.scaled(scaling),
        )


# What the passes over a table make of it, and what that holds.
SUMMARIES = (
    FirstPass, RowSample, LabeledRows, ColumnMoments, ColumnRanges, StratumRows, Moments,
    AllDistinctRows,
)  # fmt: skip


def first_pass_of(
    block: Block,
    *,
    sample_size: int,
    seed: int,
    missing_label: Any = None,
    column_moments: bool = False,
    column_ranges: bool = False,
    levels: tuple[int, ...] = (),
    max_labels: int | None = None,
) -> FirstPass:
    """The first pass of a block; ``levels`` are the columns of 0 and 1 in which ones are counted."""
    X, stratum = block.X, block.stratum
    sample = RowSample.of(X, row_priorities(X, seed), sample_size)
    columns = ColumnMoments.of(X, block.weight) if column_moments else None
    ranges = ColumnRanges.of(X) if column_ranges else None
    labeled = labeled_rows_of(block, draw=0, missing_label=missing_label, max_labels=max_labels)
    level_rows = X[:, list(levels)].sum(axis=0) if levels else np.zeros(0)
    strata = None if stratum is None else StratumRows.of(stratum)
    known = labeled.stratum_parts
    of_labels = StratumRows.of(known[0]) if known else None
    return FirstPass(X.shape[0], sample, labeled, columns, level_rows, ranges, strata, of_labels)


def labeled_rows_of(
    block: Block, *, draw: int, missing_label: Any = None, max_labels: int | None = None
) -> LabeledRows:
    """The labeled rows of a block; of a table with more than are held, those of a draw."""
    X, Y, weight, probability, stratum, cluster = block
    return LabeledRows.of(
        X,
        Y,
        weight,
        missing_label,
        probability,
        stratum,
        cluster,
        max_labels=max_labels,
        draw=draw,
    )
