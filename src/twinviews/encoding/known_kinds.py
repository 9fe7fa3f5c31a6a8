"""The kinds of columns that this package brings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from twinviews.encoding.column_kinds import ColumnKind, register_column_kind
from twinviews.encoding.facts import LevelFacts, NumberFacts
from twinviews.encoding.rules import code_boolean, code_date, code_levels, code_number
from twinviews.encoding.values import as_days, as_numbers, as_words


def _summarise_numbers(
    name: str, column: pa.Array, weight: np.ndarray
) -> tuple[np.ndarray, NumberFacts]:
    x = as_numbers(name, column)
    return np.isnan(x), NumberFacts.of(x, weight)


def _summarise_days(name: str, column: pa.Array, weight: np.ndarray) -> tuple[np.ndarray, NumberFacts]:
    x = as_days(name, column)
    return np.isnan(x), NumberFacts.of(x, weight)


def _summarise_words(name: str, column: pa.Array, weight: np.ndarray) -> tuple[np.ndarray, LevelFacts]:
    words = as_words(column)
    return np.asarray(words.is_null()), LevelFacts.of(words, weight)


for _kind in (
    ColumnKind("number", _summarise_numbers, code_number),
    ColumnKind("boolean", _summarise_numbers, code_boolean, read_as="boolean"),
    ColumnKind("date", _summarise_days, code_date, read_as="date"),
    ColumnKind("category", _summarise_words, code_levels, read_as="category"),
):
    register_column_kind(_kind)
