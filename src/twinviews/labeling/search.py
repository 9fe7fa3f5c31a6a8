"""Rows that a person looks for: by number, or by words that their values hold."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.labeling.table_copy import TableCopy
from twinviews.reading.arrow_kinds import kind_of_type as kind_of

_ROW_NUMBER = re.compile(r"#([\d,]+)|(\d+)")
_WORD = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')


def search_rows(table: TableCopy, query: str, most: int = 50) -> list[int]:
    """The first rows that a query means.

    ``#12`` and ``12`` are the twelfth row. ``rome 2024-05 smith`` are the rows that hold each of the
    words: somewhere in a text, or as the beginning of a number or a date; capitals do not matter.
    Quotes keep words together: ``"new york"``.
    """
    row = _row_number(query)
    if row is not None:
        return [row] if 0 <= row < table.n_rows else []
    words = _words(query)
    found: list[int] = []
    if not words:
        return found
    start = 0
    for batch in table.batches():
        rows = np.flatnonzero(_holds_all(batch, words))
        found += (start + rows[: most - len(found)]).tolist()
        if len(found) >= most:
            break
        start += batch.num_rows
    return found


def _row_number(query: str) -> int | None:
    """The row, counted from 0, if the query is a row number, counted from 1."""
    found = _ROW_NUMBER.fullmatch(query.strip())
    return None if found is None else int((found[1] or found[2]).replace(",", "") or 0) - 1


def _words(query: str) -> list[str]:
    found = (match[2] or match[1].replace('""', '"') for match in _WORD.finditer(query))
    # Lower case as Arrow has it, since cells are compared in it.
    return [pc.utf8_lower(pa.scalar(word)).as_py() for word in found if word]


def _holds_all(batch: pa.RecordBatch, words: list[str]) -> np.ndarray:
    """(rows,) whether a row holds every word."""
    every = np.ones(batch.num_rows, dtype=bool)
    for word in words:
        some = np.zeros(batch.num_rows, dtype=bool)
        for column in batch.columns:
            some |= _holds(column, word)
        every &= some
    return every


def _holds(column: pa.Array, word: str) -> np.ndarray:
    kind = kind_of(column.type)
    if kind == "category":
        found = pc.match_substring(pc.utf8_lower(column), word)
    elif kind in ("number", "date") and word[0] in "-0123456789":
        found = pc.starts_with(column.cast(pa.string()), word)
    else:
        return np.zeros(len(column), dtype=bool)
    return pc.fill_null(found, False).to_numpy(zero_copy_only=False)
