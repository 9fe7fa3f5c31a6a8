"""What a fit has seen of the raw columns of a table, and which values of new rows it has not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews.encoding.codes import Code, DateCode, LevelCode, NumberCode
from twinviews.encoding.facts import LevelFacts, NumberFacts, TableFacts
from twinviews.encoding.values import as_days, as_numbers, as_words, one_array
from twinviews.passes.input_profile import ColumnRanges, InputProfile, LevelsSeen
from twinviews.passes.outside_rows import Looking, Outside


def profile_of_facts(facts: TableFacts, codes: Sequence[Code]) -> InputProfile:
    """Of the columns that have a code; nothing is known of those left out and of registered kinds."""
    least, most = np.full((2, len(codes)), np.nan)
    whole, blank = np.zeros((2, len(codes)), np.uint8)
    levels = {}
    for j, code in enumerate(codes):
        column = facts.columns.get(code.name)
        if column is None:
            continue
        values, blank[j] = column.values, column.missing > 0
        if isinstance(code, NumberCode | DateCode):
            whole[j] = isinstance(code, NumberCode)
            if isinstance(values, NumberFacts):  # else all of these rows are blank
                least[j], most[j] = values.least, values.most
                whole[j] &= values.whole
        elif isinstance(code, LevelCode):
            counts = {} if values is None else values.counts
            rows = {level: count.rows for level, count in counts.items()}
            complete = values is None or (isinstance(values, LevelFacts) and values.complete)
            levels[code.name] = LevelsSeen.of(rows, complete=complete)
    return InputProfile(facts.n_rows, ColumnRanges(least, most, whole, blank), levels)


def look_at_columns(profile: InputProfile, codes: Sequence[Code], rows: Any) -> Outside:
    """Rows of a record batch or a table that have the columns of the fit."""
    looking = Looking(profile, rows.num_rows)
    for j, code in enumerate(codes):
        if isinstance(code, NumberCode | DateCode):
            read = as_days if isinstance(code, DateCode) else as_numbers
            looking.numbers(j, read(code.name, one_array(rows.column(code.name))))
        elif isinstance(code, LevelCode) and profile.levels[code.name].complete:
            _look_at_words(looking, j, as_words(one_array(rows.column(code.name))), profile, code.name)
    return looking.done()


def _look_at_words(
    looking: Looking, column: int, words: pa.Array, profile: InputProfile, name: str
) -> None:
    codes = words.dictionary_encode()
    levels = codes.dictionary.to_pylist()
    place = np.asarray(codes.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    new = profile.levels[name].unseen(levels)
    looking.missing(column, place < 0)
    if new.any():
        rows = np.bincount(place[place >= 0], minlength=len(levels))
        counts = {levels[j]: int(rows[j]) for j in np.flatnonzero(new)}
        looking.new(column, np.append(new, False)[place], counts)
