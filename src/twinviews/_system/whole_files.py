"""Files that appear when they are complete; until then, and after an error, the old one stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twinviews._system.temporary_files import held_file


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A hidden file beside the path to write to, which takes its name when the block ends.

    A process that is killed leaves the hidden file; the next one that writes to the path removes it.
    """
    with told_of(path):
        part = held_file(path.parent, f".{path.name}.")
    try:
        yield part.path
        with told_of(path):
            _sync(part.path)
            os.replace(part.path, path)
    finally:
        part.release()


def replace_file(path: Path, content: bytes) -> None:
    """Write content that is in memory as a whole file."""
    with whole_file(path) as part, told_of(path):
        part.write_bytes(content)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Raise errors of the system under the name of the file that the user asked for."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        reason = os.strerror(error.errno)
        raise OSError(error.errno, f"{reason}, so it could not be written", str(path)) from error


def _sync(path: Path) -> None:
    """Write to the disk before the renaming: after a power cut there is the old file or the new one."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
