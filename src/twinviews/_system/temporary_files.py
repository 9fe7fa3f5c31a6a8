"""Temporary files and folders; a lock shows which processes still live, because it ends with them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where the files of a killed process stay
    fcntl = None  # type: ignore[assignment]


# Paths of this process, noted before they are made and until they are removed.
_in_use: set[Path] = set()


class Held:
    """A temporary file or folder of this process, under a lock.

    Older ones in the same folder, with the same prefix, that no process holds any more are removed.
    """

    def __init__(self, folder: Path, prefix: str, make: Callable[[Path], None]) -> None:
        _clear(folder, prefix)
        while True:
            self.path = folder / f"{prefix}{uuid4().hex}"
            _in_use.add(self.path)
            make(self.path)
            # Waits, because a process that clears up may hold the lock for a moment.
            self._lock = _locked(self.path, wait=True)
            if self.path.exists():  # otherwise another process removed it before it was locked
                return
            self.release()

    def release(self) -> None:
        """Remove it if it still exists."""
        _remove(self.path)
        _in_use.discard(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def held_file(folder: Path, prefix: str) -> Held:
    """An empty file."""
    return Held(folder, prefix, lambda path: path.open("xb").close())


def held_folder() -> Held:
    """An empty folder in ``TMPDIR``."""
    return Held(Path(tempfile.gettempdir()), "twinviews-", lambda path: path.mkdir(mode=0o700))


def remove_all_held() -> None:
    """Remove every temporary file and folder of this process, which is about to end."""
    for path in list(_in_use):
        _remove(path)


def _clear(folder: Path, prefix: str) -> None:
    """Remove what is named like ours, belongs to the user and is not locked."""
    if fcntl is None:
        return
    ours = re.compile(re.escape(prefix) + "[0-9a-f]{32}")
    with suppress(OSError):  # a folder that may be written to, but not listed
        for entry in os.scandir(folder):
            if not ours.fullmatch(entry.name) or not _is_own(entry):
                continue
            lock = _locked(Path(entry.path), wait=False)
            if lock is not None:
                _remove(Path(entry.path))
                os.close(lock)


def _is_own(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # gone meanwhile
        return not entry.is_symlink() and entry.stat().st_uid == os.getuid()
    return False


def _locked(path: Path, *, wait: bool) -> int | None:
    """The handle of a lock, which ends with the handle or the process; None if it cannot be had."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process has it, or the file system has no locks
        os.close(handle)
        return None
    return handle


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
