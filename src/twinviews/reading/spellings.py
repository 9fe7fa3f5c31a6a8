"""How numbers, dates and truth are written in text: each way a test and a conversion of a column.

Strings come without missing values' words (they are null) and without blanks around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.vocabulary import FALSE, FALSE_IF_ASKED, TRUE, TRUE_IF_ASKED

# More digits than this may not fit into int64, and lose digits as float64.
_MOST_DIGITS = 18
# What follows a zero at the start of a code, not a number. Arrow would read hexadecimal numbers.
_HEXADECIMAL = np.frombuffer(b"xX", np.uint8)
_DIGITS_OR_HEXADECIMAL = np.frombuffer(b"0123456789xX", np.uint8)


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


def _converts(convert: Callable[[pa.Array], Any], strings: pa.Array) -> bool:
    try:
        convert(strings)
    except pa.ArrowInvalid:
        return False
    return True


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())


def _all(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False


def _are_codes(strings: pa.Array) -> bool:
    """Whether some are codes, not numbers: a leading zero, or more digits than a number holds."""
    if (pc.max(pc.binary_length(strings)).as_py() or 0) > _MOST_DIGITS and _any(
        pc.match_substring_regex(strings, rf"^[+-]?[0-9]{{{_MOST_DIGITS + 1},}}$")
    ):
        return True
    return _any_after_zero(strings, _DIGITS_OR_HEXADECIMAL)


def _any_after_zero(strings: pa.Array, letters: np.ndarray) -> bool:
    """Whether some value is a zero with one of these letters after it; from the bytes, for speed."""
    _, offsets, content = strings.buffers()
    if content is None or content.size == 0:
        return False
    ends = np.frombuffer(offsets, np.int32, len(strings) + 1, 4 * strings.offset)
    letter_at = np.frombuffer(content, np.uint8)
    longer = np.flatnonzero(ends[1:] - ends[:-1] > 1)
    starts = ends[longer]
    zero = starts[letter_at[starts] == ord("0")]
    return bool(np.isin(letter_at[zero + 1], letters).any())


@dataclass(frozen=True)
class Whole:
    """Whole numbers. ``codes`` lets leading zeros pass, for a column that the user calls a number."""

    codes: bool = False
    kind: ClassVar[str] = "number"
    type: ClassVar[pa.DataType] = pa.int64()
    notation: ClassVar[str] = "number"

    def may_be(self, value: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]+", value))

    def accepts(self, strings: pa.Array) -> bool:
        if not _converts(self.convert, strings):
            return False
        return not (_any_after_zero(strings, _HEXADECIMAL) if self.codes else _are_codes(strings))

    def convert(self, strings: pa.Array) -> pa.Array:
        return pc.cast(strings, self.type)

    def includes(self, other: Spelling) -> bool:
        return False


# Between groups of three digits: how it is written in a pattern.
_GROUPINGS = {".": r"\.", ",": ",", " ": "[ \u00a0\u202f]", "'": "['’]"}
SYMBOLS = ("%", "€", "$", "£")


@dataclass(frozen=True)
class Number:
    """Numbers with a decimal sign; perhaps with thousands set apart, perhaps with a unit."""

    decimal: str = "."
    grouping: str | None = None
    symbol: str | None = None
    codes: bool = False
    kind: ClassVar[str] = "number"
    type: ClassVar[pa.DataType] = pa.float64()

    @property
    def notation(self) -> str:
        unit = "" if self.symbol is None else f" {self.symbol}"
        return f"number:1{self.grouping or ''}234{self.decimal}5{unit}"

    def may_be(self, value: str) -> bool:
        if self.symbol is not None and self.symbol not in value:
            return False
        signs = {"+", "-", "e", "E", ".", ",", " ", "'", "’", "\u00a0", "\u202f", self.symbol}
        return bool(re.match(r"[+-]?inf", value, re.IGNORECASE)) or (
            any(c.isdigit() for c in value) and all(c.isdigit() or c in signs for c in value)
        )

    def accepts(self, strings: pa.Array) -> bool:
        if self.symbol is not None:
            if not _all(pc.match_substring(strings, self.symbol)):
                return False
            strings = self._without_symbol(strings)
        if self.grouping is not None and not _all(pc.match_substring_regex(strings, self._grouped)):
            return False
        # Only the decimal comma is replaced, so a point beside it would pass for a decimal sign.
        if self.grouping is None and self.decimal == "," and _any(pc.match_substring(strings, ".")):
            return False
        return _converts(self._plain, strings) and (self.codes or not _are_codes(strings))

    def convert(self, strings: pa.Array) -> pa.Array:
        return self._plain(strings if self.symbol is None else self._without_symbol(strings))

    @cached_property
    def _grouped(self) -> str:
        between = _GROUPINGS[self.grouping or " "]
        whole = rf"(?:[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+|[0-9]*)"
        return rf"^[+-]?(?:{whole}(?:\{self.decimal}[0-9]*)?(?:[eE][+-]?[0-9]+)?|inf)$"

    def _without_symbol(self, strings: pa.Array) -> pa.Array:
        symbol = re.escape(self.symbol or "")
        front = pc.replace_substring_regex(strings, rf"^([+-]?){symbol}\s?", r"\1")
        return pc.replace_substring_regex(front, rf"[\s\x{{00a0}}\x{{202f}}]?{symbol}$", "")

    def _plain(self, strings: pa.Array) -> pa.Array:
        if self.grouping is not None:
            strings = pc.replace_substring_regex(strings, _GROUPINGS[self.grouping], "")
        if self.decimal == ",":
            strings = pc.replace_substring(strings, ",", ".")
        return pc.cast(strings, self.type)

    def includes(self, other: Spelling) -> bool:
        if isinstance(other, Whole):
            return self.symbol is None
        return (
            isinstance(other, Number)
            and other.decimal == self.decimal
            and other.symbol == self.symbol
            and other.grouping is None
        )


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
        return _all(pc.or_(pc.is_in(strings, known), pc.is_null(strings)))

    def convert(self, strings: pa.Array) -> pa.Array:
        is_true = pc.is_in(strings, pa.array(self.true))
        return pc.if_else(pc.is_null(strings), pa.scalar(None, pa.bool_()), is_true)

    def includes(self, other: Spelling) -> bool:
        return False


@dataclass(frozen=True)
class IsoMoment:
    """2024-12-31, 2024-12-31 23:59, 2024-12-31T23:59:59.5; with a zone everywhere or nowhere."""

    finest: str = "day"  # or "s" for a time of day, or "us" for seconds with decimals
    zone: bool = False
    kind: ClassVar[str] = "date"

    @property
    def type(self) -> pa.DataType:
        unit = "us" if self.finest == "us" else "s"
        return pa.timestamp(unit, tz="UTC" if self.zone else None)

    @property
    def notation(self) -> str:
        time = {"day": "", "s": " 23:59:59", "us": " 23:59:59.5"}[self.finest]
        return f"date:2024-12-31{time}{'Z' if self.zone else ''}"

    def may_be(self, value: str) -> bool:
        return bool(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value))

    def accepts(self, strings: pa.Array) -> bool:
        if self.finest == "day":
            return _converts(lambda days: pc.cast(days, pa.date32()), strings)
        return _converts(self.convert, strings)

    def convert(self, strings: pa.Array) -> pa.Array:
        return pc.cast(strings, self.type)

    def includes(self, other: Spelling) -> bool:
        finer = ("day", "s", "us")
        return (
            isinstance(other, IsoMoment)
            and other.zone == self.zone
            and finer.index(other.finest) < finer.index(self.finest)
        )


# What the letters of a form stand for. Arrow's parser takes a year of two digits for one of four, and
# the 31st of February for the 2nd of March.
_PARTS = {
    "%d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "%m": "(?:0?[1-9]|1[0-2])",
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%b": "[A-Za-z]{3}",
    "%H": "[0-9]{1,2}",
    "%I": "[0-9]{1,2}",
    "%M": "[0-9]{2}",
    "%S": "[0-9]{2}",
    "%p": "[AaPp][Mm]",
}


@dataclass(frozen=True)
class Moment:
    """Dates in a form of strptime, such as %d.%m.%Y."""

    form: str
    kind: ClassVar[str] = "date"
    type: ClassVar[pa.DataType] = pa.timestamp("s")

    @property
    def notation(self) -> str:
        return f"date:{self.form}"

    @property
    def month_first(self) -> bool:
        return self.form.startswith("%m")

    @cached_property
    def _pattern(self) -> str | None:
        """None for a form of the user's with letters that are not known here."""
        pattern = re.escape(self.form)
        for letter, part in _PARTS.items():
            pattern = pattern.replace(re.escape(letter), part)
        return None if "%" in pattern else f"^{pattern}$"

    @cached_property
    def _late_day(self) -> str | None:
        """The same with a day that some months lack."""
        pattern = self._pattern
        return None if pattern is None else pattern.replace(_PARTS["%d"], "(?:29|3[01])")

    def may_be(self, value: str) -> bool:
        return self._pattern is None or bool(re.match(self._pattern, value))

    def accepts(self, strings: pa.Array) -> bool:
        if self._pattern is not None and not _all(pc.match_substring_regex(strings, self._pattern)):
            return False
        if not _converts(self.convert, strings):
            return False
        if self._late_day is None:
            return True
        late = pc.match_substring_regex(strings, self._late_day)
        return not _any(pc.and_(late, pc.less(pc.day(self.convert(strings)), 29)))

    def convert(self, strings: pa.Array) -> pa.Array:
        return pc.strptime(strings, format=self.form, unit="s", error_is_null=False)

    def includes(self, other: Spelling) -> bool:
        return self.form == "%Y-%m-%d" and isinstance(other, IsoMoment) and other.finest == "day"


