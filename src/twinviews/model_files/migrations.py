"""Files of earlier formats, brought to the format of today: one function for each change.

``MIGRATIONS[k - 1]`` takes a file of format k to format k + 1. It works on the header as JSON and on
the list of arrays, before any object is made, and adds, renames or regroups what is there; all checks
come after it. A field or parameter that is new and has a default needs none.

A file may come from anyone, so a migration meets any header: what it stumbles over is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from twinviews.model_files.container import Contents, ModelFileError, UnknownHereError


@dataclass
class OldFile:
    """A file on its way to the format of today."""

    header: dict[str, Any]
    arrays: list[np.ndarray]
    order: list[int]  # in which objects are read: each after those that it names

    @property
    def model(self) -> dict[str, Any]:
        """Class, parameters and state of the estimator."""
        return self.header["model"]

    @property
    def state(self) -> dict[str, Any]:
        return self.model["state"]

    def objects(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Place and fields of each object of a kind."""
        for place, node in enumerate(self.header["objects"]):
            if node["kind"] == kind:
                yield place, node

    def rename_kind(self, old: str, new: str) -> None:
        for _, node in self.objects(old):
            node["kind"] = new

    def rename_field(self, kind: str, old: str, new: str) -> None:
        for _, node in self.objects(kind):
            node[new] = node.pop(old)

    def add_field(self, kind: str, name: str, value: Any) -> None:
        """Give a field to all objects of a kind: a plain value, or the place of an array or object."""
        for _, node in self.objects(kind):
            node[name] = value

    def add_array(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def add_object(self, kind: str, fields: dict[str, Any], *, before: int | None = None) -> int:
        """The place of a new object, which the object ``before``, or only the state, then names."""
        self.header["objects"].append({**fields, "kind": kind})
        place = len(self.header["objects"]) - 1
        self.order.insert(len(self.order) if before is None else self.order.index(before), place)
        return place

    def group(self, name: str, kind: str, fields: dict[str, str]) -> None:
        """Make attributes of the estimator into one object; ``fields`` gives each its name there."""
        values = {new: self.state.pop(old) for old, new in fields.items()}
        self.state[name] = self.add_object(kind, values)


MIGRATIONS: list[Callable[[OldFile], None]] = []


def newest_format() -> int:
    return len(MIGRATIONS) + 1


def migrate(contents: Contents) -> OldFile:
    """A file in the format of today. Its header has passed ``check_outline``."""
    file = OldFile(contents.header, contents.arrays, list(range(len(contents.header["objects"]))))
    for number in range(contents.header.get("format", 1), newest_format()):
        try:
            MIGRATIONS[number - 1](file)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f"it is not a file of format {number} ({type(error).__name__})"
            raise ModelFileError(reason) from None
    return file


def check_outline(header: dict[str, Any]) -> None:
    """What every format has in common, so that migrations can rely on it."""
    written_in = header.get("format", 1)
    if type(written_in) is not int or written_in < 1:
        raise ModelFileError(f"its format is {written_in!r:.40}")
    if written_in > newest_format():
        raise UnknownHereError(f"it has format {written_in}")
    model, objects = header.get("model"), header.get("objects")
    if not isinstance(model, dict) or set(model) != {"class", "parameters", "state"}:
        raise ModelFileError("its model is not told by class, parameters and state")
    if not isinstance(model["parameters"], dict) or not isinstance(model["state"], dict):
        raise ModelFileError("its parameters and state are not dictionaries")
    if not isinstance(model["class"], str):
        raise ModelFileError("its class is not text")
    if not isinstance(objects, list):
        raise ModelFileError("its objects are not a list")
    if not all(isinstance(node, dict) and isinstance(node.get("kind"), str) for node in objects):
        raise ModelFileError("its objects are not dictionaries with a kind")
