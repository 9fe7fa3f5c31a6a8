"""What a field of a model may be: how it is written, and all that is checked when it is read.

Sizes have letters, as in the comments beside the dataclasses: ``Floats("m r")`` is a matrix whose sides
are known as m and r wherever these occur in the same object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from twinviews.method.kernels import PRODUCT, SHIFT_INVARIANT, ProductKernel, find_kernel
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.records import LARGEST, Field, Json, Reader, Sizes, Writer

_MOST_WHOLE = 2**63 - 1
_LONGEST_TEXT = 10_000
_MOST_DEGREE = 100


# --- plain values ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    least: float = -LARGEST
    nan: bool = False

    def encode(self, value: Any, writer: Writer) -> Json:
        value = float(value)
        return None if self.nan and np.isnan(value) else value

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> float:
        if self.nan and node is None:
            return np.nan
        if type(node) is not float or not self.least <= node <= LARGEST:
            raise ModelFileError(f"{node!r:.40} is no number from {self.least:g} to {LARGEST:g}")
        return node


# Widths, spreads, weights: what one divides by, or must not vanish.
POSITIVE = Number(least=1 / LARGEST)
NOT_NEGATIVE = Number(least=0.0)


@dataclass(frozen=True)
class Whole:
    least: int = 0
    most: int = _MOST_WHOLE
    size: str = "_"  # the letter that it is known by

    def encode(self, value: Any, writer: Writer) -> Json:
        return int(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> int:
        if type(node) is not int or not self.least <= node <= self.most:
            raise ModelFileError(f"{node!r:.40} is no whole number from {self.least} to {self.most}")
        sizes.bind(self.size, node)
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
    choices: tuple[str, ...] | None = None

    def encode(self, value: Any, writer: Writer) -> Json:
        return str(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> str:
        if type(node) is not str or len(node) > _LONGEST_TEXT:
            raise ModelFileError(f"{node!r:.40} is no text of up to {_LONGEST_TEXT:,} characters")
        _check_letters(node)
        if self.choices is not None and node not in self.choices:
            raise ModelFileError(f"{node!r:.40} is none of {', '.join(self.choices)}")
        return node


def _check_letters(text: str) -> None:
    """Half a letter of UTF-16 is none, and can be neither compared nor written."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ModelFileError(f"{text!r:.40} is not Unicode")


