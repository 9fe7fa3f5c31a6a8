"""Arrays of a model; rows, dense or sparse; and labels as the user gave them."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from twinviews.model_files.container import ModelFileError, check_sizes, take_entries
from twinviews.model_files.records import LARGEST, MOST_WHOLE, Field, Json, Reader, Sizes, Writer

_SPARSE = {
    ("csr", "array"): sparse.csr_array,
    ("csr", "matrix"): sparse.csr_matrix,
    ("csc", "array"): sparse.csc_array,
    ("csc", "matrix"): sparse.csc_matrix,
}
_SPARSE_PARTS = ("data", "indices", "indptr")
_LABEL_DTYPE = re.compile(r"\|b1|[|<][iu][1248]|<f[48]|\|O|<U[1-9][0-9]{0,3}")


class Array(Field):
    """Numbers in a shape given by letters; "D | D D" is one of two shapes."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_array(np.asarray(value, dtype=self.dtype))

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        array = reader.array(node, nan=self.missing)
        if array.dtype.kind != "f" if self.dtype is None else array.dtype != self.dtype:
            raise ModelFileError(f"an array has dtype {array.dtype}, not {self.dtype or 'float'}")
        _check_shape(array.shape, self.sizes, sizes)
        if array.size and self.least is not None and not array.min() >= self.least:
            raise ModelFileError(f"an entry is {array.min():g}, and {self.least:g} is the least")
        if self.below is not None:
            check_places(array, sizes[self.below])
        return array


def _check_shape(shape: tuple[int, ...], expected: str, sizes: Sizes) -> None:
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


class Rows(Array):
    """float32 or float64, dense or sparse."""

    def encode(self, value: Any, writer: Writer) -> Json:
        if not sparse.issparse(value):
            return super().encode(value, writer)
        return {
            "class": "array" if isinstance(value, sparse.sparray) else "matrix",
            "format": value.format,
            "shape": [int(size) for size in value.shape],
            **{name: writer.add_array(getattr(value, name)) for name in _SPARSE_PARTS},
        }

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if not isinstance(node, dict):
            return super().decode(node, reader, sizes)
        rows = _read_sparse(node, reader)
        _check_shape(rows.shape, self.sizes, sizes)
        return rows


def _read_sparse(node: dict[str, Json], reader: Reader) -> Any:
    kinds = {"class": str, "format": str, "shape": list} | dict.fromkeys(_SPARSE_PARTS, int)
    name, form, shape, *places = take_entries(node, kinds, "a sparse matrix")
    if (form, name) not in _SPARSE or len(shape) != 2:
        raise ModelFileError(f"a sparse matrix has form {form!r:.40} and shape {shape!r:.40}")
    check_sizes(shape, MOST_WHOLE, "a sparse matrix")
    data, indices, indptr = map(reader.array, places)
    major, minor = shape if form == "csr" else shape[::-1]
    if not data.ndim == indices.ndim == indptr.ndim == 1 or data.dtype.kind != "f":
        raise ModelFileError("a sparse matrix has parts that are not columns of numbers")
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise ModelFileError(f"a sparse matrix has indices of dtype {indices.dtype} and {indptr.dtype}")
    if len(data) != len(indices) or len(indptr) != major + 1:
        raise ModelFileError("a sparse matrix has parts of lengths that do not agree")
    # SciPy's check_format does not look at the rows of a matrix whose last row ends at 0.
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelFileError("a sparse matrix has rows that do not follow each other")
    check_places(indices, minor)
    reader.spend(8 * (minor + 1))  # a product with it transposes it: then it has so many rows
    return _SPARSE[form, name]((data, indices, indptr), shape=tuple(shape))


class Labels(Field):
    """Text, numbers or booleans; null where one is missing."""

    def encode(self, value: Any, writer: Writer) -> Json:
        value = np.asarray(value)
        dtype = value.dtype.newbyteorder("<").str
        if not _LABEL_DTYPE.fullmatch(dtype):
            raise ModelFileError(f"labels of dtype {value.dtype} cannot be stored. Use text")
        values = [_plain_label(label) for label in value.ravel().tolist()]
        return {"dtype": dtype, "shape": list(value.shape), "values": values}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        kinds = {"dtype": str, "shape": list, "values": list}
        name, shape, values = take_entries(node, kinds, "an array of labels")
        check_sizes(shape, MOST_WHOLE, "an array of labels")
        if not _LABEL_DTYPE.fullmatch(name) or prod(shape) != len(values):
            raise ModelFileError(f"{len(values)} labels have dtype {name!r:.40}, shape {shape!r:.40}")
        dtype = np.dtype(name)
        reader.spend(dtype.itemsize * len(values))
        if None in values and not (self.missing and dtype.kind in "Of"):
            raise ModelFileError("a label is missing")
        _check_labels([label for label in values if label is not None], dtype)
        _check_shape(tuple(shape), self.sizes, sizes)
        return np.array(values, dtype).reshape(shape)  # None becomes NaN where numbers are expected


def _check_labels(known: list[Json], dtype: np.dtype) -> None:
    """Refuse labels that a dtype would change, and numbers that are none."""
    if not all(type(label) in (str, int, float, bool) for label in known):
        raise ModelFileError("a label is not text, a number or a boolean")
    try:
        with np.errstate(over="ignore"):
            held = np.array(known, dtype).tolist()
    except (OverflowError, ValueError):
        held = []
    if list(map(type, held)) != list(map(type, known)) or (held != known and dtype.kind != "f"):
        raise ModelFileError(f"a label is not of dtype {dtype.str}")
    for label in held:
        if type(label) is str:
            check_letters(label)
        elif not abs(label) <= LARGEST:
            raise ModelFileError("a label is not a finite number")


def check_letters(text: str) -> None:
    """Refuse halves of UTF-16 letters, which can be neither compared nor written."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ModelFileError(f"{text!r:.40} is not Unicode")


def _plain_label(label: Any) -> Json:
    """None for whatever marks a missing label; the marks mean the same."""
    if label is None or type(label).__name__ == "NAType":
        return None
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) not in (str, int, float, bool):
        raise ModelFileError(f"the label {label!r:.40} cannot be stored. Use text, numbers or booleans")
    return None if label != label else label
