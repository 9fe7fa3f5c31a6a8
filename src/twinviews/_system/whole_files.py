"""A file appears when it is complete; until then, and if that fails, the old one stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twinviews._system.temporary_files import held_file


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name beside the path, beginning with a dot, to write to; nothing of it is left behind.

    A process that is killed has to leave it. Whoever writes the same file next takes it away.
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
    """The same for content in memory."""
    with whole_file(path) as part, told_of(path):
        part.write_bytes(content)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """What the system says while a file is written, with the file's own name."""
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
    """On the disk before it has its name: after a power cut there is the old file or the new one."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
