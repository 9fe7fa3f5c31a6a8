"""Data frames in memory as Arrow tables: pandas, polars and whatever else speaks Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_ARROW_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def as_arrow(frame: Any) -> pa.Table:
    """A frame, or a mapping of names to arrays, as an Arrow table; a pandas index is no column."""
    if not isinstance(frame, Mapping) and type(frame).__module__.partition(".")[0] != "pandas":
        return frame if isinstance(frame, pa.Table) else _read(frame)
    columns: dict[str, pa.Array] = {}
    for name, column in frame.items():
        if str(name) in columns:
            raise ValueError(f"Two columns have the name {str(name)!r}. Rename one of them.")
        try:
            columns[str(name)] = pa.Array.from_pandas(column)
        except (*_ARROW_ERRORS, OverflowError, UnicodeError) as error:
            raise ValueError(
                f"Column {str(name)!r} mixes values of several types, or holds some that Arrow has no "
                f"type for. Make them all numbers, all words or all dates. ({error})"
            ) from None
    return pa.table(columns)


def _read(frame: Any) -> pa.Table:
    if not any(hasattr(frame, way) for way in ("__arrow_c_stream__", "__arrow_c_array__", "dtypes")):
        raise ValueError(
            f"This is a {type(frame).__name__}, and a table is needed: a path, a list of paths, a data "
            f"frame, an Arrow table or data set, or a Dask or Spark data frame."
        )
    try:
        return pa.table(frame)
    except _ARROW_ERRORS as error:
        raise ValueError(
            f"This {type(frame).__name__} has a column that Arrow has no type for ({error}). Make it "
            f"numbers, words or dates, or leave it out."
        ) from None
