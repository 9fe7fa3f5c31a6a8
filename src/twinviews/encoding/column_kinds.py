"""Kinds of columns: how each is summarised, which numbers it becomes, and why some are left out.

A new one is registered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews.encoding.codes import Code, DateCode, LeftOutColumn, LevelCode, NumberCode
from twinviews.encoding.facts import (
    ColumnFacts,
    Kind,
    LevelFacts,
    NumberFacts,
    TableFacts,
    commonest,
)
from twinviews.encoding.values import as_days, as_numbers, as_words, one_array
from twinviews.passes.scaling import without_last_digits
from twinviews.reading.arrow_kinds import TypeTest, take_types_for
from twinviews.tables import Block

# A level has a column of its own if so many rows have it, and if it is among so many of the commonest.
FEWEST_ROWS_OF_A_LEVEL = 3
MOST_LEVELS = 32
# Longer words are texts, not levels.
_LONGEST_LEVEL = 1000
# If fewer rows than this share have such a level, the column names things one by one.
_LEAST_SHARED = 0.1
# Days that the dates must span for the week and the year to show.
_TWO_WEEKS, _HALF_A_YEAR = 14.0, 180.0


@dataclass(frozen=True)
class ColumnKind:
    """What is done with the columns of a kind.

    Parameters
    ----------
    name : str
        As in ``kinds={"wind": "angle"}``.
    summarise : callable
        From the name of a column, its values in a block of rows and the rows' weights to which values
        are missing, (rows,) booleans, and a summary of the others that has ``merge(other)``.
    code : callable
        From the name of a column, the ``ColumnFacts`` of all rows, their number, and whether the user
        gave the kind, to a code: an object with ``name``, ``kind``, ``outputs`` (names of the numbers),
        ``words`` (what was done) and a call from values to (rows, outputs) numbers.
    is_type : callable, optional
        Of which Arrow types columns are of this kind without a word of the user's.
    read_as : str
        As what a column is read from text: number, category, date or boolean.
    """

    name: str
    summarise: Callable[[str, pa.Array, np.ndarray], tuple[np.ndarray, Any]]
    code: Callable[[str, ColumnFacts, int, bool], Any]
    is_type: TypeTest | None = None
    read_as: str = "number"


def register_column_kind(kind: ColumnKind) -> None:
    """Let every table have columns of another kind."""
    _KINDS[kind.name] = kind
    if kind.is_type is not None:
        take_types_for(kind.name, kind.is_type)


def kinds_by_name() -> Mapping[str, ColumnKind]:
    """What a user may say that a column is."""
    return _KINDS


def facts_of(block: Block, kinds: Mapping[str, Kind]) -> TableFacts:
    """Of a block of raw rows; ``kinds`` says what each column is to be taken for.

    Rows of weight zero are absent.
    """
    rows, weight = block.X, block.weight
    if weight is None:
        weight = np.ones(rows.num_rows)
    elif not weight.all():
        rows, weight = rows.filter(pa.array(weight > 0)), weight[weight > 0]
    columns = {
        name: _facts_of(name, one_array(rows.column(name)), kind, weight)
        for name, kind in kinds.items()
    }
    return TableFacts(rows.num_rows, columns)


def _facts_of(name: str, column: pa.Array, kind: Kind, weight: np.ndarray) -> ColumnFacts:
    total = float(weight.sum())
    if pa.types.is_null(column.type) or kind == "empty":
        return ColumnFacts("empty", total, total, None)
    if kind == "other":
        return ColumnFacts(kind, total, 0.0, None)
    blank, values = _KINDS[kind].summarise(name, column, weight)
    if blank.all():
        return ColumnFacts("empty", total, total, None)
    return ColumnFacts(kind, total, float(weight[blank].sum()), values)


def code_of(name: str, facts: ColumnFacts, n_rows: int, *, wanted: bool) -> Code:
    """What becomes of a column; if the user gave its kind, it stays in unless it says nothing."""
    if facts.kind == "other":
        return LeftOutColumn(name, "its values are neither numbers, words nor dates")
    if facts.values is None or facts.missing == facts.weight:
        return LeftOutColumn(name, "it is empty")
    if getattr(facts.values, "is_constant", False) and not facts.missing:
        return LeftOutColumn(name, "all rows have the same value")
    code: Code = _KINDS[facts.kind].code(name, facts, n_rows, wanted)
    return code


# --- the kinds that this package brings -------------------------------------------------------------


def _summarise_numbers(
    read: Callable[[str, pa.Array], np.ndarray], name: str, column: pa.Array, weight: np.ndarray
) -> tuple[np.ndarray, NumberFacts]:
    x = read(name, column)
    return np.isnan(x), NumberFacts.of(x, weight)


def _summarise_words(name: str, column: pa.Array, weight: np.ndarray) -> tuple[np.ndarray, LevelFacts]:
    words = as_words(column)
    return np.asarray(words.is_null()), LevelFacts.of(words, weight)


def _code_number(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    if not wanted and _counts_rows(facts, facts.values, n_rows):
        return LeftOutColumn(name, "it numbers the rows")
    is_boolean = facts.kind == "boolean"
    return NumberCode(name, _mean(facts.values), flag=facts.missing > 0, boolean=is_boolean)


def _code_date(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    span = facts.values.most - facts.values.least
    return DateCode(
        name,
        _mean(facts.values),
        flag=facts.missing > 0,
        of_day=not facts.values.whole,
        of_week=span >= _TWO_WEEKS,
        of_year=span >= _HALF_A_YEAR,
    )


def _mean(values: NumberFacts) -> float:
    """Rounded, so that blanks are filled by the same number whatever the order of the rows."""
    deviation = np.sqrt(values.squares / values.weight)
    if deviation == 0:
        return values.mean
    return float(without_last_digits(values.mean, max(deviation, abs(values.mean))))


def _counts_rows(facts: ColumnFacts, values: NumberFacts, n_rows: int) -> bool:
    """Whether the values are k, k + 1, ..., k + N - 1 in some order, as far as sums can tell."""
    if facts.missing or not values.whole or n_rows < 10 or facts.weight != n_rows:
        return False
    spread = n_rows * (n_rows**2 - 1) / 12
    middle = (values.least + values.most) / 2
    return values.most - values.least == n_rows - 1 and bool(
        np.allclose([values.mean, values.squares], [middle, spread], rtol=1e-9)
    )


def _code_levels(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    levels, present = facts.values, facts.weight - facts.missing
    counts = {level: count for level, count in levels.counts.items() if len(level) <= _LONGEST_LEVEL}
    # A row of weight 2 counts as two, and weights may be small numbers, all of them.
    kept = [
        (level, count.weight)
        for level, count in commonest(counts, MOST_LEVELS)
        if max(count) >= FEWEST_ROWS_OF_A_LEVEL
    ]
    if not kept or (sum(weight for _, weight in kept) < _LEAST_SHARED * present and not wanted):
        return LeftOutColumn(name, "nearly every row has a value of its own")
    # Of two levels one says it all.
    one_says_all = len(levels.counts) == len(kept) == 2 and not facts.missing
    named = sorted(level for level, _ in kept)[1 if one_says_all else 0 :]
    known = tuple(sorted(counts))
    code = LevelCode(name, tuple(named), flag=facts.missing > 0, known=known)
    if len(levels.counts) <= MOST_LEVELS:
        return code
    shares = [counts[level].weight / facts.weight for level in known]
    return replace(code, shares=tuple(without_last_digits(np.array(shares), 1.0).tolist()))


_KINDS = {
    kind.name: kind
    for kind in (
        ColumnKind("number", partial(_summarise_numbers, as_numbers), _code_number),
        ColumnKind("boolean", partial(_summarise_numbers, as_numbers), _code_number, read_as="boolean"),
        ColumnKind("date", partial(_summarise_numbers, as_days), _code_date, read_as="date"),
        ColumnKind("category", _summarise_words, _code_levels, read_as="category"),
    )
}
