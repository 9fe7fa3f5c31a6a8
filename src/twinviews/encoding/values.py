"""Values of an Arrow column as numbers, days or words; NaN or null where they are missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.tables.double_precision import refuse_too_large

_MICROSECONDS = 86_400_000_000


def as_numbers(name: str, column: pa.Array) -> np.ndarray:
    """Float64. Booleans are 0 and 1, times of day and durations are days."""
    column = _decoded(column)
    type_ = column.type
    if pa.types.is_duration(type_) or pa.types.is_time(type_):
        return _days(column, pa.duration("us") if pa.types.is_duration(type_) else pa.time64("us"))
    if not (pa.types.is_floating(type_) or pa.types.is_integer(type_)):
        column = _cast(name, column, pa.float64(), "a number")
    x = known = _floats(column)
    if not np.isfinite(x).all():
        known = x[~np.isnan(x)]
        if np.isinf(known).any():
            raise ValueError(
                f"Column {name!r} has infinite values. Blank them, which makes them missing, or leave "
                f"the column out."
            )
    refuse_too_large(f"Column {name!r}", known, "Divide it by a number.")
    return x


def as_days(name: str, column: pa.Array) -> np.ndarray:
    """Days since 1970, with their fraction; times with a zone are taken to UTC."""
    column = _decoded(column)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        # Not from numbers: Arrow takes them for microseconds.
        column = _cast(name, column.cast(pa.string()), pa.timestamp("us"), "a date")
    return _days(column, pa.timestamp("us", getattr(column.type, "tz", None)))


def _days(column: pa.Array, in_microseconds: pa.DataType) -> np.ndarray:
    return _floats(column.cast(in_microseconds, safe=False).cast(pa.int64())) / _MICROSECONDS


def as_words(column: pa.Array) -> pa.Array:
    """Strings; whole numbers have no decimal point, so that 7 and 7.0 are one word."""
    column = _decoded(column)
    if pa.types.is_floating(column.type):
        x = _floats(column)
        column = pc.if_else(pa.array(np.isnan(x)), pa.scalar(None, column.type), column)
        if (np.isnan(x) | (x == np.floor(x)) & (np.abs(x) < 2**53)).all():
            column = column.cast(pa.int64())
    return column.cast(pa.large_string())


def one_array(column: Any) -> pa.Array:
    """A column of a record batch, or of a table."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _decoded(column: pa.Array) -> pa.Array:
    """Values instead of codes; Arrow cannot take from views of strings, which polars has as levels."""
    if not pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_string_view(column.type.value_type):
        levels = column.dictionary.cast(pa.large_string())
        column = pa.DictionaryArray.from_arrays(column.indices, levels)
    return column.dictionary_decode()


def _floats(column: pa.Array) -> np.ndarray:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _cast(name: str, column: pa.Array, type_: pa.DataType, what: str) -> pa.Array:
    try:
        return column.cast(type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        wrong = _first_wrong(column, type_)
        raise ValueError(
            f"Column {name!r} holds {wrong} where {what} is expected. Correct it, blank it, or give "
            f"the column another kind."
        ) from None


def _first_wrong(column: pa.Array, type_: pa.DataType) -> str:
    for value in column:
        try:
            value.cast(type_)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return repr(value.as_py())
    return f"values of type {column.type}"
