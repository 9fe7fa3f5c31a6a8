"""Rows and labels as the user gave them: dense or sparse rows; text, numbers or booleans as labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from twinviews.model_files.container import ModelFileError
from twinviews.model_files.fields import MOST_WHOLE, Limits, check_letters, check_places, check_shape
from twinviews.model_files.records import LARGEST, Json, Reader, Sizes, Writer

_SPARSE = {
    ("csr", "array"): sparse.csr_array,
    ("csr", "matrix"): sparse.csr_matrix,
    ("csc", "array"): sparse.csc_array,
    ("csc", "matrix"): sparse.csc_matrix,
}
_SPARSE_PARTS = ("data", "indices", "indptr")
_LABEL_DTYPE = re.compile(r"\|b1|[|<][iu][1248]|<f[48]|\|O|<U[1-9][0-9]{0,3}")
_LABEL_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str}


@dataclass(frozen=True)
class Rows:
    """float32 or float64, dense or sparse."""

    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        if not sparse.issparse(value):
            return writer.add_array(np.asarray(value))
        return {
            "class": "array" if isinstance(value, sparse.sparray) else "matrix",
            "format": value.format,
            "shape": [int(size) for size in value.shape],
            **{name: writer.add_array(getattr(value, name)) for name in _SPARSE_PARTS},
        }

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        rows = _read_sparse(node, reader) if isinstance(node, dict) else reader.array(node)
        if rows.dtype.kind != "f" or rows.ndim != 2:
            raise ModelFileError(f"rows have dtype {rows.dtype} and shape {rows.shape}")
        check_shape(rows.shape, self.limits.sizes, sizes)
        return rows


def _read_sparse(node: dict[str, Json], reader: Reader) -> Any:
    if set(node) != {"class", "format", "shape", *_SPARSE_PARTS}:
        raise ModelFileError("a sparse matrix is not told by data, indices and indptr")
    form, shape = (str(node["format"]), str(node["class"])), node["shape"]
    if form not in _SPARSE or not isinstance(shape, list) or len(shape) != 2:
        raise ModelFileError(f"a sparse matrix has form {form} and shape {shape!r:.40}")
    if not all(type(size) is int and 0 <= size <= MOST_WHOLE for size in shape):
        raise ModelFileError(f"a sparse matrix has shape {shape!r:.40}")
    data, indices, indptr = (reader.array(node[name]) for name in _SPARSE_PARTS)
    major, minor = shape if form[0] == "csr" else shape[::-1]
    if not data.ndim == indices.ndim == indptr.ndim == 1 or data.dtype.kind != "f":
        raise ModelFileError("a sparse matrix has parts that are not columns of numbers")
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise ModelFileError(f"a sparse matrix has indices of dtype {indices.dtype} and {indptr.dtype}")
    if len(data) != len(indices) or len(indptr) != major + 1:
        raise ModelFileError("a sparse matrix has parts of lengths that do not agree")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelFileError("a sparse matrix has rows that do not follow each other")
    check_places(indices, minor)
    reader.spend(8 * (minor + 1))  # a product with it transposes it: then it has so many rows
    return _SPARSE[form]((data, indices, indptr), shape=tuple(shape))


@dataclass(frozen=True)
class Labels:
    """Text, numbers or booleans; null where one is missing."""

    limits: Limits

    def encode(self, value: Any, writer: Writer) -> Json:
        value = np.asarray(value)
        dtype = value.dtype.newbyteorder("<").str
        if not _LABEL_DTYPE.fullmatch(dtype):
            raise ModelFileError(f"labels of dtype {value.dtype} cannot be stored. Use text")
        values = [_plain_label(label) for label in value.ravel().tolist()]
        return {"dtype": dtype, "shape": list(value.shape), "values": values}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> np.ndarray:
        if not isinstance(node, dict) or set(node) != {"dtype", "shape", "values"}:
            raise ModelFileError("labels are not told by dtype, shape and values")
        name, shape, values = node["dtype"], node["shape"], node["values"]
        if not isinstance(name, str) or not _LABEL_DTYPE.fullmatch(name):
            raise ModelFileError(f"labels have dtype {name!r:.40}")
        if not isinstance(values, list) or not isinstance(shape, list):
            raise ModelFileError(f"labels have shape {shape!r:.40}")
        if not all(type(size) is int and size >= 0 for size in shape) or prod(shape) != len(values):
            raise ModelFileError(f"{len(values)} labels have shape {shape!r:.40}")
        dtype = np.dtype(name)
        reader.spend(dtype.itemsize * len(values))
        known = [label for label in values if label is not None]
        if len(known) < len(values) and not (self.limits.missing and dtype.kind in "Of"):
            raise ModelFileError("a label is missing")
        _check_labels(known, dtype)
        array = np.array(values, dtype)  # None becomes NaN where numbers are expected
        if dtype.kind != "f" and array.tolist() != values:
            raise ModelFileError(f"its labels are not of dtype {name}")
        check_shape(tuple(shape), self.limits.sizes, sizes)
        return array.reshape(shape)


def _check_labels(known: list[Json], dtype: np.dtype) -> None:
    allowed: tuple[type, ...] = (str, int, float, bool)
    if dtype.kind in _LABEL_TYPES:
        allowed = (_LABEL_TYPES[dtype.kind],)
    if not all(type(label) in allowed for label in known):
        raise ModelFileError(f"a label is not of dtype {dtype.str}")
    for label in known:
        if type(label) is str:
            check_letters(label)
    numbers = [label for label in known if type(label) in (int, float)]
    if numbers and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if min(numbers) < limits.min or max(numbers) > limits.max:
            raise ModelFileError(f"a label is beyond dtype {dtype.str}")
    elif not all(abs(number) <= LARGEST for number in numbers):
        raise ModelFileError("a label is not a finite number")


def _plain_label(label: Any) -> Json:
    """None for whatever marks a missing label; the marks mean the same."""
    if label is None or type(label).__name__ == "NAType":
        return None
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) not in (str, int, float, bool):
        raise ModelFileError(f"the label {label!r:.40} cannot be stored. Use text, numbers or booleans")
    return None if label != label else label
