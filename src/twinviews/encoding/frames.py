"""Data frames in memory: pandas, polars and whatever else speaks Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.encoder import Encoder, encoder_of, facts_of_table, kinds_of
from twinviews.encoding.facts import Kind, TableFacts
from twinviews.tables import ArrayTable, Block
from twinviews.tables.arrow import is_plain


def as_arrow(frame: Any) -> pa.Table:
    """A frame, or a mapping of names to arrays, as an Arrow table; a pandas index is no column."""
    if isinstance(frame, pa.Table):
        return frame
    if not isinstance(frame, Mapping) and type(frame).__module__.partition(".")[0] != "pandas":
        return pa.table(frame)
    columns: dict[str, pa.Array] = {}
    for name, column in frame.items():
        if str(name) in columns:
            raise ValueError(f"Two columns have the name {str(name)!r}. Rename one of them.")
        try:
            columns[str(name)] = pa.Array.from_pandas(column)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise ValueError(
                f"Column {str(name)!r} mixes values of several types. Make them all numbers, all words "
                f"or all dates. ({error})"
            ) from None
    return pa.table(columns)


def is_plain_frame(frame: pa.Table) -> bool:
    """Whether all columns are numbers and no value is missing."""
    if not all(is_plain(field.type) for field in frame.schema):
        return False
    return not any(pc.any(column.is_null(nan_is_null=True)).as_py() for column in frame.columns)


def facts_of_frame(
    frame: pa.Table, kinds: Mapping[str, Kind], weight: np.ndarray | None = None
) -> TableFacts:
    batch = frame.combine_chunks().to_batches()
    if not batch:
        raise ValueError("The table has no rows. Check the path, or the filter that made it.")
    return facts_of_table(ArrayTable(Block(batch[0], None, weight)), kinds)


def encoder_of_frame(frame: pa.Table, given: Mapping[str, Kind]) -> Encoder:
    kinds = kinds_of(frame.schema, frame.schema.names, given)
    return encoder_of(facts_of_frame(frame, kinds), given)
