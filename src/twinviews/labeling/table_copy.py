"""A copy of a table on disk, from which any rows can be read at once, or all as a stream."""

from __future__ import annotations

import errno
import mmap
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa

from twinviews.reading import Reading
from twinviews.tables import Wanted
from twinviews.tables.arrow import open_table

BATCH_ROWS = 65_536


class TableCopy:
    """A table, copied once to a file from which any row can be read without reading the others.

    The copy is in the folder of temporary files (``TMPDIR``), uncompressed and mapped into memory. The
    file has no name, so it disappears when the copy is closed or forgotten, and however Python ends.

    Parameters
    ----------
    reading : Reading
        The table, in any format.

    Raises
    ------
    OSError
        If there is no room for the copy.
    ValueError
        If the table is damaged, or has no rows.
    """

    def __init__(self, reading: Reading) -> None:
        with _plain_error_on_a_full_disk(), tempfile.TemporaryFile(prefix="twinviews-") as file:
            self._ends = np.cumsum(_write_copy(reading, file))
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
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
        wanted = self._checked(numbers)
        if len(wanted) == 0:
            return self.schema.empty_table()
        batch_of = np.searchsorted(self._ends, wanted, side="right")
        order = np.argsort(batch_of, kind="stable")
        batches, starts = np.unique(batch_of[order], return_index=True)
        # Batch by batch: taking from a chunked column of text would first copy all of it.
        parts = []
        for batch, some in zip(batches, np.split(order, starts[1:]), strict=True):
            content = self._reader.get_batch(int(batch))
            parts.append(content.take(pa.array(wanted[some] - self._ends[batch] + content.num_rows)))
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return pa.Table.from_batches(parts, self.schema).take(pa.array(back))

    def _checked(self, numbers: Sequence[int] | np.ndarray) -> np.ndarray:
        wanted = np.asarray(numbers, dtype=np.int64)
        wrong = wanted[(wanted < 0) | (wanted >= self.n_rows)]
        if len(wrong):
            raise ValueError(f"There is no row {wrong[0] + 1:,}: the table has {self.n_rows:,} rows.")
        return wanted

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


@contextmanager
def _plain_error_on_a_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise OSError(
            f"No room is left in {tempfile.gettempdir()} for a copy of the table. {_MAKE_ROOM}"
        ) from error


def _all_rows(reading: Reading) -> Iterator[pa.RecordBatch]:
    """All rows in their order; a few batches or one row group of Parquet are in memory at a time."""
    table, _ = open_table(reading, Wanted())
    with reading.plain_errors():
        for piece in table.pieces():
            yield from table.batches(piece)


_MAKE_ROOM = "Make room, or name another folder in the environment variable TMPDIR"


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
