"""What a field of a model may be: how it is written, and all that is checked when it is read.

Rows and labels as a user gave them are in ``labels_and_rows.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from twinviews.method.kernels import PRODUCT, ProductKernel, find_kernel
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.records import LARGEST, Field, Json, Reader, Sizes, Writer

MOST_WHOLE = 2**63 - 1
_LONGEST_TEXT = 10_000
_MOST_DEGREE = 100


@dataclass(frozen=True)
class Limits:
    """What an annotation says beside the type."""

    sizes: str = ""  # letters, as in "m r"
    least: float | None = None
    most: float | None = None
    below: str | None = None  # the letter of a size that entries are below
    dtype: str | None = None
    labels: bool = False
    missing: bool = False  # whether NaN or None may stand for a value
    kernel: str | None = None


# --- plain values ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        value = float(value)
        return None if self.limits.missing and np.isnan(value) else value

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> float:
        if self.limits.missing and node is None:
            return np.nan
        least = -LARGEST if self.limits.least is None else self.limits.least
        if type(node) is not float or not least <= node <= LARGEST:
            raise ModelFileError(f"{node!r:.40} is not a number from {least:g} to {LARGEST:g}")
        return node


@dataclass(frozen=True)
class Whole:
    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        return int(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> int:
        least = -MOST_WHOLE if self.limits.least is None else int(self.limits.least)
        most = MOST_WHOLE if self.limits.most is None else int(self.limits.most)
        if type(node) is not int or not least <= node <= most:
            raise ModelFileError(f"{node!r:.40} is not a whole number from {least} to {most}")
        sizes.bind(self.limits.sizes or "_", node)
        return node


@dataclass(frozen=True)
class Flag:
    def encode(self, value: Any, writer: Writer) -> Json:
        return bool(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> bool:
        if type(node) is not bool:
            raise ModelFileError(f"{node!r:.40} is neither true nor false")
        return node


@dataclass(frozen=True)
class Text:
    choices: tuple[str, ...] = ()  # none: any text

    def encode(self, value: Any, writer: Writer) -> Json:
        return str(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> str:
        if type(node) is not str or len(node) > _LONGEST_TEXT:
            raise ModelFileError(f"{node!r:.40} is not text of up to {_LONGEST_TEXT:,} characters")
        check_letters(node)
        if self.choices and node not in self.choices:
            raise ModelFileError(f"{node!r:.40} is not one of {', '.join(self.choices)}")
        return node


def check_letters(text: str) -> None:
    """Refuse halves of UTF-16 letters, which can be neither compared nor written."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ModelFileError(f"{text!r:.40} is not Unicode")


# --- arrays ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Array:
    """Numbers in a shape given by letters; "D | D D" is one of two shapes."""

    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_array(np.asarray(value, dtype=self.limits.dtype))

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        limits = self.limits
        array = reader.array(node, nan=limits.missing)
        if array.dtype.kind != "f" if limits.dtype is None else array.dtype != limits.dtype:
            raise ModelFileError(f"an array has dtype {array.dtype}, not {limits.dtype or 'float'}")
        check_shape(array.shape, limits.sizes, sizes)
        if array.size and limits.least is not None and not array.min() >= limits.least:
            raise ModelFileError(f"an entry is {array.min():g}, and {limits.least:g} is the least")
        if array.size and limits.below is not None:
            check_places(array, sizes[limits.below])
        return array


def check_shape(shape: tuple[int, ...], expected: str, sizes: Sizes) -> None:
    """Bind the letters of an expected shape to the sizes of one that is there."""
    for letters in (one.split() for one in expected.split("|")):
        if len(letters) == len(shape):
            for letter, size in zip(letters, shape, strict=True):
                sizes.bind(letter, size)
            return
    raise ModelFileError(f"an array of shape {shape} is not ({expected})")


def check_places(array: np.ndarray, size: int) -> None:
    if array.size and (array.min() < 0 or array.max() >= size):
        raise ModelFileError(f"places {array.min()} to {array.max()} are not all below {size}")


@dataclass(frozen=True)
class NumberOrArray:
    """A number for one target, an array for several."""

    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        return self._field(isinstance(value, np.ndarray)).encode(value, writer)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        return self._field(type(node) is int).decode(node, reader, sizes)

    def _field(self, several: bool) -> Field:
        return Array(self.limits) if several else Number(self.limits)


# --- kernels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelProfile:
    """The function of a kernel, by the kernel's name."""

    kernels: Mapping[str, Any]

    def name_of(self, profile: Any) -> Json:
        if isinstance(profile, partial):
            return {"polynomial": profile.keywords["degree"]}
        for name, kernel in self.kernels.items():
            if kernel.profile is profile:
                return name
        raise ModelFileError(
            f"its kernel is the function {profile!r:.60}, and a model file holds no code. Give the "
            f"kernel a name, or keep this model with pickle"
        )

    def encode(self, value: Any, writer: Writer) -> Json:
        return self.name_of(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if self.kernels is PRODUCT and isinstance(node, dict) and set(node) == {"polynomial"}:
            limits = Limits(least=1, most=_MOST_DEGREE)
            degree = Whole(limits).decode(node["polynomial"], reader, sizes)
            kernel = find_kernel("polynomial", degree)
            assert isinstance(kernel, ProductKernel)
            return kernel.profile
        if not isinstance(node, str) or node not in self.kernels:
            raise ModelFileError(f"{node!r:.40} is not a kernel that is known here")
        return self.kernels[node].profile


# --- fields that hold fields -----------------------------------------------------------------------


@dataclass(frozen=True)
class Maybe:
    """Something or None."""

    of: Field

    def encode(self, value: Any, writer: Writer) -> Json:
        return None if value is None else self.of.encode(value, writer)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        return None if node is None else self.of.decode(node, reader, sizes)


@dataclass(frozen=True)
class Many:
    """A tuple of things of one kind, whose number is a size."""

    of: Field
    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        return [self.of.encode(part, writer) for part in value]

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> tuple[Any, ...]:
        least = int(self.limits.least or 0)
        if not isinstance(node, list) or len(node) < least:
            raise ModelFileError(f"it is not a list of at least {least}")
        sizes.bind(self.limits.sizes or "_", len(node))
        return tuple(self.of.decode(part, reader, sizes) for part in node)


@dataclass(frozen=True)
class Named:
    """A dictionary of things of one kind."""

    of: Field

    def encode(self, value: Any, writer: Writer) -> Json:
        return {name: self.of.encode(value[name], writer) for name in sorted(value)}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise ModelFileError("it is not a dictionary")
        return {name: self.of.decode(node[name], reader, sizes) for name in sorted(node)}


@dataclass(frozen=True)
class Part:
    """An object of one of some types. Of its sizes, "D t=r" takes D as D and r as t."""

    types: frozenset[Any]
    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_object(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        found = reader.object(node)
        if found.kind.cls not in self.types and not found.kind.roles & self.types:
            raise ModelFileError(f"a {found.kind.name} is in a place where it does not belong")
        for word in self.limits.sizes.split():
            ours, _, theirs = word.partition("=")
            sizes.bind(ours, found.sizes[theirs or ours])
        return found.value
