"""What every way to write the values of a column has in common.

Strings come without missing values' words (they are null) and without blanks around them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc


class Spelling(Protocol):
    """One way to write the values of a column."""

    @property
    def kind(self) -> str: ...

    @property
    def type(self) -> pa.DataType: ...

    @property
    def notation(self) -> str:
        """The kind, and how it is written if that needs to be said: ``written_as`` gives it back."""
        ...

    def may_be(self, value: str) -> bool:
        """Whether one value could be so written; quick, and never wrong when it says no."""
        ...

    def accepts(self, strings: pa.Array) -> bool:
        """Whether every value is so written."""
        ...

    def convert(self, strings: pa.Array) -> pa.Array: ...

    def includes(self, other: Spelling) -> bool:
        """Whether all that the other accepts is accepted here too."""
        ...


def converts(convert: Callable[[pa.Array], Any], strings: pa.Array) -> bool:
    try:
        convert(strings)
    except pa.ArrowInvalid:
        return False
    return True


def any_true(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())


def all_true(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False
