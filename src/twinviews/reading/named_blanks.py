"""Values that the user calls missing, in files whose columns have types of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.arrow_kinds import is_number, is_text
from twinviews.reading.copies import typed_copy
from twinviews.reading.findings import Reading
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spellings import USUAL, any_true

_BATCH_ROWS = 32_768


def without_named_blanks(found: Reading, options: ReadingOptions) -> Reading:
    """A copy with null where a value is one of ``options.missing``; the reading itself if none is.

    -1 and -1.0 are the same number. Columns that were text are left as they are: their values were
    compared as they are written.
    """
    if options.missing is None or options.missing == USUAL:
        return found
    schema = found.dataset.schema
    named = {field.name: _values(options.missing, field.type) for field in schema}
    named = {name: marks for name, marks in named.items() if len(marks) and name not in found.written}
    with found.plain_errors():
        if not any(_holds(batch, named) for batch in _batches(found, list(named))):
            return found
        copy = typed_copy((_blanked(batch, named) for batch in _batches(found, schema.names)), schema)
    return replace(found, dataset=copy)


def _values(words: Sequence[str], type_: pa.DataType) -> pa.Array:
    """The words as values of a column; none where no value of this type can be one of them."""
    if is_text(type_):
        return pa.array(words, pa.string()).cast(type_)
    if not is_number(type_):
        return pa.array([], type_)
    found = [pa.array([], type_)]
    for word in words:
        try:
            number = float(word)
            if math.isfinite(number):
                found.append(pa.array([int(number) if number.is_integer() else number]).cast(type_))
        except (ValueError, OverflowError, pa.ArrowException):
            continue  # a word, or a number that this column cannot hold
    return pa.concat_arrays(found)


def _batches(found: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    # With threads of its own Arrow reads ahead without bounds.
    yield from found.dataset.to_batches(columns=names, batch_size=_BATCH_ROWS, use_threads=False)


def _holds(batch: pa.RecordBatch, named: dict[str, pa.Array]) -> bool:
    return any(any_true(pc.is_in(batch.column(name), marks)) for name, marks in named.items())


def _blanked(batch: pa.RecordBatch, named: dict[str, pa.Array]) -> pa.RecordBatch:
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in named:
            column = pc.if_else(pc.is_in(column, named[name]), pa.scalar(None, column.type), column)
        columns.append(column)
    return pa.record_batch(columns, schema=batch.schema)