# --- arrays ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Floats:
    """Numbers in a shape given by letters, or in another with another number of sides."""

    shape: str
    other: str | None = None
    least: float = -LARGEST
    nan: bool = False

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_array(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        array = reader.array(node, nan=self.nan)
        shape = self.shape
        if self.other is not None and array.ndim == len(self.other.split()):
            shape = self.other
        _check_array(array, "f", shape, sizes)
        if array.size and self.least > -LARGEST and not array.min() >= self.least:
            raise ModelFileError(f"an entry is {array.min():g}, and {self.least:g} is the least")
        return array


@dataclass(frozen=True)
class Wholes:
    """Whole numbers from 0 to below another size, such as places in another array."""

    shape: str
    below: str | None = None
    dtype: str = "<i8"

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_array(np.asarray(value).astype(self.dtype))

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        array = reader.array(node)
        if array.dtype != np.dtype(self.dtype):
            raise ModelFileError(f"an array has dtype {array.dtype}, and {self.dtype} is expected")
        _check_array(array, array.dtype.kind, self.shape, sizes)
        if array.size and self.below is not None:
            check_places(array, sizes[self.below])
        return array


def check_places(array: np.ndarray, size: int) -> None:
    if array.size and (array.min() < 0 or array.max() >= size):
        raise ModelFileError(f"places {array.min()} to {array.max()} are not all below {size}")


def _check_array(array: np.ndarray, dtype_kind: str, shape: str, sizes: Sizes) -> None:
    letters = shape.split()
    if array.dtype.kind != dtype_kind or array.ndim != len(letters):
        raise ModelFileError(f"an array of shape {array.shape}, {array.dtype}, is not ({shape})")
    for letter, size in zip(letters, array.shape, strict=True):
        sizes.bind(letter, size)


@dataclass(frozen=True)
class Rows:
    """Rows as the user gave them: float32 or float64, dense or sparse."""

    shape: str

    def encode(self, value: Any, writer: Writer) -> Json:
        if not sparse.issparse(value):
            return writer.add_array(value)
        return {
            "class": "array" if isinstance(value, sparse.sparray) else "matrix",
            "data": writer.add_array(value.data),
            "format": value.format,
            "indices": writer.add_array(value.indices),
            "indptr": writer.add_array(value.indptr),
            "shape": [int(size) for size in value.shape],
        }

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        rows = _read_sparse(node, reader) if isinstance(node, dict) else reader.array(node)
        if rows.dtype.kind != "f" or rows.ndim != 2:
            raise ModelFileError(f"rows have dtype {rows.dtype} and shape {rows.shape}")
        for letter, size in zip(self.shape.split(), rows.shape, strict=True):
            sizes.bind(letter, size)
        return rows


_SPARSE = {
    ("csr", "array"): sparse.csr_array,
    ("csr", "matrix"): sparse.csr_matrix,
    ("csc", "array"): sparse.csc_array,
    ("csc", "matrix"): sparse.csc_matrix,
}


def _read_sparse(node: dict[str, Json], reader: Reader) -> Any:
    if set(node) != {"class", "data", "format", "indices", "indptr", "shape"}:
        raise ModelFileError("a sparse matrix is not told by data, indices and indptr")
    form = (str(node["format"]), str(node["class"]))
    shape = node["shape"]
    if form not in _SPARSE or not isinstance(shape, list) or len(shape) != 2:
        raise ModelFileError(f"a sparse matrix has form {form} and shape {shape!r:.40}")
    if not all(type(size) is int and 0 <= size <= _MOST_WHOLE for size in shape):
        raise ModelFileError(f"a sparse matrix has shape {shape!r:.40}")
    data, indices, indptr = (reader.array(node[name]) for name in ("data", "indices", "indptr"))
    major, minor = shape if form[0] == "csr" else shape[::-1]
    if not data.ndim == indices.ndim == indptr.ndim == 1 or data.dtype.kind != "f":
        raise ModelFileError("a sparse matrix has parts that are no columns of numbers")
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise ModelFileError(f"a sparse matrix has indices of dtype {indices.dtype} and {indptr.dtype}")
    if len(data) != len(indices) or len(indptr) != major + 1:
        raise ModelFileError("a sparse matrix has parts of lengths that do not go together")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelFileError("a sparse matrix has rows that do not follow each other")
    check_places(indices, minor)
    reader.spend(8 * (minor + 1))  # a product with it turns it round, and then has so many rows
    return _SPARSE[form]((data, indices, indptr), shape=tuple(shape))


# --- labels ----------------------------------------------------------------------------------------

_LABEL_DTYPE = re.compile(r"\|b1|[|<][iu][1248]|<f[48]|\|O|<U[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class Labels:
    """Labels as the user gave them: text, numbers or booleans; null where one is missing."""

    shape: str
    missing: bool = False

    def encode(self, value: Any, writer: Writer) -> Json:
        value = np.asarray(value)
        dtype = value.dtype.newbyteorder("<").str
        if not _LABEL_DTYPE.fullmatch(dtype):
            raise ModelFileError(f"labels of dtype {value.dtype} have no place in a file. Use text")
        values = [_plain_label(label) for label in value.ravel().tolist()]
        return {"dtype": dtype, "shape": list(value.shape), "values": values}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        if not isinstance(node, dict) or set(node) != {"dtype", "shape", "values"}:
            raise ModelFileError("labels are not told by dtype, shape and values")
        name, shape, values = node["dtype"], node["shape"], node["values"]
        if not isinstance(name, str) or not _LABEL_DTYPE.fullmatch(name):
            raise ModelFileError(f"labels have dtype {name!r:.40}")
        letters = self.shape.split()
        if not isinstance(values, list) or not isinstance(shape, list) or len(shape) != len(letters):
            raise ModelFileError(f"labels have shape {shape!r:.40}")
        if not all(type(size) is int and size >= 0 for size in shape) or prod(shape) != len(values):
            raise ModelFileError(f"{len(values)} labels have shape {shape!r:.40}")
        dtype = np.dtype(name)
        reader.spend(dtype.itemsize * len(values))
        known = [label for label in values if label is not None]
        if len(known) < len(values) and not (self.missing and dtype.kind in "Of"):
            raise ModelFileError("a label is missing")
        self._check(known, dtype)
        array = np.array(values, dtype)  # None becomes NaN where numbers are expected
        if dtype.kind != "f" and array.tolist() != values:
            raise ModelFileError(f"its labels are not of dtype {name}")
        for letter, size in zip(letters, shape, strict=True):
            sizes.bind(letter, size)
        return array.reshape(shape)

    def _check(self, known: list[Json], dtype: np.dtype) -> None:
        allowed: tuple[type, ...] = (str, int, float, bool)
        if dtype.kind in _LABEL_TYPES:
            allowed = (_LABEL_TYPES[dtype.kind],)
        if not all(type(label) in allowed for label in known):
            raise ModelFileError(f"a label is not of dtype {dtype.str}")
        for label in known:
            if type(label) is str:
                _check_letters(label)
        numbers = [label for label in known if type(label) in (int, float)]
        if numbers and dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if min(numbers) < limits.min or max(numbers) > limits.max:
                raise ModelFileError(f"a label is beyond dtype {dtype.str}")
        elif not all(abs(number) <= LARGEST for number in numbers):
            raise ModelFileError("a label is no finite number")


_LABEL_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str}


def _plain_label(label: Any) -> Json:
    """None for whatever marks a missing label; the marks mean the same."""
    if label is None or type(label).__name__ == "NAType":
        return None
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) not in (str, int, float, bool):
        raise ModelFileError(
            f"the label {label!r:.40} has no place in a model file. Use text, numbers or booleans"
        )
    return None if label != label else label