@dataclass(frozen=True)
class Code:
    """Digits that are a name, not a number, such as postal codes: 01234."""

    kind: ClassVar[str] = "category"
    notation: ClassVar[str] = "category"
    type: ClassVar[pa.DataType] = pa.string()

    def may_be(self, value: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]+", value))

    def accepts(self, strings: pa.Array) -> bool:
        return _all(pc.match_substring_regex(strings, "^-?[0-9]+$"))

    def convert(self, strings: pa.Array) -> pa.Array:
        return strings

    def includes(self, other: Spelling) -> bool:
        return isinstance(other, Whole)


@dataclass(frozen=True)
class Text:
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


def _numbers(codes: bool) -> list[Spelling]:
    found: list[Spelling] = [Whole(codes)]
    # By rising freedom, so that the plainest of those that fit comes first.
    found += [Number(decimal, codes=codes) for decimal in ".,"]
    found += [
        Number(decimal, grouping, codes=codes)
        for decimal in ".,"
        for grouping in _GROUPINGS
        if grouping != decimal
    ]
    found += [
        Number(decimal, grouping, symbol, codes)
        for symbol in SYMBOLS
        for decimal in ".,"
        for grouping in (None, *_GROUPINGS)
        if grouping != decimal
    ]
    return found


_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DATES: tuple[Spelling, ...] = (
    IsoMoment(),
    *(IsoMoment(finest, zone) for zone in (False, True) for finest in ("s", "us")),
    *(Moment(day + time) for day in _DAYS for time in _TIMES),
)
NUMBERS: tuple[Spelling, ...] = tuple(_numbers(codes=False))
# What a column may be of which nobody has said what it is; Text fits always and comes last.
ANY: tuple[Spelling, ...] = (*NUMBERS, *DATES, Boolean(), Code(), Text())


# Of a column that is said to be numbers.
_NUMBERS_OR_CODES: tuple[Spelling, ...] = tuple(_numbers(codes=True))
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
    return (Boolean(asked=True),) if kind == "boolean" else (Text(),)


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
