"""Checks of what a command reads and writes, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# How a model file begins.
_MODEL = b"twinviews model"


def check_paths(tables: Sequence[str], outputs: Sequence[Path], models: Sequence[Path] = ()) -> None:
    """Raise if a table is a model file, or an output has no folder or is read or written already."""
    for source in tables:
        if source != "-" and Path(source).is_file() and _begins_like_a_model(Path(source)):
            raise ValueError(f"{source} is a model file, and a table is expected here.")
    taken = [Path(source).resolve() for source in tables if source != "-"]
    taken += [model.resolve() for model in models]
    for path in outputs:
        if str(path) == "-":
            raise ValueError("A model or a report does not go to standard output. Name a file.")
        if not path.parent.is_dir():
            raise FileNotFoundError(
                f"There is no folder {str(path.parent)!r} to write {path.name} to. Make it first"
            )
        if path.resolve() in taken:
            raise ValueError(f"{path} is read or written already by this command. Name another file.")
        taken.append(path.resolve())


def _begins_like_a_model(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MODEL)) == _MODEL
