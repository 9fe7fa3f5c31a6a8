"""A row as a card of the page: its values and where they lie, a guess, and similar labeled rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.entries import Origin, plain_label
from twinviews.labeling.page_data import Card, Fact, FoundRow, Neighbour
from twinviews.labeling.table_copy import TableCopy
from twinviews.labeling.target_state import TargetState
from twinviews.reading.arrow_kinds import kind_of_type as kind_of

_NEIGHBOURS = 3
_VALUES_OF_A_RESULT = 6  # that a search result shows
# From so many rows, shares are wrong by about 0.005, which is not visible in a small picture.
_SAMPLE = 8192
_BARS = 24
# Quantiles between which the bars lie; values beyond count in the first and the last bar.
_USUAL = (0.01, 0.99)
_DIGITS = 6
_LONGEST_TEXT = 2000


def card_of(state: TargetState, distributions: ColumnDistributions, row: int, origin: Origin) -> Card:
    """The card of a row."""
    values = state.table.rows([row])
    x = state.candidates.encode(values)[0]
    event = state.events.get(row)
    return Card(
        row,
        origin,
        state.reason(row, origin),
        distributions.facts(values.select(state.candidates.inputs)),
        state.model.guess(x),
        _neighbours(state, row, x),
        0 if event is None else event.number,
        *state.answer_to(row),
    )


def _neighbours(state: TargetState, row: int, x: np.ndarray) -> tuple[Neighbour, ...]:
    labels = state.labels
    others = np.flatnonzero(labels.rows != row)
    if len(others) == 0 or x.size == 0:
        return ()
    found = state.candidates.nearest(x, labels.X[others], _NEIGHBOURS)
    places = [int(others[near.place]) for near in found]
    cells = state.table.rows(labels.rows[places])
    inputs = state.candidates.inputs
    return tuple(
        Neighbour(
            int(labels.rows[place]),
            plain_label(labels.y[place]),
            near.likeness,
            tuple(_value(cells, i, inputs[column]) for column in near.columns),
        )
        for i, (place, near) in enumerate(zip(places, found, strict=True))
    )


def _value(rows: pa.Table, i: int, name: str) -> tuple[str, str]:
    """A column's name, and its value in a row for display."""
    return name, text_of(rows.column(name)[i]) or "blank"


def found_rows(state: TargetState, rows: Sequence[int]) -> list[FoundRow]:
    """Rows as search results, each with its answer."""
    cells = state.table.rows(rows)
    names = state.candidates.inputs[:_VALUES_OF_A_RESULT]
    found = []
    for i, row in enumerate(rows):
        words = ", ".join(" ".join(_value(cells, i, name)) for name in names)
        found.append(FoundRow(row, words, *state.answer_to(row)))
    return found


class _Histogram(NamedTuple):
    known: np.ndarray  # values of a sample, increasing
    low: float  # ends of the bars
    high: float
    bars: tuple[int, ...]  # counts of all rows; empty if all values are equal


class ColumnDistributions:
    """Counts of words and blanks from one pass over all rows, and histograms from a sample."""

    def __init__(self, table: TableCopy) -> None:
        n, self._n_rows = min(table.n_rows, _SAMPLE), table.n_rows
        rows = np.sort(np.random.default_rng(0).choice(table.n_rows, n, replace=False))
        sample = table.rows(rows).combine_chunks()
        self._kinds = {field.name: kind_of(field.type) for field in table.schema}
        self._blanks: Counter[str] = Counter()
        # Counting the values of identifiers takes long and tells nothing.
        self._words: dict[str, Counter[str]] = {
            name: Counter()
            for name, kind in self._kinds.items()
            if kind in ("category", "boolean")
            and (n == table.n_rows or not _is_mostly_unique(sample.column(name)))
        }
        for batch in table.batches():
            self._count(batch)
        self._histograms = {
            name: _histogram(
                _as_floats(name, pa.concat_arrays(sample.column(name).chunks), kind),
                table.n_rows - self._blanks[name],
            )
            for name, kind in self._kinds.items()
            if kind in ("number", "date")
        }

    def _count(self, batch: pa.RecordBatch) -> None:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            kind = self._kinds[name]
            if kind in ("number", "date"):
                self._blanks[name] += int(np.isnan(_as_floats(name, column, kind)).sum())
            else:
                self._blanks[name] += column.null_count
            if name in self._words:
                found = pc.value_counts(as_words(column).drop_null())
                values, counts = (found.field(i).to_pylist() for i in range(2))
                self._words[name].update(dict(zip(values, counts, strict=True)))

    def facts(self, row: pa.Table) -> tuple[Fact, ...]:
        """The facts of a table of one row, in the order of its columns."""
        return tuple(self.fact(name, row.column(name)[0]) for name in row.schema.names)

    def fact(self, name: str, value: pa.Scalar) -> Fact:
        """A value of a column, and where it lies."""
        kind = "category" if self._blanks[name] == self._n_rows else self._kinds[name]
        text = text_of(value)
        if text is None:
            return Fact(name, kind, None, None, self._blanks[name] / self._n_rows)
        if name in self._histograms:
            known, low, high, bars = self._histograms[name]
            x = float(_as_floats(name, pa.array([value]), kind)[0])
            below = float(np.searchsorted(known, x) / len(known)) if len(known) else None
            bar = min(max(int((x - low) / (high - low) * _BARS), 0), _BARS - 1) if bars else None
            return Fact(name, kind, text, below, None, bars, bar)
        if name not in self._words:
            return Fact(name, kind, text, None, None)
        word = as_words(pa.array([value]))[0].as_py()
        return Fact(name, kind, text, None, self._words[name][word] / self._n_rows)


def _histogram(sample: np.ndarray, n_known: int) -> _Histogram:
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


def _is_mostly_unique(column: pa.ChunkedArray) -> bool:
    known = column.drop_null()
    return 2 * len(known.unique()) > len(known)


def _as_floats(name: str, column: pa.Array, kind: str) -> np.ndarray:
    return as_days(name, column) if kind == "date" else as_numbers(name, column)


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
