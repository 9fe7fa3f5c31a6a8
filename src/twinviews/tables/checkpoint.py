"""A long pass that can be killed: what is folded so far, on disk, in one file that is always whole."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinviews._system.whole_files import replace_file

_SECONDS_BETWEEN = 1.0
ALL = -1
# What zipfile, NumPy and json say of a file that is not as they wrote it.
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, EOFError, NotImplementedError,
    RuntimeError,
)  # fmt: skip


class FoldState(NamedTuple):
    """How far a fold has come: pieces done (``ALL`` for all), and the summary of them."""

    done: int
    summary: Any


class Checkpoint:
    """The folds of one fit, in the order in which they are made.

    The file holds plain numbers (NumPy's npz without pickle), what they are of as JSON, and the
    fingerprint of the fit it belongs to. Nothing is made of it but the dataclasses that are given. At
    most once a second it is written beside itself and renamed, so that it is always whole.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str, classes: Sequence[type]) -> None:
        self.path, self.fingerprint = Path(path), fingerprint
        self._classes = {one.__name__: one for one in classes}
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
            with np.load(content, allow_pickle=False) as archive:
                stored = dict(archive)
            is_ours = str(stored["fingerprint"]) == self.fingerprint
            if is_ours:
                folds = json.loads(str(stored["folds"]), object_hook=partial(self._built, stored))
                self._states = [FoldState(done, summary) for done, summary in folds]
        except _DAMAGES as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no checkpoint, or damaged. {way_out}"
            ) from error
        if not is_ours:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: other parameters, columns or "
                f"files. {way_out}"
            )

    def _built(self, stored: dict[str, np.ndarray], told: dict[str, Any]) -> Any:
        """What ``_told`` tells of."""
        if "class" in told:
            made = self._classes[told.pop("class")]
            return made(**{key: tuple(v) if isinstance(v, list) else v for key, v in told.items()})
        return np.array(told["labels"], object) if "labels" in told else stored[told["array"]]

    def next_fold(self) -> FoldState:
        """The state of the fold that begins now."""
        self._fold += 1
        return self._states[self._fold] if self._fold < len(self._states) else FoldState(0, None)

    def save(self, done: int, summary: Any, *, complete: bool = False) -> None:
        """Remember the current fold; on disk if the last time is a second ago, or if it is complete."""
        if not complete and time.monotonic() - self._saved < _SECONDS_BETWEEN:
            return
        self._states[self._fold :] = [FoldState(ALL if complete else done, summary)]
        stored: dict[str, np.ndarray] = {}
        folds = json.dumps(self._states, default=partial(_told, stored))
        buffer = io.BytesIO()
        np.savez(buffer, fingerprint=self.fingerprint, folds=folds, **stored)  # type: ignore[arg-type]
        replace_file(self.path, buffer.getvalue())
        self._saved = time.monotonic()

    def remove(self) -> None:
        """The fit is complete."""
        self.path.unlink(missing_ok=True)


def _told(stored: dict[str, np.ndarray], value: Any) -> dict[str, Any]:
    """A summary or an array for JSON, with numbers moved to ``stored``; many parts become one."""
    if is_dataclass(value):
        fields = {
            name: [np.concatenate(held)] if isinstance(held, tuple) and held else held
            for name, held in vars(value).items()
        }
        return {"class": type(value).__name__, **fields}
    if value.dtype.kind == "O":
        return {"labels": value.tolist()}
    name = f"array {len(stored)}"
    stored[name] = value
    return {"array": name}
