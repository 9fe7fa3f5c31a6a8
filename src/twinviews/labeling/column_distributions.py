"""Values for display, and where each lies in the distribution of its column."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from twinviews.encoding.encoder import kinds_of
from twinviews.encoding.facts import ColumnFacts, LevelFacts, NumberFacts, facts_of
from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.page_data import Fact
from twinviews.labeling.table_copy import TableCopy
from twinviews.tables import Block
from twinviews.tables.base import merge_all, refuse_nothing

# From so many rows, shares are wrong by about 0.005, which is not visible in a small picture.
_SAMPLE = 8192
_BARS = 24
# Quantiles between which the bars lie; values beyond count in the first and the last bar.
_USUAL = (0.01, 0.99)
_DIGITS = 6
_LONGEST_TEXT = 2000


class _Histogram(NamedTuple):
    known: np.ndarray  # values of a sample, increasing
    low: float  # ends of the bars
    high: float
    bars: tuple[int, ...]  # counts of all rows; empty if all values are equal


class ColumnDistributions:
    """Counts of each column from one pass over all rows, and histograms of numbers from a sample."""

    def __init__(self, table: TableCopy, seed: int = 0) -> None:
        n = min(table.n_rows, _SAMPLE)
        rows = np.sort(np.random.default_rng(seed).choice(table.n_rows, n, replace=False))
        (sample,) = table.rows(rows).combine_chunks().to_batches()
        kinds = kinds_of(table.schema, table.schema.names, {})
        columns = dict(facts_of(Block(sample, None, None), kinds).columns)
        if n < table.n_rows:
            identifiers = {name for name, one in columns.items() if _is_mostly_unique(one)}
            others = {name: kind for name, kind in kinds.items() if name not in identifiers}
            parts = (
                facts_of(Block(batch, None, None), others) for batch in table.batches(list(others))
            )
            columns |= refuse_nothing(merge_all(parts)).columns
            # Counting the values of identifiers takes long and tells nothing.
            columns |= {name: replace(columns[name], values=None) for name in identifiers}
        self._columns = columns
        self._histograms = {
            name: _histogram(
                _as_floats(name, sample.column(name), one.kind),
                table.n_rows * (1 - one.missing / one.weight),
            )
            for name, one in columns.items()
            if one.kind in ("number", "date")
        }

    def facts(self, row: pa.Table) -> tuple[Fact, ...]:
        """The facts of a table of one row, in the order of its columns."""
        return tuple(self.fact(name, row.column(name)[0]) for name in row.schema.names)

    def fact(self, name: str, value: pa.Scalar) -> Fact:
        """A value of a column, and where it lies."""
        column = self._columns[name]
        kind = "category" if column.kind == "empty" else column.kind
        text = text_of(value)
        if text is None:
            return Fact(name, kind, None, None, column.missing / column.weight)
        if name not in self._histograms:
            return Fact(name, kind, text, None, _share(column, value))
        known, low, high, bars = self._histograms[name]
        x = float(_as_floats(name, pa.array([value]), column.kind)[0])
        below = float(np.searchsorted(known, x) / len(known)) if len(known) else None
        bar = min(max(int((x - low) / (high - low) * _BARS), 0), _BARS - 1) if bars else None
        return Fact(name, kind, text, below, None, bars, bar)


def _histogram(sample: np.ndarray, n_known: float) -> _Histogram:
    """The distribution of a sample; ``n_known`` rows of the whole table have a value."""
    known = np.sort(sample[~np.isnan(sample)])
    if len(known) == 0 or known[0] == known[-1]:
        return _Histogram(known, 0.0, 0.0, ())
    low, high = np.quantile(known, _USUAL)
    if low == high:
        low, high = known[0], known[-1]
    counts, _ = np.histogram(known.clip(low, high), _BARS, (low, high))
    bars = np.rint(counts * (n_known / len(known))).astype(int)
    return _Histogram(known, float(low), float(high), tuple(bars.tolist()))


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


def text_of(value: pa.Scalar) -> str | None:
    """A value formatted for display; None for a blank."""
    if pa.types.is_timestamp(value.type) or pa.types.is_date(value.type):
        return _time_text(value) if value.is_valid else None
    plain = value.as_py()
    if plain is None or plain != plain:
        return None
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, int | float):
        return number_text(plain)
    text = str(plain)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def number_text(x: float) -> str:
    """A number with six digits, or all of a whole number; from 10,000 with commas, so not in years."""
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    size = abs(x)
    comma = "," if size >= 10_000 else ""
    if isinstance(x, int) or (size < 1e15 and (size >= 1e5 or x.is_integer())):
        text = f"{round(x):{comma}}"
    else:
        digits, _, exponent = f"{x:{comma}.{_DIGITS}g}".partition("e")
        text = f"{digits}e{int(exponent)}" if exponent else digits
    return text.replace("-", "−")


def _time_text(value: pa.Scalar) -> str:
    """The day, and the time of day unless it is midnight; in UTC if there is a zone."""
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
