"""What becomes of a column: a code turns its values into one or several columns of numbers.

``ColumnKind`` says what a code has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.values import as_days, as_numbers, as_words

_DAYS_OF_A_YEAR = 365.2425
# Of a level that no row had, in the logarithm of its share.
_UNSEEN = 1e-9


@dataclass(frozen=True)
class NumberCode:
    """The number; a missing one counts as the mean, and if any was missing a flag says which."""

    name: str
    mean: float
    flag: bool
    boolean: bool

    @property
    def kind(self) -> str:
        return "boolean" if self.boolean else "number"

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.name, *_flag_name(self.name, self.flag))

    @property
    def words(self) -> str:
        return "as it is" + _flag_words(self.flag)

    def __call__(self, column: pa.Array) -> np.ndarray:
        return _filled(as_numbers(self.name, column), self.mean, self.flag)


@dataclass(frozen=True)
class LevelCode:
    """A column of 0 and 1 for each common level; all others are 0 in each, unknown ones as well.

    Where there are more levels than columns, another column tells how common the row's level is.
    """

    name: str
    levels: tuple[str, ...]
    flag: bool
    known: tuple[str, ...]  # all that were counted, in order
    # Of the rows that have each; only where there are more than columns.
    shares: tuple[Annotated[float, ">= 0"], ...] = ()

    kind = "category"

    @property
    def outputs(self) -> tuple[str, ...]:
        named = [f"{self.name}={level}" for level in self.levels]
        share = [f"{self.name}, how common"] if self.shares else []
        return (*named, *share, *_flag_name(self.name, self.flag))

    @property
    def words(self) -> str:
        number = len(self.levels)
        what = (
            "a column for one of its two levels" if number == 1 else f"{number} levels, a column each"
        )
        if self.shares:
            what = f"{number} commonest of {len(self.known):,} levels, and how common each is"
        return what + _flag_words(self.flag, filled=False)

    def __call__(self, column: pa.Array) -> np.ndarray:
        words = as_words(column)
        place = _places(words, self.levels)
        parts = [(place[:, None] == np.arange(len(self.levels))).astype(np.float64)]
        if self.shares:
            parts.append(self._commonness(words)[:, None])
        if self.flag:
            parts.append(np.asarray(words.is_null(), dtype=np.float64)[:, None])
        return np.hstack(parts)

    def _commonness(self, words: pa.Array) -> np.ndarray:
        """The logarithm of a level's share of the rows; that of a missing value is the mean."""
        shares = np.array([*self.shares, _UNSEEN])
        place = _places(words, self.known)
        mean = shares[:-1] @ np.log(shares[:-1]) / shares[:-1].sum()
        return np.where(np.asarray(words.is_null()), mean, np.log(shares)[place])


def _places(words: pa.Array, levels: tuple[str, ...]) -> np.ndarray:
    """(rows,) where each word is among the levels; -1 if it is not."""
    found = pc.index_in(words, value_set=pa.array(levels, pa.large_string()))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class DateCode:
    """Days, and where they show the hour, the weekday and the season as points on a circle."""

    name: str
    mean: float
    flag: bool
    of_day: bool
    of_week: bool
    of_year: bool

    kind = "date"

    @property
    def _circles(self) -> list[tuple[str, float]]:
        circles = [("day", 1.0, self.of_day), ("week", 7.0, self.of_week)]
        circles += [("year", _DAYS_OF_A_YEAR, self.of_year)]
        return [(name, length) for name, length, shown in circles if shown]

    @property
    def outputs(self) -> tuple[str, ...]:
        of = [f"{self.name}, {part} of {name}" for name, _ in self._circles for part in ("sin", "cos")]
        return (self.name, *of, *_flag_name(self.name, self.flag))

    @property
    def words(self) -> str:
        circles = " and ".join(f"the time of {name}" for name, _ in self._circles)
        return "days" + (f", {circles} as a circle" if circles else "") + _flag_words(self.flag)

    def __call__(self, column: pa.Array) -> np.ndarray:
        days = as_days(self.name, column)
        turns = [2 * np.pi * days / length for _, length in self._circles]
        # A missing date is at the centre of each circle.
        points = [np.nan_to_num(f(turn))[:, None] for turn in turns for f in (np.sin, np.cos)]
        filled = _filled(days, self.mean, self.flag)
        return np.hstack([filled[:, :1], *points, filled[:, 1:]])


@dataclass(frozen=True)
class LeftOutColumn:
    """Nothing becomes of the column."""

    name: str
    why: str

    kind = "left out"
    outputs: ClassVar[tuple[str, ...]] = ()

    @property
    def words(self) -> str:
        return self.why


Code = NumberCode | LevelCode | DateCode | LeftOutColumn


def _filled(x: np.ndarray, mean: float, flag: bool) -> np.ndarray:
    """(rows, 1 or 2) with the mean where a value is missing, and where that is."""
    missing = np.isnan(x)
    x = np.where(missing, mean, x)
    return np.column_stack([x, missing]) if flag else x[:, None]


def _flag_name(name: str, flag: bool) -> tuple[str, ...]:
    return (f"{name} is missing",) if flag else ()


def _flag_words(flag: bool, *, filled: bool = True) -> str:
    if not flag:
        return ""
    return "; blanks count as the mean and are flagged" if filled else "; blanks are flagged"
