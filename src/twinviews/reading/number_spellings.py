"""How numbers are written in text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.spelling_base import Spelling, all_true, any_true, converts

# More digits than this may not fit into int64, and lose digits as float64.
_MOST_DIGITS = 18
# What follows a zero at the start of a code, not a number. Arrow would read hexadecimal numbers.
_HEXADECIMAL = np.isin(np.arange(256), list(b"xX"))
_DIGITS_OR_HEXADECIMAL = np.isin(np.arange(256), list(b"0123456789xX"))


def _are_codes(strings: pa.Array) -> bool:
    """Whether some are codes, not numbers: a leading zero, or more digits than a number holds."""
    if (pc.max(pc.binary_length(strings)).as_py() or 0) > _MOST_DIGITS and any_true(
        pc.match_substring_regex(strings, rf"^[+-]?[0-9]{{{_MOST_DIGITS + 1},}}$")
    ):
        return True
    return _any_after_zero(strings, _DIGITS_OR_HEXADECIMAL)


def _any_after_zero(strings: pa.Array, letters: np.ndarray) -> bool:
    """Whether some value is a zero with one of these letters after it; from the bytes, for speed.

    ``letters`` says of each of the 256 whether it is one of them.
    """
    _, offsets, content = strings.buffers()
    if content is None or content.size == 0:
        return False
    ends = np.frombuffer(offsets, np.int32, len(strings) + 1, 4 * strings.offset)
    letter_at = np.frombuffer(content, np.uint8)
    zeros = np.flatnonzero(letter_at.take(ends[:-1], mode="clip") == ord("0"))
    starts = ends[zeros][ends[zeros + 1] - ends[zeros] > 1]
    return bool(letters[letter_at[starts + 1]].any())


@dataclass(frozen=True)
class WholeSpelling:
    """Whole numbers. ``codes`` lets leading zeros pass, for a column that the user calls a number."""

    codes: bool = False
    kind: ClassVar[str] = "number"
    type: ClassVar[pa.DataType] = pa.int64()
    notation: ClassVar[str] = "number"

    def may_be(self, value: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]+", value))

    def accepts(self, strings: pa.Array) -> bool:
        if not converts(self.convert, strings):
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
class NumberSpelling:
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
            if not all_true(pc.match_substring(strings, self.symbol)):
                return False
            strings = self._without_symbol(strings)
        if self.grouping is not None and not all_true(pc.match_substring_regex(strings, self._grouped)):
            return False
        # Only the decimal comma is replaced, so a point beside it would pass for a decimal sign.
        if self.grouping is None and self.decimal == "," and any_true(pc.match_substring(strings, ".")):
            return False
        return converts(self._plain, strings) and (self.codes or not _are_codes(strings))

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
        if isinstance(other, WholeSpelling):
            return self.symbol is None
        return (
            isinstance(other, NumberSpelling)
            and other.decimal == self.decimal
            and other.symbol == self.symbol
            and other.grouping is None
        )


def number_spellings(codes: bool) -> tuple[Spelling, ...]:
    """By rising freedom, so that the plainest of those that fit comes first."""
    found: list[Spelling] = [WholeSpelling(codes)]
    found += [NumberSpelling(decimal, codes=codes) for decimal in ".,"]
    found += [
        NumberSpelling(decimal, grouping, codes=codes)
        for decimal in ".,"
        for grouping in _GROUPINGS
        if grouping != decimal
    ]
    found += [
        NumberSpelling(decimal, grouping, symbol, codes)
        for symbol in SYMBOLS
        for decimal in ".,"
        for grouping in (None, *_GROUPINGS)
        if grouping != decimal
    ]
    return tuple(found)
