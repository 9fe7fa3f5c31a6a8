"""Kinds of columns: how each is summarised and becomes numbers. A new one is registered here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from twinviews.reading.arrow_kinds import TypeTest, take_types_for

if TYPE_CHECKING:
    from twinviews.encoding.facts import ColumnFacts


@dataclass(frozen=True)
class ColumnKind:
    """What is done with the columns of a kind.

    Parameters
    ----------
    name : str
        As in ``kinds={"wind": "angle"}``.
    summarise : callable
        From the name of a column, its values in a block of rows and the rows' weights to which values
        are missing, (rows,) booleans, and a summary of the others that has ``merge(other)``.
    code : callable
        From the name of a column, the ``ColumnFacts`` of all rows, their number, and whether the user
        gave the kind, to a code: an object with ``name``, ``kind``, ``outputs`` (names of the numbers),
        ``words`` (what was done) and a call from values to (rows, outputs) numbers.
    is_type : callable, optional
        Of which Arrow types columns are of this kind without a word of the user's.
    read_as : str
        As what a column is read from text: number, category, date or boolean.
    """

    name: str
    summarise: Callable[[str, pa.Array, np.ndarray], tuple[np.ndarray, Any]]
    code: Callable[[str, ColumnFacts, int, bool], Any]
    is_type: TypeTest | None = None
    read_as: str = "number"


_KINDS: dict[str, ColumnKind] = {}


def register_column_kind(kind: ColumnKind) -> None:
    """Let every table have columns of another kind."""
    _KINDS[kind.name] = kind
    if kind.is_type is not None:
        take_types_for(kind.name, kind.is_type)


def column_kind(name: str) -> ColumnKind:
    return _KINDS[name]


def kind_names() -> tuple[str, ...]:
    """What a user may say that a column is."""
    return tuple(_KINDS)
