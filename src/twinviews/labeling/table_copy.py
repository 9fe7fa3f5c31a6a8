"""A copy of a table on disk, and what is read from it: rows, labels, fingerprints, search results."""

from __future__ import annotations

import errno
import hashlib
import mmap
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.values import as_numbers, as_words
from twinviews.labeling.entries import LabelTarget
from twinviews.reading import Reading
from twinviews.reading.arrow_kinds import kind_of_type as kind_of
from twinviews.tables import Wanted
from twinviews.tables.arrow import open_table

BATCH_ROWS = 65_536
_MAKE_ROOM = "Make room, or name another folder in the environment variable TMPDIR"
_HEX_DIGITS = 16  # of a fingerprint
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_ROW_NUMBER = re.compile(r"#([\d,]+)|(\d+)")
_WORD = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')


class TableCopy:
    """A table, copied once to a file from which any row can be read without reading the others.

    The copy is in the folder of temporary files (``TMPDIR``), uncompressed and mapped into memory. The
    file has no name, so it disappears when the copy is closed or forgotten, and however Python ends.

    An OSError tells that there is no room for the copy, a ValueError that the table is damaged or has
    no rows.
    """

    def __init__(self, reading: Reading) -> None:
        try:
            with tempfile.TemporaryFile(prefix="twinviews-") as file:
                self._ends = np.cumsum(_write_copy(reading, file))
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(
                f"No room is left in {tempfile.gettempdir()} for a copy of the table. {_MAKE_ROOM}"
            ) from error
        if len(self._ends) == 0:
            raise ValueError(f"{reading.source} has no rows. Check the file, or how it was made.")
        self._reader: Any = pa.ipc.open_file(pa.py_buffer(mapped))
        self.schema: pa.Schema = self._reader.schema
        self.n_rows = int(self._ends[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget the copy; rows that were returned can still be read."""
        self._reader = None

    def rows(self, numbers: Sequence[int] | np.ndarray) -> pa.Table:
        """The rows of these numbers, counted from 0, in this order."""
        wanted = np.asarray(numbers, dtype=np.int64)
        wrong = wanted[(wanted < 0) | (wanted >= self.n_rows)]
        if len(wrong):
            raise ValueError(f"There is no row {wrong[0] + 1:,}: the table has {self.n_rows:,} rows.")
        batch_of = np.searchsorted(self._ends, wanted, side="right")
        order = np.argsort(batch_of, kind="stable")
        batches, starts = np.unique(batch_of[order], return_index=True)
        # Batch by batch: taking from a chunked column of text would first copy all of it.
        parts = []
        for batch, some in zip(batches, np.split(order, starts)[1:], strict=True):
            content = self._reader.get_batch(int(batch))
            parts.append(content.take(pa.array(wanted[some] - self._ends[batch] + content.num_rows)))
        return pa.Table.from_batches(parts, self.schema).take(pa.array(np.argsort(order)))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows in their order, or some columns of them."""
        for i in range(len(self._ends)):
            batch = self._reader.get_batch(i)
            yield batch if columns is None else batch.select(columns)


def _write_copy(reading: Reading, file: IO[bytes]) -> list[int]:
    """Write all rows, and return the lengths of the batches."""
    lengths: list[int] = []
    with pa.ipc.new_file(file, reading.dataset.schema) as writer:
        for batch in _in_large_batches(_all_rows(reading)):
            if not lengths and reading.n_rows is not None:
                _check_room(batch.nbytes / batch.num_rows * reading.n_rows)
            writer.write_batch(batch)
            lengths.append(batch.num_rows)
    file.flush()
    return lengths


def _all_rows(reading: Reading) -> Iterator[pa.RecordBatch]:
    """All rows in their order; a few batches or one row group of Parquet are in memory at a time."""
    table, _ = open_table(reading, Wanted())
    with reading.plain_errors():
        for piece in table.pieces():
            yield from table.batches(piece)


def _check_room(needed: float) -> None:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"A copy of the table, to read any row quickly, takes about {needed / 1e9:,.1f} GB, and "
            f"{folder} has {free / 1e9:,.1f} GB left. {_MAKE_ROOM}"
        )


def _in_large_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, ``BATCH_ROWS`` at a time, or fewer where text is long."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        n_rows = sum(one.num_rows for one in held)
        if n_rows >= BATCH_ROWS:
            together = pa.Table.from_batches(held).combine_chunks()
            full = n_rows - n_rows % BATCH_ROWS
            yield from together.slice(0, full).to_batches(max_chunksize=BATCH_ROWS)
            held = together.slice(full).to_batches()
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches(max_chunksize=BATCH_ROWS)


def table_labels(table: TableCopy, target: LabelTarget) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the table that have a label, and the labels as float64 or text."""
    has_column = target.name in table.schema.names
    batches = table.batches([target.name]) if has_column else ()
    parts = [as_labels(batch.column(0), target) for batch in batches]
    labels = pa.chunked_array(parts, label_type(target))
    dtype = np.float64 if target.task == "regression" else object
    values = labels.drop_null().to_numpy().astype(dtype)
    return np.flatnonzero(np.asarray(labels.is_valid(), dtype=bool)), values


def label_type(target: LabelTarget) -> pa.DataType:
    """The Arrow type of a target's labels."""
    return pa.float64() if target.task == "regression" else pa.string()


def as_labels(column: pa.Array, target: LabelTarget) -> pa.Array:
    """A column of the table as labels, null where there are none."""
    if target.task == "classification":
        return as_words(column).cast(pa.string())
    if kind_of(column.type) not in ("number", "empty"):
        raise ValueError(
            f"Column {target.name!r} holds values of kind {kind_of(column.type)}, and a regression "
            f"needs numbers. Make it a classification, or give the target another name."
        )
    return pa.array(as_numbers(target.name, column), from_pandas=True)


# --- fingerprints -----------------------------------------------------------------------------------


def row_fingerprints(
    table: TableCopy, rows: Sequence[int] | np.ndarray, excluded: Collection[str] = ()
) -> list[str]:
    """Hashes of some rows without the excluded columns, by which a row that has changed is noticed.

    The bytes that are hashed are defined here and depend on no library: columns by their names, in the
    order of the names, and each value as its kind and a text. Whole numbers are the same whether they
    were read as integers or as floats, times whatever their unit, and a day is its midnight: the type
    of a column may change with another row.
    """
    names = sorted(name for name in table.schema.names if name not in excluded)
    found = []
    for start in range(0, len(rows), BATCH_ROWS):
        some = table.rows(rows[start : start + BATCH_ROWS])
        for i in range(some.num_rows):
            parts = [
                part.encode()
                for name in names
                for part in (name, *_kind_and_text(some.column(name)[i]))
            ]
            content = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
            found.append(hashlib.sha256(content).hexdigest()[:_HEX_DIGITS])
    return found


def _kind_and_text(value: pa.Scalar) -> tuple[str, str]:
    types = pa.types
    if not value.is_valid:
        return "blank", ""
    if types.is_timestamp(value.type):
        return "moment", str(value.value * _NANOSECONDS[value.type.unit])
    if types.is_date(value.type):
        return "moment", str(value.cast(pa.date64()).value * _NANOSECONDS["ms"])
    if types.is_floating(value.type):
        number = float(value.as_py())
        if number != number:
            return "blank", ""
        return "number", str(int(number)) if number.is_integer() else repr(number)
    kind = "number" if types.is_integer(value.type) else "text"
    return "boolean" if types.is_boolean(value.type) else kind, str(value.as_py())


# --- search -----------------------------------------------------------------------------------------


def search_rows(table: TableCopy, query: str, most: int = 50) -> list[int]:
    """The first rows that a query means.

    ``#12`` and ``12`` are the twelfth row. ``rome 2024-05 smith`` are the rows that hold each of the
    words: somewhere in a text, or as the beginning of a number or a date; capitals do not matter.
    Quotes keep words together: ``"new york"``.
    """
    number = _ROW_NUMBER.fullmatch(query.strip())
    if number is not None:
        row = int((number[1] or number[2]).replace(",", "") or 0) - 1
        return [row] if 0 <= row < table.n_rows else []
    texts = (match[2] or match[1].replace('""', '"') for match in _WORD.finditer(query))
    # Lower case as Arrow has it, since cells are compared in it.
    words = [pc.utf8_lower(pa.scalar(text)).as_py() for text in texts if text]
    found: list[int] = []
    start = 0
    for batch in table.batches() if words else ():
        found += (start + np.flatnonzero(_holds_all(batch, words))).tolist()
        if len(found) >= most:
            break
        start += batch.num_rows
    return found[:most]


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
        found = pc.match_substring(pc.utf8_lower(as_words(column)), word)
    elif kind in ("number", "date") and word[0] in "-0123456789":
        found = pc.starts_with(column.cast(pa.string()), word)
    else:
        return np.zeros(len(column), dtype=bool)
    return pc.fill_null(found, False).to_numpy(zero_copy_only=False)
