"""Distributions of the columns, and where a value lies in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from twinviews.encoding.column_kinds import facts_of
from twinviews.encoding.encoder import kinds_of
from twinviews.encoding.facts import ColumnFacts, LevelFacts, NumberFacts
from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.page_data import Fact
from twinviews.labeling.table_copy import TableCopy
from twinviews.labeling.value_text import text_of
from twinviews.tables import Block
from twinviews.tables.base import merge_all, refuse_nothing

# From so many rows, shares are wrong by about 0.005, which is not visible in a small picture.
_SAMPLE = 8192
_BARS = 24
# Quantiles between which the bars lie; values beyond count in the first and the last bar.
_USUAL = (0.01, 0.99)


@dataclass(frozen=True)
class NumberDistribution:
    """The distribution of a column of numbers or dates, from a sample of the rows."""

    known: np.ndarray  # increasing
    low: float  # ends of the bars
    high: float
    bars: tuple[int, ...]  # counts of all rows; empty if all values are equal

    @classmethod
    def of(cls, sample: np.ndarray, n_known: float) -> Self:
        """The distribution of a sample; ``n_known`` rows of the whole table have a value."""
        known = np.sort(sample[~np.isnan(sample)])
        if len(known) == 0 or known[0] == known[-1]:
            return cls(known, 0.0, 0.0, ())
        low, high = np.quantile(known, _USUAL)
        if low == high:
            low, high = known[0], known[-1]
        counts, _ = np.histogram(known.clip(low, high), _BARS, (low, high))
        bars = np.rint(counts * (n_known / len(known))).astype(int)
        return cls(known, float(low), float(high), tuple(bars.tolist()))

    def below(self, x: float) -> float | None:
        """The share of known values below x."""
        return float(np.searchsorted(self.known, x) / len(self.known)) if len(self.known) else None

    def bar(self, x: float) -> int | None:
        """The bin of x."""
        if not self.bars:
            return None
        return min(max(int((x - self.low) / (self.high - self.low) * _BARS), 0), _BARS - 1)


@dataclass(frozen=True)
class ColumnDistributions:
    """Counts of each column from all rows, and distributions of numbers from a sample."""

    columns: Mapping[str, ColumnFacts]
    numbers: Mapping[str, NumberDistribution]  # of columns of numbers and dates

    @classmethod
    def of(cls, table: TableCopy, seed: int = 0) -> Self:
        """The distributions of a table's columns, from one pass over its rows."""
        sample = _random_rows(table, seed)
        kinds = kinds_of(table.schema, table.schema.names, {})
        columns = dict(facts_of(Block(sample, None, None), kinds).columns)
        if sample.num_rows < table.n_rows:
            identifiers = {name for name, one in columns.items() if _is_mostly_unique(one)}
            others = {name: kind for name, kind in kinds.items() if name not in identifiers}
            parts = (
                facts_of(Block(batch, None, None), others) for batch in table.batches(list(others))
            )
            columns |= refuse_nothing(merge_all(parts)).columns
            # Counting the values of identifiers takes long and tells nothing.
            columns |= {name: replace(columns[name], values=None) for name in identifiers}
        numbers = {
            name: NumberDistribution.of(
                _as_floats(name, sample.column(name), one.kind),
                table.n_rows * (1 - one.missing / one.weight),
            )
            for name, one in columns.items()
            if one.kind in ("number", "date")
        }
        return cls(columns, numbers)

    def facts(self, row: pa.Table, excluded: Collection[str] = ()) -> tuple[Fact, ...]:
        """The facts of a table of one row, in the order of its columns."""
        return tuple(
            self.fact(name, row.column(name)[0]) for name in row.schema.names if name not in excluded
        )

    def fact(self, name: str, value: pa.Scalar) -> Fact:
        """A value of a column, and where it lies."""
        column = self.columns[name]
        kind = "category" if column.kind == "empty" else column.kind
        text = text_of(value)
        if text is None:
            return Fact(name, kind, None, None, column.missing / column.weight)
        if name not in self.numbers:
            return Fact(name, kind, text, None, _share(column, value))
        distribution = self.numbers[name]
        x = float(_as_floats(name, pa.array([value]), column.kind)[0])
        return Fact(
            name, kind, text, distribution.below(x), None, distribution.bars, distribution.bar(x)
        )


def _random_rows(table: TableCopy, seed: int) -> pa.RecordBatch:
    """Rows drawn at random, without repetition."""
    n = min(table.n_rows, _SAMPLE)
    rows = np.random.default_rng(seed).choice(table.n_rows, n, replace=False)
    (batch,) = table.rows(np.sort(rows)).combine_chunks().to_batches()
    return batch


def _is_mostly_unique(column: ColumnFacts) -> bool:
    levels = column.values
    return isinstance(levels, LevelFacts) and 2 * len(levels.counts) > column.weight - column.missing


def _as_floats(name: str, column: pa.Array, kind: str) -> np.ndarray:
    return as_days(name, column) if kind == "date" else as_numbers(name, column)


def _share(column: ColumnFacts, value: pa.Scalar) -> float | None:
    """The share of all rows that have a value; None if its column has too many values to count."""
    if isinstance(column.values, NumberFacts):  # truth values are 0 and 1
        true = column.values.mean * column.values.weight
        return (true if value.as_py() else column.values.weight - true) / column.weight
    if not isinstance(column.values, LevelFacts):
        return None
    count = column.values.counts.get(as_words(pa.array([value]))[0].as_py())
    return None if count is None else count.rows / column.weight
