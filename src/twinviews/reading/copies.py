"""Copies in temporary files, for tables that cannot be read where they are as often as needed."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds

_CHUNK = 1 << 20


def temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="twinviews-"))


def kept_with(dataset: ds.Dataset, folder: Path) -> ds.Dataset:
    """The data set, with which the folder goes: when it is forgotten, or Python ends."""
    weakref.finalize(dataset, shutil.rmtree, folder, ignore_errors=True)
    return dataset


def standard_input(stream: BinaryIO | None = None) -> Path:
    """All that comes from standard input, in a file in a temporary folder of its own."""
    stream = sys.stdin.buffer if stream is None else stream
    folder = temporary_folder()
    try:
        first = stream.read(_CHUNK)
        # Arrow tells a compressed text by the ending of its name.
        path = folder / ("table.csv.gz" if first.startswith(b"\x1f\x8b") else "table")
        with path.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, _CHUNK)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _no_room(error) from error
    return path


def typed_copy(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> ds.Dataset:
    """The batches as an Arrow file."""
    folder = temporary_folder()
    try:
        path = folder / "table.arrow"
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(str(path), schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return kept_with(ds.dataset(str(path), format="ipc"), folder)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _no_room(error) from error


def _no_room(error: BaseException) -> BaseException:
    if isinstance(error, OSError) and error.errno == 28:
        return OSError(
            f"No room is left in {tempfile.gettempdir()} for a copy of the table. Make room, or name another "
            f"folder in the environment variable TMPDIR."
        )
    return error
