"""What a pass over a raw table finds out about each column, merged like every other summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from twinviews.tables.base import merge_all

# number, boolean, date, category, or registered; empty without a value, other if nothing is known of it
Kind = str

# More levels than this are not counted: beyond, the rarest make room for new ones.
MOST_LEVELS_COUNTED = 10_000


@dataclass(frozen=True)
class NumberFacts:
    """Of the values that are not missing; means and squares are merged by Chan's formula."""

    weight: float
    mean: float
    squares: float
    least: float
    most: float
    whole: bool  # whether all are whole numbers

    @classmethod
    def of(cls, x: np.ndarray, weight: np.ndarray) -> Self:
        known = ~np.isnan(x)
        x, weight = x[known], weight[known]
        if len(x) == 0:
            return cls(0.0, 0.0, 0.0, np.inf, -np.inf, True)
        total = float(weight.sum())
        mean = float(weight @ x / total)
        squares = float(weight @ np.square(x - mean))
        return cls(total, mean, squares, float(x.min()), float(x.max()), bool((x == np.floor(x)).all()))

    def merge(self, other: Self) -> Self:
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        shift = other.mean - self.mean
        return type(self)(
            weight,
            self.mean + shift * share,
            self.squares + other.squares + shift**2 * self.weight * share,
            min(self.least, other.least),
            max(self.most, other.most),
            self.whole and other.whole,
        )

    @property
    def is_constant(self) -> bool:
        return self.least == self.most


class Count(NamedTuple):
    weight: float
    rows: int


@dataclass(frozen=True)
class LevelFacts:
    """How many rows have each level; with more than ``MOST_LEVELS_COUNTED``, of the commonest."""

    counts: Mapping[str, Count]
    complete: bool = True  # whether these are all levels

    @classmethod
    def of(cls, column: pa.Array, weight: np.ndarray) -> Self:
        codes = column.dictionary_encode()
        known = np.asarray(codes.indices.is_valid())
        code = codes.indices.drop_null().to_numpy(zero_copy_only=False)
        levels = codes.dictionary.to_pylist()
        weights = np.bincount(code, weight[known], minlength=len(levels)).tolist()
        rows = np.bincount(code, minlength=len(levels)).tolist()
        return cls._of_commonest(dict(zip(levels, map(Count, weights, rows), strict=True)))

    def merge(self, other: Self) -> Self:
        counts = dict(self.counts)
        for level, (weight, rows) in other.counts.items():
            before = counts.get(level, Count(0.0, 0))
            counts[level] = Count(before.weight + weight, before.rows + rows)
        return self._of_commonest(counts, complete=self.complete and other.complete)

    @property
    def is_constant(self) -> bool:
        return len(self.counts) == 1

    @classmethod
    def _of_commonest(cls, counts: dict[str, Count], *, complete: bool = True) -> Self:
        if len(counts) <= MOST_LEVELS_COUNTED:
            return cls(counts, complete)
        return cls(dict(commonest(counts, MOST_LEVELS_COUNTED)), complete=False)


def commonest(counts: Mapping[str, Count], most: int) -> list[tuple[str, Count]]:
    """Levels and counts, the commonest first; equally common ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1].weight, item[0]))[:most]


@dataclass(frozen=True)
class ColumnFacts:
    kind: Kind
    weight: float  # of all rows
    missing: float  # of the rows without a value
    values: Any  # NumberFacts, LevelFacts or of a registered kind; None: nothing is known of them

    def merge(self, other: Self) -> Self:
        values: Any = merge_all([self.values, other.values])  # all of a block's may be missing
        kind = other.kind if self.kind == "empty" else self.kind
        return type(self)(kind, self.weight + other.weight, self.missing + other.missing, values)


@dataclass(frozen=True)
class TableFacts:
    n_rows: int
    columns: Mapping[str, ColumnFacts]

    def merge(self, other: Self) -> Self:
        merged = {}
        for name, facts in self.columns.items():
            kinds = {facts.kind, other.columns[name].kind} - {"empty"}
            if len(kinds) > 1:
                raise ValueError(
                    f"Column {name!r} holds values of kind {' and '.join(sorted(kinds))}. Make them "
                    f"one, or say which it is with kinds={{{name!r}: ...}}."
                )
            merged[name] = facts.merge(other.columns[name])
        return type(self)(self.n_rows + other.n_rows, merged)
