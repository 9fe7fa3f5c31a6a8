"""Temporary files and folders; those of killed processes are told by a lock, which ended with them."""

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
except ModuleNotFoundError:  # on Windows, where what a killed process leaves behind stays
    fcntl = None  # type: ignore[assignment]


class Held:
    """A temporary file or folder of a name that nothing else has, under a lock of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The lock is waited for: whoever clears up may have it for a moment.
        self._lock = _locked(path, wait=True)

    def release(self) -> None:
        """Take it away, if it is still there."""
        _remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def held_file(folder: Path, prefix: str) -> Held:
    """An empty file; those with this prefix that nobody holds any more are taken away."""
    return _held(folder, prefix, lambda path: path.open("xb").close())


def held_folder() -> Held:
    """An empty folder among the temporary files (``TMPDIR``); those that nobody holds any more go."""
    return _held(Path(tempfile.gettempdir()), "twinviews-", lambda path: path.mkdir(mode=0o700))


def _held(folder: Path, prefix: str, make: Callable[[Path], None]) -> Held:
    _clear(folder, prefix)
    while True:
        path = folder / f"{prefix}{uuid4().hex}"
        make(path)
        held = Held(path)
        if path.exists():  # else it was cleared away before it was locked
            return held
        held.release()


def _clear(folder: Path, prefix: str) -> None:
    """Take away what is named as ours are, is the user's own, and is locked by nobody."""
    if fcntl is None:
        return
    ours = re.compile(re.escape(prefix) + "[0-9a-f]{32}")
    with suppress(OSError):  # a folder that may be written to, but not be listed
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
    """A lock until its handle is closed or the process ends; None if it cannot be had."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another has it, or the file system knows no locks
        os.close(handle)
        return None
    return handle


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
