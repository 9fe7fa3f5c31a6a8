"""Copies in temporary files, for tables that cannot be read where they are as often as needed."""

from __future__ import annotations

import errno
import gzip
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO, cast

import pyarrow as pa
import pyarrow.dataset as ds

from twinviews._system.temporary_files import held_folder
from twinviews.reading.findings import Reading

_CHUNK = 1 << 20
_COPIED_ROWS = 32_768
# How much larger a packed text may be once it is unpacked.
_UNPACKED = 10
# The disk, the user's share of it, or the size that a file may have.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_from(fill: Callable[[Path], Path], read: Callable[[Path], Reading]) -> Reading:
    """What ``fill`` put in a temporary folder, which is removed with the data set, or Python's end."""
    folder = held_folder()
    try:
        found = read(fill(folder.path))
    except BaseException as error:
        folder.release()
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise OSError(
                f"No room is left in {tempfile.gettempdir()} for a copy of the table. Make room, or "
                f"name another folder in the environment variable TMPDIR."
            ) from error
        raise
    weakref.finalize(found.dataset, folder.release)
    return found


def read_standard_input(read: Callable[[Path], Reading], stream: BinaryIO | None = None) -> Reading:
    """All that comes from standard input, read from a file."""
    stream = sys.stdin.buffer if stream is None else stream

    def fill(folder: Path) -> Path:
        first = stream.read(_CHUNK)
        # Arrow tells a packed text by the ending of its name.
        path = folder / ("table.gz" if first.startswith(b"\x1f\x8b") else "table")
        with path.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, _CHUNK)
        return path

    return _read_from(fill, read)


def read_copy(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, read: Callable[[Path], Reading]
) -> Reading:
    """The batches, read from an Arrow file."""

    def fill(folder: Path) -> Path:
        path = folder / "table.arrow"
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(str(path), schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return path

    return _read_from(fill, read)


def typed_copy(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> ds.Dataset:
    """The batches as the data set of an Arrow file."""

    def read(path: Path) -> Reading:
        return Reading(str(path), ds.dataset(str(path), format="ipc"), ())

    return read_copy(batches, schema, read).dataset


def columnar_copy(reading: Reading) -> Reading:
    """A reading that is fast to read again and again: text is parsed once more, into an Arrow file.

    Without room for it (half of what is left on the disk of temporary files), or for a table that has
    columns of its own, the reading itself.
    """
    form = getattr(reading.dataset, "format", None)
    if not isinstance(form, ds.CsvFileFormat | ds.JsonFileFormat) or not _fits(reading):
        return reading
    with reading.plain_errors():
        # By default a scanner of text reads far ahead of whoever takes the batches.
        batches = reading.dataset.to_batches(
            batch_size=_COPIED_ROWS, use_threads=False, batch_readahead=2, fragment_readahead=1
        )
        copy = typed_copy(batches, reading.dataset.schema)
    return replace(reading, dataset=copy)


def _fits(reading: Reading) -> bool:
    """Whether a copy takes at most half of the room; it is about as large as the text was."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    packed = any(path.endswith(".gz") for path, *_ in reading.files.stamps)
    size = sum(size or 0 for _, size, _ in reading.files.stamps)
    return 2 * size * (_UNPACKED if packed else 1) < free
