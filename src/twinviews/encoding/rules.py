"""From facts to codes: which numbers each column becomes, and why some are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from twinviews.encoding.codes import Code, DateCode, LeftOutColumn, LevelCode, NumberCode
from twinviews.encoding.column_kinds import column_kind
from twinviews.encoding.facts import (
    ColumnFacts,
    Kind,
    LevelFacts,
    NumberFacts,
    TableFacts,
    commonest,
)
from twinviews.passes.scaling import without_last_digits

# A level has a column of its own if so many rows have it, and if it is among so many of the commonest.
FEWEST_ROWS_OF_A_LEVEL = 3
MOST_LEVELS = 32
# Longer words are texts, not levels.
_LONGEST_LEVEL = 1000
# If fewer rows than this share have such a level, the column names things one by one.
_LEAST_SHARED = 0.1
# Days that the dates must span for the week and the year to show.
_TWO_WEEKS, _HALF_A_YEAR = 14.0, 180.0


def code_columns(facts: TableFacts, given: Mapping[str, Kind]) -> tuple[Code, ...]:
    """A code for each column; a kind that the user gave is never left out for what it looks like."""
    return tuple(
        _code(name, column, facts.n_rows, wanted=name in given)
        for name, column in facts.columns.items()
    )


def _code(name: str, facts: ColumnFacts, n_rows: int, *, wanted: bool) -> Code:
    if facts.kind == "other":
        return LeftOutColumn(name, "its values are neither numbers, words nor dates")
    if facts.values is None or facts.missing == facts.weight:
        return LeftOutColumn(name, "it is empty")
    code: Code = column_kind(facts.kind).code(name, facts, n_rows, wanted)
    return code


def code_number(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    if _is_constant(facts):
        return LeftOutColumn(name, "all rows have the same value")
    if not wanted and _counts_rows(facts, facts.values, n_rows):
        return LeftOutColumn(name, "it numbers the rows")
    return NumberCode(name, _mean(facts.values), flag=facts.missing > 0, boolean=False)


def code_boolean(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    if _is_constant(facts):
        return LeftOutColumn(name, "all rows have the same value")
    return NumberCode(name, _mean(facts.values), flag=facts.missing > 0, boolean=True)


def code_date(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    if _is_constant(facts):
        return LeftOutColumn(name, "all rows have the same value")
    return _date_code(name, facts.values, flag=facts.missing > 0)


def code_levels(name: str, facts: ColumnFacts, n_rows: int, wanted: bool) -> Code:
    return _level_code(name, facts, facts.values, wanted=wanted)


def _is_constant(facts: ColumnFacts) -> bool:
    return bool(facts.values.least == facts.values.most and not facts.missing)


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


def _level_code(name: str, facts: ColumnFacts, levels: LevelFacts, *, wanted: bool) -> Code:
    present = facts.weight - facts.missing
    counts = {level: count for level, count in levels.counts.items() if len(level) <= _LONGEST_LEVEL}
    # A row of weight 2 counts as two, and weights may be small numbers, all of them.
    kept = [
        (level, count.weight)
        for level, count in commonest(counts, MOST_LEVELS)
        if max(count) >= FEWEST_ROWS_OF_A_LEVEL
    ]
    if len(levels.counts) == 1 and not facts.missing:
        return LeftOutColumn(name, "all rows have the same value")
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


def _date_code(name: str, values: NumberFacts, *, flag: bool) -> DateCode:
    span = values.most - values.least
    return DateCode(
        name,
        _mean(values),
        flag=flag,
        of_day=not values.whole,
        of_week=span >= _TWO_WEEKS,
        of_year=span >= _HALF_A_YEAR,
    )
