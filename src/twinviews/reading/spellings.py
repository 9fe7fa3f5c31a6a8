"""How the values of a column may be written in text: numbers, booleans, codes, words.

Strings come without missing values' words (they are null) and without blanks around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Words that mean missing, true and false: the one place that decides.
# A minus sign of its own is apart: beside plus signs it is a value, everywhere else it is a gap.
DASH = "-"
MISSING = (
    *("", "NA", "Na", "na", "N/A", "n/a", "N/a", "n.a.", "<NA>", "NaN", "nan", "NAN", "NaT"),
    *("NULL", "Null", "null", "None", "nil", "--", "?", "."),
    *("#N/A", "#NA", "#DIV/0!", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),
)
USUAL = (*MISSING, DASH)
# Of a column that nobody has spoken of, only these are booleans; yes and no stay the user's own words.
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
# Of a column that the user calls boolean, these too.
TRUE_IF_ASKED = (
    *(*_TRUE, "1", "t", "T", "y", "Y", "yes", "Yes", "YES", "on", "On"),
    *("ja", "Ja", "JA", "oui", "si", "sí"),
)
FALSE_IF_ASKED = (
    *(*_FALSE, "0", "f", "F", "n", "N", "no", "No", "NO", "off", "Off"),
    *("nein", "Nein", "NEIN", "non"),
)


def any_true(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())


def all_true(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False


def converts(convert: Callable[[pa.Array], Any], strings: pa.Array) -> bool:
    try:
        convert(strings)
    except pa.ArrowInvalid:
        return False
    return True


class Spelling:
    """One way to write the values of a column: here, what Arrow casts to a type."""

    kind: ClassVar[str]

    @property
    def type(self) -> pa.DataType:
        raise NotImplementedError

    @property
    def notation(self) -> str:
        """The kind, and how it is written if that needs to be said; for ``ReadingOptions.expected``."""
        return self.kind

    def may_be(self, value: str) -> bool:
        """Whether one value could be so written; quick, and never wrong when it says no."""
        return True

    def accepts(self, strings: pa.Array) -> bool:
        """Whether every value is so written."""
        return converts(self.convert, strings)

    def convert(self, strings: pa.Array) -> pa.Array:
        return pc.cast(strings, self.type)

    def includes(self, other: Spelling) -> bool:
        """Whether all that the other accepts is accepted here too."""
        return False


_WHOLE = re.compile("-?[0-9]+")
_NUMBER_LIKE = re.compile("(?i)[+-]?inf.*|(?=.*[0-9])[0-9e., '’\u00a0\u202f%€$£+-]+")
# Between groups of three digits: how it is written in a pattern.
_GROUPINGS = {".": r"\.", ",": ",", " ": "[ \u00a0\u202f]", "'": "['’]"}
_SYMBOLS = ("%", "€", "$", "£")
# More digits than this may not fit into int64, and lose digits as float64.
_MOST_DIGITS = 18
# What follows a zero at the start of a code, not a number. Arrow would read hexadecimal numbers.
_HEXADECIMAL = np.isin(np.arange(256), list(b"xX"))
_DIGITS_OR_HEXADECIMAL = np.isin(np.arange(256), list(b"0123456789xX"))


def _any_code(strings: pa.Array, *, zeros_may_lead: bool) -> bool:
    """Whether one is a code, not a number: a leading zero, or more digits than a number holds.

    From the bytes, for speed.
    """
    _, offsets, content = strings.buffers()
    if content is None or content.size == 0:
        return False
    ends = np.frombuffer(offsets, np.int32, len(strings) + 1, 4 * strings.offset)
    letter_at = np.frombuffer(content, np.uint8)
    zeros = np.flatnonzero(letter_at.take(ends[:-1], mode="clip") == ord("0"))
    starts = ends[zeros][ends[zeros + 1] - ends[zeros] > 1]
    if zeros_may_lead:
        return bool(_HEXADECIMAL[letter_at[starts + 1]].any())
    is_long = np.diff(ends).max() > _MOST_DIGITS
    return bool(_DIGITS_OR_HEXADECIMAL[letter_at[starts + 1]].any()) or (
        is_long and any_true(pc.match_substring_regex(strings, rf"^[+-]?[0-9]{{{_MOST_DIGITS + 1},}}$"))
    )


@dataclass(frozen=True)
class NumberSpelling(Spelling):
    """Numbers: whole ones, or with a decimal sign, perhaps with thousands set apart and a unit.

    ``codes`` lets leading zeros pass, for a column that the user calls a number.
    """

    decimal: str | None = None  # none in whole numbers
    grouping: str | None = None
    symbol: str | None = None
    codes: bool = False
    kind: ClassVar[str] = "number"

    @property
    def type(self) -> pa.DataType:
        return pa.int64() if self.decimal is None else pa.float64()

    @property
    def notation(self) -> str:
        if self.decimal is None:
            return "number"
        unit = "" if self.symbol is None else f" {self.symbol}"
        return f"number:1{self.grouping or ''}234{self.decimal}5{unit}"

    def may_be(self, value: str) -> bool:
        pattern = _WHOLE if self.decimal is None else _NUMBER_LIKE
        return (self.symbol or "") in value and pattern.fullmatch(value) is not None

    def accepts(self, strings: pa.Array) -> bool:
        if self.symbol is not None:
            if not all_true(pc.match_substring(strings, self.symbol)):
                return False
            strings = self._without_symbol(strings)
        if self.grouping is not None:
            if not all_true(pc.match_substring_regex(strings, self._grouped)):
                return False
        # Only the decimal comma is replaced, so a point beside it would pass for a decimal sign.
        elif self.decimal == "," and any_true(pc.match_substring(strings, ".")):
            return False
        return converts(self._plain, strings) and not _any_code(strings, zeros_may_lead=self.codes)

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
        if not isinstance(other, NumberSpelling) or self.decimal is None or other.grouping is not None:
            return False
        return other.decimal in (None, self.decimal) and other.symbol == self.symbol


def number_spellings(*, codes: bool) -> tuple[NumberSpelling, ...]:
    """By rising freedom, so that the plainest of those that fit comes first."""
    signs = [
        (decimal, grouping)
        for decimal in ".,"
        for grouping in (None, *_GROUPINGS)
        if grouping != decimal
    ]
    plain_first = sorted(signs, key=lambda pair: pair[1] is not None)
    return (
        NumberSpelling(codes=codes),
        *(NumberSpelling(*pair, None, codes) for pair in plain_first),
        *(NumberSpelling(*pair, symbol, codes) for symbol in _SYMBOLS for pair in signs),
    )


@dataclass(frozen=True)
class Boolean(Spelling):
    """True and false; words such as yes and no only if the user calls the column boolean."""

    asked: bool = False
    kind: ClassVar[str] = "boolean"
    type: ClassVar[pa.DataType] = pa.bool_()

    @property
    def _true(self) -> tuple[str, ...]:
        return TRUE_IF_ASKED if self.asked else _TRUE

    def accepts(self, strings: pa.Array) -> bool:
        known = pa.array([*self._true, *(FALSE_IF_ASKED if self.asked else _FALSE)])
        return all_true(pc.or_(pc.is_in(strings, known), pc.is_null(strings)))

    def convert(self, strings: pa.Array) -> pa.Array:
        is_true = pc.is_in(strings, pa.array(self._true))
        return pc.if_else(pc.is_null(strings), pa.scalar(None, pa.bool_()), is_true)


@dataclass(frozen=True)
class TextSpelling(Spelling):
    """Whatever it is."""

    kind: ClassVar[str] = "category"
    type: ClassVar[pa.DataType] = pa.string()

    def convert(self, strings: pa.Array) -> pa.Array:
        return strings

    def includes(self, other: Spelling) -> bool:
        return True


@dataclass(frozen=True)
class CodeSpelling(TextSpelling):
    """Digits that are a name, not a number, such as postal codes: 01234."""

    def may_be(self, value: str) -> bool:
        return _WHOLE.fullmatch(value) is not None

    def accepts(self, strings: pa.Array) -> bool:
        return all_true(pc.match_substring_regex(strings, "^-?[0-9]+$"))

    def includes(self, other: Spelling) -> bool:
        return isinstance(other, NumberSpelling) and other.decimal is None


@dataclass(frozen=True)
class Nothing(Spelling):
    """A column without a value."""

    own_type: pa.DataType
    kind: ClassVar[str] = "empty"

    @property
    def type(self) -> pa.DataType:
        return self.own_type

    def convert(self, strings: pa.Array) -> pa.Array:
        return pa.nulls(len(strings), self.type)
