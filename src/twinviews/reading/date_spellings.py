"""How dates are written in text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.spellings import Spelling, all_true, any_true, converts


@dataclass(frozen=True)
class IsoMoment(Spelling):
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
        return re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", value) is not None

    def accepts(self, strings: pa.Array) -> bool:
        target = pa.date32() if self.finest == "day" else self.type
        return converts(lambda some: pc.cast(some, target), strings)

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
class Moment(Spelling):
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
    def _pattern(self) -> str:
        """Of all values; anything for a form of the user's with letters that are not known here."""
        pattern = re.escape(self.form)
        for letter, part in _PARTS.items():
            pattern = pattern.replace(re.escape(letter), part)
        return "" if "%" in pattern else f"^{pattern}$"

    def may_be(self, value: str) -> bool:
        return re.match(self._pattern, value) is not None

    def accepts(self, strings: pa.Array) -> bool:
        if not all_true(pc.match_substring_regex(strings, self._pattern)):
            return False
        if not converts(self.convert, strings):
            return False
        if not self._pattern:
            return True
        # A day that some months lack.
        late = pc.match_substring_regex(strings, self._pattern.replace(_PARTS["%d"], "(?:29|3[01])"))
        return not any_true(pc.and_(late, pc.less(pc.day(self.convert(strings)), 29)))

    def convert(self, strings: pa.Array) -> pa.Array:
        return pc.strptime(strings, format=self.form, unit="s", error_is_null=False)

    def includes(self, other: Spelling) -> bool:
        return self.form == "%Y-%m-%d" and isinstance(other, IsoMoment) and other.finest == "day"


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
