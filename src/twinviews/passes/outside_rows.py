"""New rows against what the fit has seen: which values are outside, and whether chance explains them.

A value is outside if the fit has seen none like it: a number beyond its range by more than half of
that, a fraction where all were whole numbers, a level that no row had, a blank where there was none.
Rows of the fit, all or some of them, are never outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import betainc

from twinviews.passes.input_profile import (
    MOST_LEVELS_SEEN,
    ColumnRanges,
    InputProfile,
    column_ends,
    whole_columns,
)

# How far beyond its range a number is outside, in units of the range. Of new rows like those of the
# fit, 0.06% then are outside in some column, and with 0 it would be 1.3%: means of 34 real sets.
MARGIN = 0.5
# Relative distance within which numbers count as equal: single precision has seven digits.
_ROUNDING = 1e-6
# How often a call with rows like those of the fit may tell of a column.
FALSE_ALARMS = 1e-4
# Ways in which a column can be outside, each of which is tested.
_WAYS = 5


class Bounds(NamedTuple):
    """Numbers below or above are outside; NaN where there are no bounds."""

    low: np.ndarray  # (F,)
    high: np.ndarray  # (F,)


def bounds_of(ranges: ColumnRanges) -> Bounds:
    """The range and half of it on either side, in logarithms too where all numbers have one sign.

    So a price of 2 to 90 that comes as 0.02 to 0.9 is outside, though it is near in units of the range.
    """
    least, most = ranges.least, ranges.most
    with np.errstate(all="ignore"):
        rounding = _ROUNDING * np.maximum(np.abs(least), np.abs(most))
        margin = MARGIN * (most - least) + rounding
        low, high = least - margin, most + margin
        near = (least / most) ** MARGIN, (most / least) ** MARGIN  # of the end that is nearer to 0
        low = np.where(least > 0, np.maximum(low, least * near[0] * (1 - _ROUNDING)), low)
        high = np.where(most < 0, np.minimum(high, most * near[1] * (1 - _ROUNDING)), high)
    return Bounds(low, high)


def chance(n_outside: int, n_rows: int, n_fitted: int, rare_rows: int = 0) -> float:
    """How likely so many of ``n_rows`` rows at the least are outside if all rows are alike.

    If k of all rows together have something that no row of the fit has, then all k are among
    the new rows with a probability below (n / (N + n))^k, whatever the distribution. With
    ``rare_rows`` of the fit whose value hardly another row has, rows with a new value are to be
    expected as well: it is the binomial probability that of k + rare_rows such rows k are new ones.
    """
    if n_outside == 0:
        return 1.0
    return float(betainc(n_outside, rare_rows + 1, n_rows / (n_fitted + n_rows)))


@dataclass(frozen=True)
class OutsideCounts:
    """How many of some new rows are outside, in all and by column."""

    n_rows: int
    n_outside: int  # rows that are in some column
    below: np.ndarray  # (F,)
    above: np.ndarray  # (F,)
    fractions: np.ndarray  # (F,)
    blanks: np.ndarray  # (F,)
    unseen: np.ndarray  # (F,) with a level that no row of the fit had
    least: np.ndarray  # (F,) of the numbers here, NaN if there are none
    most: np.ndarray  # (F,)
    new_levels: Mapping[int, Mapping[str, int]]  # rows of each, by column; of many the commonest

    def merge(self, other: Self) -> Self:
        levels = {column: dict(found) for column, found in self.new_levels.items()}
        for column, found in other.new_levels.items():
            ours = levels.setdefault(column, {})
            for level, rows in found.items():
                ours[level] = ours.get(level, 0) + rows
            if len(ours) > MOST_LEVELS_SEEN:
                levels[column] = dict(by_rows(ours)[:MOST_LEVELS_SEEN])
        return type(self)(
            self.n_rows + other.n_rows,
            self.n_outside + other.n_outside,
            self.below + other.below,
            self.above + other.above,
            self.fractions + other.fractions,
            self.blanks + other.blanks,
            self.unseen + other.unseen,
            np.fmin(self.least, other.least),
            np.fmax(self.most, other.most),
            levels,
        )

    def by_column(self) -> np.ndarray:
        """(F,) rows that are outside in each; a number may be a fraction and beyond the range."""
        beyond = np.maximum(self.below + self.above, self.fractions)
        return beyond + self.blanks + self.unseen

    def told_columns(self, profile: InputProfile, names: Sequence[str]) -> list[int]:
        """Those of which more rows are outside than chance explains."""
        limit = FALSE_ALARMS / (_WAYS * len(self.below))
        told = []
        for column in map(int, np.flatnonzero(self.by_column())):
            seen = profile.levels.get(names[column])
            rare = 0 if seen is None else seen.rare_rows
            ways = [(way[column], 0) for way in (self.below, self.above, self.fractions, self.blanks)]
            ways.append((self.unseen[column], rare))
            if any(chance(int(k), self.n_rows, profile.n_rows, r) < limit for k, r in ways):
                told.append(column)
        return told


def by_rows(levels: Mapping[str, int]) -> list[tuple[str, int]]:
    """Levels and their rows, the most rows first."""
    return sorted(levels.items(), key=lambda item: (-item[1], item[0]))


class Outside(NamedTuple):
    """Some rows, looked at."""

    flags: Mapping[int, np.ndarray]  # (rows,) booleans, of the columns in which some row is outside
    counts: OutsideCounts


class Looking:
    """Collects what is outside in a block of rows, column by column."""

    def __init__(self, profile: InputProfile, n_rows: int) -> None:
        F = len(profile.ranges.least)
        self.ranges, self.bounds, self.n_rows = profile.ranges, bounds_of(profile.ranges), n_rows
        self.below, self.above, self.fractions, self.blanks, self.unseen = np.zeros((5, F), np.int64)
        self.least, self.most = np.full((2, F), np.nan)
        self.new_levels: dict[int, dict[str, int]] = {}
        self.flags: dict[int, np.ndarray] = {}

    def numbers(self, column: int, x: np.ndarray) -> None:
        """Numbers of a column, NaN where they are missing."""
        blank = np.isnan(x)
        below, above = x < self.bounds.low[column], x > self.bounds.high[column]
        fraction = np.zeros(len(x), bool)
        if self.ranges.whole[column]:
            fraction = ~blank & (x != np.floor(x))
        self.below[column], self.above[column] = below.sum(), above.sum()
        self.fractions[column] = fraction.sum()
        self._flag(column, below | above | fraction)
        self.missing(column, blank)
        if not blank.all():
            self.least[column], self.most[column] = np.nanmin(x), np.nanmax(x)

    def missing(self, column: int, blank: np.ndarray) -> None:
        """Which values of a column are missing."""
        if not self.ranges.blank[column]:
            self.blanks[column] = blank.sum()
            self._flag(column, blank)

    def new(self, column: int, unseen: np.ndarray, levels: dict[str, int]) -> None:
        """Which rows have a level that no row of the fit had, and how many rows have each."""
        self.unseen[column] = unseen.sum()
        self._flag(column, unseen)
        if levels:
            self.new_levels[column] = levels

    def _flag(self, column: int, outside: np.ndarray) -> None:
        if outside.any():
            self.flags[column] = self.flags.get(column, False) | outside

    def done(self) -> Outside:
        some = np.zeros(self.n_rows, bool)
        for flags in self.flags.values():
            some |= flags
        counts = OutsideCounts(
            self.n_rows,
            int(some.sum()),
            self.below,
            self.above,
            self.fractions,
            self.blanks,
            self.unseen,
            self.least,
            self.most,
            self.new_levels,
        )
        return Outside(self.flags, counts)


def look_at_numbers(profile: InputProfile, X: Any) -> Outside:
    """Rows of numbers without blanks, dense or sparse; most columns are settled by their ends."""
    looking = Looking(profile, X.shape[0])
    if X.shape[0] == 0:
        return looking.done()
    looking.least, looking.most = column_ends(X)
    low, high = looking.bounds
    suspect = (looking.least < low) | (looking.most > high)
    whole = profile.ranges.whole.astype(bool)
    if whole.any():
        suspect |= whole & ~whole_columns(X, whole)
    for column in np.flatnonzero(suspect):
        x = X[:, [column]].toarray().ravel() if sparse.issparse(X) else X[:, column]
        looking.numbers(int(column), np.asarray(x, dtype=np.float64))
    return looking.done()
