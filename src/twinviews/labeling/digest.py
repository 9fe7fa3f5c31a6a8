"""A short digest of a row's values, by which a row that has changed is noticed.

The bytes that are hashed are defined here and depend on no library: columns by their names, in the
order of the names, and each value as a letter for its kind and a text. Whole numbers are the same
whether they were read as integers or as floats, moments whatever their unit, and a day is its midnight:
the type of a column may change with another row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import pyarrow as pa

_HEX_DIGITS = 16
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NANOSECONDS_OF_A_DAY = 86_400 * 10**9


def row_digests(rows: pa.Table, besides: Collection[str] = ()) -> list[str]:
    """Of each row, without the columns named in ``besides``."""
    names = sorted(name for name in rows.schema.names if name not in besides)
    columns = [rows.column(name) for name in names]
    found = []
    for i in range(rows.num_rows):
        digest = hashlib.sha256()
        for name, column in zip(names, columns, strict=True):
            for part in (name, *_kind_and_text(column[i])):
                content = part.encode()
                digest.update(len(content).to_bytes(8, "big") + content)
        found.append(digest.hexdigest()[:_HEX_DIGITS])
    return found


def _kind_and_text(value: pa.Scalar) -> tuple[str, str]:
    types = pa.types
    if not value.is_valid:
        return "blank", ""
    if types.is_boolean(value.type):
        return "boolean", str(value.as_py())
    if types.is_integer(value.type):
        return "number", str(value.as_py())
    if types.is_floating(value.type):
        return _of_float(float(value.as_py()))
    if types.is_timestamp(value.type):
        return "moment", str(value.value * _NANOSECONDS[value.type.unit])
    if types.is_date32(value.type):
        return "moment", str(value.value * _NANOSECONDS_OF_A_DAY)
    if types.is_date64(value.type):
        return "moment", str(value.value * _NANOSECONDS["ms"])
    return "text", str(value.as_py())


def _of_float(number: float) -> tuple[str, str]:
    if number != number:
        return "blank", ""
    return "number", str(int(number)) if number.is_integer() else repr(number)