@dataclass(frozen=True)
class NumberOrFloats:
    """A number for one target, an array for several."""

    shape: str

    def encode(self, value: Any, writer: Writer) -> Json:
        several = isinstance(value, np.ndarray)
        return writer.add_array(value) if several else Number(nan=True).encode(value, writer)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        several = type(node) is int
        field = Floats(self.shape, nan=True) if several else Number(nan=True)
        return field.decode(node, reader, sizes)


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
    size: str = "_"
    least: int = 0

    def encode(self, value: Any, writer: Writer) -> Json:
        return [self.of.encode(part, writer) for part in value]

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> tuple[Any, ...]:
        if not isinstance(node, list) or len(node) < self.least:
            raise ModelFileError(f"it is no list of at least {self.least}")
        sizes.bind(self.size, len(node))
        return tuple(self.of.decode(part, reader, sizes) for part in node)


@dataclass(frozen=True)
class Named:
    """A dictionary of things of one kind."""

    of: Field

    def encode(self, value: Any, writer: Writer) -> Json:
        return {name: self.of.encode(value[name], writer) for name in sorted(value)}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise ModelFileError("it is no dictionary")
        return {name: self.of.decode(node[name], reader, sizes) for name in sorted(node)}


class Part:
    """An object of one of some kinds; keywords tell which of its sizes are which of ours."""

    def __init__(self, *kinds: type, **letters: str) -> None:
        self.kinds, self.letters = kinds, letters

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_object(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        found = reader.object(node)
        if found.kind.cls not in self.kinds:
            raise ModelFileError(f"a {found.kind.name} is in a place where it has no business")
        for theirs, ours in self.letters.items():
            sizes.bind(ours, found.sizes[theirs])
        return found.value


@dataclass(frozen=True)
class Profile:
    """A kernel's function, by the kernel's name."""

    kernels: Mapping[str, Any]

    def name_of(self, profile: Any) -> Json:
        if isinstance(profile, partial):
            return {"polynomial": profile.keywords["degree"]}
        return next(name for name, kernel in self.kernels.items() if kernel.profile is profile)

    def encode(self, value: Any, writer: Writer) -> Json:
        return self.name_of(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if self.kernels is PRODUCT and isinstance(node, dict) and set(node) == {"polynomial"}:
            degree = Whole(1, _MOST_DEGREE).decode(node["polynomial"], reader, sizes)
            kernel = find_kernel("polynomial", degree)
            assert isinstance(kernel, ProductKernel)
            return kernel.profile
        if not isinstance(node, str) or node not in self.kernels:
            raise ModelFileError(f"{node!r:.40} is no kernel")
        return self.kernels[node].profile


OF_DISTANCE, OF_PRODUCT = Profile(SHIFT_INVARIANT), Profile(PRODUCT)
