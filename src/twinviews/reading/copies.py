"""Copies in temporary files, for tables that cannot be read where they are as often as needed."""

from __future__ import annotations

import errno
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds

from twinviews._system.temporary_files import Held, held_folder
from twinviews.reading.findings import Reading

_CHUNK = 1 << 20
# The disk, the user's share of it, or the size that a file may have.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _temporary_folder() -> Iterator[Held]:
    """A folder that stays if all goes well."""
    folder = held_folder()
    try:
        yield folder
    except BaseException as error:
        folder.release()
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise OSError(
                f"No room is left in {tempfile.gettempdir()} for a copy of the table. Make room, or "
                f"name another folder in the environment variable TMPDIR."
            ) from error
        raise


def _kept_with(dataset: ds.Dataset, folder: Held) -> None:
    """Let the folder go with the data set: when that is forgotten, or Python ends."""
    weakref.finalize(dataset, folder.release)


def read_standard_input(read: Callable[[Path], Reading], stream: BinaryIO | None = None) -> Reading:
    """All that comes from standard input, read from a file."""
    stream = sys.stdin.buffer if stream is None else stream
    with _temporary_folder() as folder:
        first = stream.read(_CHUNK)
        # Arrow tells a packed text by the ending of its name.
        path = folder.path / ("table.gz" if first.startswith(b"\x1f\x8b") else "table")
        with path.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, _CHUNK)
        found = read(path)
        _kept_with(found.dataset, folder)
        return found


def read_copy(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, read: Callable[[Path], Reading]
) -> Reading:
    """The batches, read from an Arrow file."""
    with _temporary_folder() as folder:
        found = read(_arrow_file(folder.path, batches, schema))
        _kept_with(found.dataset, folder)
        return found


def typed_copy(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> ds.Dataset:
    """The batches as the data set of an Arrow file."""
    with _temporary_folder() as folder:
        dataset = ds.dataset(str(_arrow_file(folder.path, batches, schema)), format="ipc")
        _kept_with(dataset, folder)
        return dataset


def _arrow_file(folder: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Path:
    path = folder / "table.arrow"
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(str(path), schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path
