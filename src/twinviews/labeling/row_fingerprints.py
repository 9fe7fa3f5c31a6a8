"""Fingerprints of rows, by which a row that has changed since it was labeled is noticed.

The bytes that are hashed are defined here and depend on no library: columns by their names, in the
order of the names, and each value as its kind and a text. Whole numbers are the same whether they were
read as integers or as floats, times whatever their unit, and a day is its midnight: the type of a
column may change with another row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.table_copy import TableCopy

_HEX_DIGITS = 16
_BATCH_ROWS = 65_536
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NANOSECONDS_OF_A_DAY = 86_400 * 10**9


def row_fingerprints(
    table: TableCopy, rows: Sequence[int] | np.ndarray, excluded: Collection[str] = ()
) -> list[str]:
    """The fingerprints of some rows, made without the excluded columns."""
    wanted = np.asarray(rows, dtype=np.int64)
    found: list[str] = []
    for start in range(0, len(wanted), _BATCH_ROWS):
        found += _fingerprints(table.rows(wanted[start : start + _BATCH_ROWS]), excluded)
    return found


def changed_rows(store: LabelStore, table: TableCopy) -> list[int]:
    """Labeled rows whose values are no longer those that were labeled, labels aside.

    A fingerprint excludes the targets that there were when it was made: the first one, the first two,
    and so on, as targets are only added.
    """
    names = [target.name for target in store.targets()]
    changed: set[int] = set()
    for target in names:
        then = store.fingerprints(target)
        left = list(then)
        for count in range(len(names), names.index(target), -1):
            now = row_fingerprints(table, left, names[:count])
            left = [row for row, found in zip(left, now, strict=True) if then[row] != found]
        changed |= set(left)
    return sorted(changed)


def _fingerprints(rows: pa.Table, excluded: Collection[str]) -> list[str]:
    names = sorted(name for name in rows.schema.names if name not in excluded)
    columns = [rows.column(name) for name in names]
    found = []
    for i in range(rows.num_rows):
        content_hash = hashlib.sha256()
        for name, column in zip(names, columns, strict=True):
            for part in (name, *_kind_and_text(column[i])):
                content = part.encode()
                content_hash.update(len(content).to_bytes(8, "big") + content)
        found.append(content_hash.hexdigest()[:_HEX_DIGITS])
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
        return _kind_and_text_of_float(float(value.as_py()))
    if types.is_timestamp(value.type):
        return "moment", str(value.value * _NANOSECONDS[value.type.unit])
    if types.is_date32(value.type):
        return "moment", str(value.value * _NANOSECONDS_OF_A_DAY)
    if types.is_date64(value.type):
        return "moment", str(value.value * _NANOSECONDS["ms"])
    return "text", str(value.as_py())


def _kind_and_text_of_float(number: float) -> tuple[str, str]:
    if number != number:
        return "blank", ""
    return "number", str(int(number)) if number.is_integer() else repr(number)
