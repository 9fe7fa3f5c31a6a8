"""A long pass that can be killed: what is folded so far, on disk, in one file that is always whole."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from twinviews._system.whole_files import replace_file

_SECONDS_BETWEEN = 1.0
ALL = -1
# What zipfile, NumPy and json say of a file that is not as they wrote it.
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError, EOFError, NotImplementedError,
    RuntimeError,
)  # fmt: skip


class Storable(Protocol):
    """A summary that can be written as plain arrays."""

    def to_arrays(self) -> dict[str, np.ndarray]: ...

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self: ...


class FoldState(NamedTuple):
    """How far a fold has come: pieces done (``ALL`` for all), and the summary of them."""

    done: int
    summary: Any


class Checkpoint:
    """The folds of one fit, in the order in which they are made.

    The file holds plain numbers (NumPy's npz without pickle) and the fingerprint of the fit it belongs
    to. At most once a second it is written beside itself and renamed, so that it is always whole.
    """

    def __init__(
        self, path: str | os.PathLike[str], fingerprint: str, kinds: Sequence[type[Storable]]
    ) -> None:
        self.path, self.fingerprint = Path(path), fingerprint
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._states: list[FoldState] = []
        self._fold = -1
        self._saved = 0.0
        if not self.path.parent.is_dir():  # better known now than after the first pass
            raise FileNotFoundError(
                f"There is no folder {str(self.path.parent)!r} for checkpoint={str(self.path)!r}. Make "
                f"it first."
            )
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        way_out = "Name another file, or delete this one to start afresh."
        content = io.BytesIO(self.path.read_bytes())
        try:
            with zipfile.ZipFile(content) as archive:
                stored = {
                    name.removesuffix(".npy"): _array(archive, name) for name in archive.namelist()
                }
            found = json.loads(str(stored["about"]))
            is_ours = found["fingerprint"] == self.fingerprint
            if is_ours:
                self._states = [self._state(i, fold, stored) for i, fold in enumerate(found["folds"])]
        except _DAMAGES as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no checkpoint, or damaged. {way_out}"
            ) from error
        if not is_ours:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: other parameters, columns or "
                f"files. {way_out}"
            )

    def _state(self, number: int, fold: dict[str, Any], stored: dict[str, np.ndarray]) -> FoldState:
        arrays = {name: stored[f"{number}.{name}"] for name in fold["names"]}
        return FoldState(fold["done"], self._kinds[fold["kind"]].from_arrays(arrays))

    def next_fold(self) -> FoldState | None:
        """The state of the fold that begins now; None if it has not begun before."""
        self._fold += 1
        return self._states[self._fold] if self._fold < len(self._states) else None

    def save(self, done: int, summary: Storable, *, complete: bool = False) -> None:
        """Remember the current fold; on disk if the last time is a second ago, or if it is complete."""
        if not complete and time.monotonic() - self._saved < _SECONDS_BETWEEN:
            return
        state = FoldState(ALL if complete else done, summary)
        self._states[self._fold :] = [state]
        self._write()
        self._saved = time.monotonic()

    def _write(self) -> None:
        folds: list[dict[str, Any]] = []
        stored: dict[str, np.ndarray] = {}
        for number, (done, summary) in enumerate(self._states):
            arrays = summary.to_arrays()
            folds.append({"done": done, "kind": type(summary).__name__, "names": list(arrays)})
            stored |= {f"{number}.{name}": array for name, array in arrays.items()}
        buffer = io.BytesIO()
        about = json.dumps({"fingerprint": self.fingerprint, "folds": folds})
        np.savez(buffer, **{"about": np.array(about), **stored})  # type: ignore[arg-type]
        replace_file(self.path, buffer.getvalue())

    def remove(self) -> None:
        """The fit is complete."""
        self.path.unlink(missing_ok=True)


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
