"""All ways to write the values of a column, and which of them a kind allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.date_spellings import DATES, Moment
from twinviews.reading.number_spellings import WholeSpelling, number_spellings
from twinviews.reading.spelling_base import Spelling, all_true
from twinviews.reading.vocabulary import FALSE, FALSE_IF_ASKED, TRUE, TRUE_IF_ASKED


@dataclass(frozen=True)
class Boolean:
    """True and false; words such as yes and no only if the user calls the column boolean."""

    asked: bool = False
    kind: ClassVar[str] = "boolean"
    type: ClassVar[pa.DataType] = pa.bool_()
    notation: ClassVar[str] = "boolean"

    @property
    def true(self) -> tuple[str, ...]:
        return TRUE_IF_ASKED if self.asked else TRUE

    @property
    def false(self) -> tuple[str, ...]:
        return FALSE_IF_ASKED if self.asked else FALSE

    def may_be(self, value: str) -> bool:
        return value in self.true or value in self.false

    def accepts(self, strings: pa.Array) -> bool:
        known = pa.array([*self.true, *self.false])
        return all_true(pc.or_(pc.is_in(strings, known), pc.is_null(strings)))

    def convert(self, strings: pa.Array) -> pa.Array:
        is_true = pc.is_in(strings, pa.array(self.true))
        return pc.if_else(pc.is_null(strings), pa.scalar(None, pa.bool_()), is_true)

    def includes(self, other: Spelling) -> bool:
        return False


@dataclass(frozen=True)
class CodeSpelling:
    """Digits that are a name, not a number, such as postal codes: 01234."""

    kind: ClassVar[str] = "category"
    notation: ClassVar[str] = "category"
    type: ClassVar[pa.DataType] = pa.string()

    def may_be(self, value: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]+", value))

    def accepts(self, strings: pa.Array) -> bool:
        return all_true(pc.match_substring_regex(strings, "^-?[0-9]+$"))

    def convert(self, strings: pa.Array) -> pa.Array:
        return strings

    def includes(self, other: Spelling) -> bool:
        return isinstance(other, WholeSpelling)


@dataclass(frozen=True)
class TextSpelling:
    """Whatever it is."""

    kind: ClassVar[str] = "category"
    notation: ClassVar[str] = "category"
    type: ClassVar[pa.DataType] = pa.string()

    def may_be(self, value: str) -> bool:
        return True

    def accepts(self, strings: pa.Array) -> bool:
        return True

    def convert(self, strings: pa.Array) -> pa.Array:
        return strings

    def includes(self, other: Spelling) -> bool:
        return True


_NULL = pa.null()


@dataclass(frozen=True)
class Nothing:
    """A column without a value."""

    type: pa.DataType = _NULL
    kind: str = "empty"
    notation: ClassVar[str] = "empty"

    def may_be(self, value: str) -> bool:
        return False

    def accepts(self, strings: pa.Array) -> bool:
        return bool(strings.null_count == len(strings))

    def convert(self, strings: pa.Array) -> pa.Array:
        return pa.nulls(len(strings), self.type)

    def includes(self, other: Spelling) -> bool:
        return False


NUMBERS: tuple[Spelling, ...] = number_spellings(codes=False)
# What a column may be of which nobody has said what it is; TextSpelling fits always and comes last.
ANY: tuple[Spelling, ...] = (*NUMBERS, *DATES, Boolean(), CodeSpelling(), TextSpelling())
# Of a column that is said to be numbers.
_NUMBERS_OR_CODES: tuple[Spelling, ...] = number_spellings(codes=True)
_BY_NOTATION = {one.notation: one for one in (*_NUMBERS_OR_CODES, *DATES)}


def of_kind(kind: str) -> tuple[Spelling, ...]:
    """The spellings of a column that is said to be of this kind, or to be written in this way."""
    written = written_as(kind)
    if written is not None:
        return (written,)
    if kind == "number":
        return _NUMBERS_OR_CODES
    if kind == "date":
        return DATES
    return (Boolean(asked=True),) if kind == "boolean" else (TextSpelling(),)


def written_as(kind: str) -> Spelling | None:
    """The spelling that a kind names by an example or a form; None if it names no more than a kind."""
    word, more, form = kind.partition(":")
    if not more or word == "category":
        return None
    if kind in _BY_NOTATION:
        return _BY_NOTATION[kind]
    if word == "date":
        return Moment(form)
    raise ValueError(f"{kind!r} shows no way to write numbers. One is number:1.234,5.")
