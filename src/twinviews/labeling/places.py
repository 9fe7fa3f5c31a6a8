"""Where a value lies among all rows, in numbers and in text that a person reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

import numpy as np
import pyarrow as pa

from twinviews.encoding.encoder import kinds_of
from twinviews.encoding.facts import ColumnFacts, LevelFacts, NumberFacts, facts_of
from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.pool import Pool
from twinviews.labeling.shown import Fact
from twinviews.tables import Block
from twinviews.tables.base import merge_all, refuse_nothing

# Of so many rows shares are off by half a hundredth, which no eye sees in a small picture.
_SAMPLE = 8192
_BARS = 24
# The usual range, which the bars cover; what lies beyond is in the first and the last.
_USUAL = (0.01, 0.99)
_DIGITS = 6
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class Spread:
    """How the numbers of a column lie, by a sample of the rows."""

    known: np.ndarray  # rising
    low: float  # ends of the bars
    high: float
    bars: tuple[int, ...]  # counts of all rows; empty where all values are the same

    @classmethod
    def of(cls, sample: np.ndarray, n_known: float) -> Self:
        """``n_known`` is how many rows of the table have a value."""
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
        """Share of the known values."""
        return float(np.searchsorted(self.known, x) / len(self.known)) if len(self.known) else None

    def bar(self, x: float) -> int | None:
        if not self.bars:
            return None
        return min(max(int((x - self.low) / (self.high - self.low) * _BARS), 0), _BARS - 1)


@dataclass(frozen=True)
class Places:
    """What is known of each column: counts from all rows, and how numbers lie from a sample."""

    columns: Mapping[str, ColumnFacts]
    spreads: Mapping[str, Spread]  # of numbers and dates

    @classmethod
    def of(cls, pool: Pool, seed: int = 0) -> Self:
        """One pass over the rows."""
        sample = _drawn(pool, seed)
        kinds = kinds_of(pool.schema, pool.schema.names, {})
        columns = dict(facts_of(Block(sample, None, None), kinds).columns)
        if sample.num_rows < pool.n_rows:
            names_of_rows = {name for name, one in columns.items() if _is_mostly_unique(one)}
            others = {name: kind for name, kind in kinds.items() if name not in names_of_rows}
            parts = (facts_of(Block(batch, None, None), others) for batch in pool.batches(list(others)))
            columns |= refuse_nothing(merge_all(parts)).columns
            # Of these it is not worth the time to count who has which.
            columns |= {name: replace(columns[name], values=None) for name in names_of_rows}
        spreads = {
            name: Spread.of(
                _as_floats(name, sample.column(name), one.kind),
                pool.n_rows * (1 - one.missing / one.weight),
            )
            for name, one in columns.items()
            if one.kind in ("number", "date")
        }
        return cls(columns, spreads)

    def facts(self, row: pa.Table, besides: Collection[str] = ()) -> tuple[Fact, ...]:
        """Of a table of one row, in the order of its columns."""
        return tuple(
            self.fact(name, row.column(name)[0]) for name in row.schema.names if name not in besides
        )

    def fact(self, name: str, value: pa.Scalar) -> Fact:
        column = self.columns[name]
        kind = "category" if column.kind == "empty" else column.kind
        text = text_of(value)
        if text is None:
            return Fact(name, kind, None, None, column.missing / column.weight)
        if name not in self.spreads:
            return Fact(name, kind, text, None, _share(column, value))
        spread = self.spreads[name]
        x = float(_as_floats(name, pa.array([value]), column.kind)[0])
        return Fact(name, kind, text, spread.below(x), None, spread.bars, spread.bar(x))


def _drawn(pool: Pool, seed: int) -> pa.RecordBatch:
    """Rows at random, each at most once."""
    n = min(pool.n_rows, _SAMPLE)
    places = np.random.default_rng(seed).choice(pool.n_rows, n, replace=False)
    (batch,) = pool.rows(np.sort(places)).combine_chunks().to_batches()
    return batch


def _is_mostly_unique(column: ColumnFacts) -> bool:
    levels = column.values
    return isinstance(levels, LevelFacts) and 2 * len(levels.counts) > column.weight - column.missing


def _as_floats(name: str, column: pa.Array, kind: str) -> np.ndarray:
    return as_days(name, column) if kind == "date" else as_numbers(name, column)


def _share(column: ColumnFacts, value: pa.Scalar) -> float | None:
    """Of all rows; None where it was not counted, among ever so many different words."""
    if isinstance(column.values, NumberFacts):  # truth values are 0 and 1
        true = column.values.mean * column.values.weight
        return (true if value.as_py() else column.values.weight - true) / column.weight
    if not isinstance(column.values, LevelFacts):
        return None
    count = column.values.counts.get(as_words(pa.array([value]))[0].as_py())
    return None if count is None else count.rows / column.weight


def text_of(value: pa.Scalar) -> str | None:
    """As a person reads it; None for a blank."""
    types = pa.types
    if not value.is_valid:
        return None
    if types.is_floating(value.type):
        x = float(value.as_py())
        return None if math.isnan(x) else number_text(x)
    if types.is_integer(value.type):
        return number_text(value.as_py())
    if types.is_boolean(value.type):
        return "yes" if value.as_py() else "no"
    if types.is_timestamp(value.type) or types.is_date(value.type):
        return _moment_text(value)
    text = str(value.as_py())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def number_text(x: float) -> str:
    """Six digits, or all of a whole number; from 10,000 on with commas, so that years have none."""
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    size = abs(x)
    if isinstance(x, int) or (x.is_integer() and size < 1e15):
        text = f"{int(x):,}" if size >= 10_000 else str(int(x))
    elif 1e-5 <= size < 1e15:
        decimals = max(_DIGITS - 1 - math.floor(math.log10(size)), 0)
        text = f"{x:,.{decimals}f}" if size >= 10_000 else f"{x:.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if decimals else text
    else:
        digits, exponent = f"{x:.{_DIGITS - 1}e}".split("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", "−")


def _moment_text(value: pa.Scalar) -> str:
    """The day, and the time unless it is midnight; with a zone, in UTC."""
    zone = getattr(value.type, "tz", None)
    microseconds = value.cast(pa.timestamp("us", zone), safe=False).value
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{number_text(microseconds / 86_400_000_000)} days after 1970"
    if moment.time() == datetime.min.time():
        return moment.date().isoformat()
    finest = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    return moment.isoformat(" ", finest) + (" UTC" if zone else "")
