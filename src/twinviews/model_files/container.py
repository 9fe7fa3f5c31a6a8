"""One file of a JSON header and raw arrays, sealed by a checksum; it says what it holds, and no more.

::

    "twinviews model 1\n"   what it is, and the version of the format
    8 bytes                 length of the header, little-endian
    header                  JSON in one canonical form; its "arrays" tell dtype, order and shape of each
    arrays                  one after the other, little-endian, in that order
    32 bytes                SHA-256 of everything above

safetensors is as simple, but it has no checksum and takes repeated keys and NaN. With all that ruled
out around it, what it would still do is to cut bytes into arrays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

VERSION = 1
_MAGIC = b"twinviews model "
_LENGTH_BYTES = 8
_SEAL_BYTES = hashlib.sha256().digest_size
# Longer first lines are not looked at.
_LONGEST_VERSION = 8
# The largest model of M = 200 has a header of 200 kB; this bounds what a hostile one can make us parse.
MOST_HEADER_BYTES = 16 * 2**20
MOST_BYTES = 2 * 2**30
_MOST_DIMENSIONS = 3
_DTYPES = {name: np.dtype(name) for name in ("<f8", "<f4", "<i8", "<i4", "<u8", "|u1")}


class ModelFileError(ValueError):
    """Why bytes are not taken as a model, or a model is not written."""


class UnknownHereError(ModelFileError):
    """What a file holds that this version does not know, though another may."""


@dataclass(frozen=True)
class Contents:
    """The header and the arrays of a complete file."""

    header: dict[str, Any]
    arrays: list[np.ndarray]
    retired: set[int] = field(default_factory=set)  # arrays that a migration has no more use for


def pack(header: dict[str, Any], arrays: Sequence[np.ndarray]) -> bytes:
    """Bytes of a file: the same for the same contents."""
    tables = [
        {"dtype": _little(array).dtype.str, "order": _order(array), "shape": list(array.shape)}
        for array in arrays
    ]
    text = canonical_json({**header, "arrays": tables})
    if len(text) > MOST_HEADER_BYTES:
        raise ModelFileError(f"its header has {len(text):,} bytes, of {MOST_HEADER_BYTES:,} at most")
    first_line = _MAGIC + str(VERSION).encode() + b"\n"
    parts = [first_line, len(text).to_bytes(_LENGTH_BYTES, "little"), text]
    parts += [_little(array).tobytes(order=_order(array)) for array in arrays]
    content = b"".join(parts)
    if len(content) + _SEAL_BYTES > MOST_BYTES:
        raise ModelFileError(f"it has {len(content):,} bytes, and {MOST_BYTES:,} is the most")
    return content + hashlib.sha256(content).digest()


def unpack(content: bytes) -> Contents:
    """What a file holds, if it is whole and in the one form that ``pack`` writes."""
    start = _after_first_line(content)
    body, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
    if hashlib.sha256(body).digest() != seal:
        raise ModelFileError("its checksum is wrong: some of its bytes were changed or are missing")
    length = int.from_bytes(body[start : start + _LENGTH_BYTES], "little")
    start += _LENGTH_BYTES
    if length > min(MOST_HEADER_BYTES, len(body) - start):
        raise ModelFileError(f"its header claims {length:,} bytes, of {len(body):,} in the file")
    header = _read_header(body[start : start + length])
    arrays, end = [], start + length
    for table in header["arrays"]:
        array, end = _read_array(table, body, end)
        arrays.append(array)
    if end != len(body):
        raise ModelFileError(f"{len(body) - end:,} bytes follow its last array")
    return Contents(header, arrays)


def canonical_json(value: Any) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def _after_first_line(content: bytes) -> int:
    """Where the first line ends. A file of another version says so before its checksum is looked at."""
    end = content.find(b"\n", 0, len(_MAGIC) + _LONGEST_VERSION)
    if not content.startswith(_MAGIC) or end < 0:
        raise ModelFileError('it does not begin with "twinviews model" and a version')
    version = content[len(_MAGIC) : end]
    if version != str(VERSION).encode():
        raise ModelFileError(
            f"it has version {version.decode('ascii', 'replace')} of the format, and this twinviews "
            f"reads version {VERSION}. Use the twinviews that wrote it, or fit and save again"
        )
    if len(content) < end + 1 + _LENGTH_BYTES + _SEAL_BYTES:
        raise ModelFileError(f"it ends after {len(content)} bytes")
    return end + 1


def _read_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("ascii"))
        # There is one way to write a header. So a repeated key, NaN, a number out of range or another
        # spelling, which readers might take in different ways, is refused whatever it means.
        canonical = canonical_json(header) == text
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header cannot be read ({type(error).__name__})") from None
    if not canonical or not isinstance(header, dict) or type(header.get("arrays")) is not list:
        raise ModelFileError("its header is not in canonical form, or has no list of arrays")
    return header


def take_entries(node: Any, kinds: Mapping[str, type], owner: str) -> list[Any]:
    """The values of a dictionary that has these entries, of exactly these types, and no others."""
    if not isinstance(node, dict) or {name: type(node[name]) for name in node} != kinds:
        told = ", ".join(f"{name} ({kind.__name__})" for name, kind in kinds.items())
        raise ModelFileError(f"{owner} is not told by {told}")
    return [node[name] for name in kinds]


def check_sizes(shape: list[Any], most: int, owner: str) -> None:
    if not all(type(size) is int and 0 <= size <= most for size in shape):
        raise ModelFileError(f"{owner} has shape {shape!r:.40}")


def _read_array(table: Any, body: bytes, start: int) -> tuple[np.ndarray, int]:
    kinds = {"dtype": str, "order": str, "shape": list}
    dtype, order, shape = take_entries(table, kinds, "an array")
    if dtype not in _DTYPES or order not in ("C", "F") or len(shape) > _MOST_DIMENSIONS:
        raise ModelFileError(
            f"an array has dtype {dtype!r:.40}, order {order!r:.40} and {len(shape)} sizes"
        )
    check_sizes(shape, MOST_BYTES, "an array")
    stored = _DTYPES[dtype]
    count = prod(shape)
    end = start + count * stored.itemsize
    if end > len(body):
        raise ModelFileError(f"an array of shape {shape}, {dtype}, goes beyond the end of the file")
    flat = np.frombuffer(body, stored, count, start).astype(stored.newbyteorder("="), copy=True)
    array = flat.reshape(shape, order=order)
    if _order(array) != order:
        raise ModelFileError(f"an array of shape {shape} is said to have order {order}")
    return array, end


def _order(array: np.ndarray) -> Any:
    """How it lies in memory, which the last bits of a matrix product may depend on."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _little(array: np.ndarray) -> np.ndarray:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in _DTYPES or array.ndim > _MOST_DIMENSIONS:
        raise ModelFileError(f"an array of shape {array.shape}, {array.dtype}, has no place in it")
    return little
