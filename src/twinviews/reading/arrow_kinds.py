"""What kind of column an Arrow type is: the one place that decides."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as types

TypeTest = Callable[[pa.DataType], bool]


def is_number(type_: pa.DataType) -> bool:
    return types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)


def is_text(type_: pa.DataType) -> bool:
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)


# The first that is true of a type decides.
_KINDS: list[tuple[str, TypeTest]] = [
    ("boolean", types.is_boolean),
    ("number", lambda type_: is_number(type_) or types.is_duration(type_) or types.is_time(type_)),
    ("date", lambda type_: types.is_date(type_) or types.is_timestamp(type_)),
    ("category", is_text),
    ("empty", types.is_null),
]


def take_types_for(kind: str, is_type: TypeTest) -> None:
    """Let columns of some Arrow types be of another kind than before."""
    _KINDS.insert(0, (kind, is_type))


def kind_of_type(type_: pa.DataType) -> str:
    """number, boolean, date, category, empty or a registered kind; "other" of what none fits."""
    if types.is_dictionary(type_):  # whose levels were named, even where they are numbers
        return "category" if is_number(type_.value_type) else kind_of_type(type_.value_type)
    return next((kind for kind, is_type in _KINDS if is_type(type_)), "other")
