"""Columns brought to one scale, from the first pass over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import ndtri

from twinviews.tables.double_precision import LARGEST

SCALES = ("standard", "robust", "rank")
# Values beyond about this many interquartile ranges are compressed smoothly.
_CLIP = 3.0
# Rank scaling: number of points between which it is linear, and the rank at which it ends.
_KNOTS = 256
_TAIL = 1e-3
# Means and deviations are rounded to this many bits: twelve digits.
_BITS = 40


@dataclass(frozen=True)
class ColumnMoments:
    """Count, mean and sum of squared deviations of each column; merged by Chan's formula.

    The mean is stored relative to an origin near it: if the mean is far larger than the deviations, a
    sum of both would have no digits left for the next block.
    """

    count: float
    origin: np.ndarray  # (D,)
    offset: np.ndarray  # (D,) of the mean from the origin
    squares: np.ndarray  # (D,)

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray | None) -> Self:
        weight = np.ones(len(X)) if weight is None else weight
        count = float(weight.sum())
        origin = weight @ X / count
        centred = X - origin
        offset = weight @ centred / count
        return cls(count, origin, offset, weight @ np.square(centred - offset))

    def merge(self, other: Self) -> Self:
        count = self.count + other.count
        shift = (other.origin - self.origin) + (other.offset - self.offset)
        between = np.square(shift) * (self.count * other.count / count)
        offset = self.offset + shift * (other.count / count)
        return type(self)(count, self.origin, offset, self.squares + other.squares + between)


@dataclass(frozen=True)
class Scaling:
    """(x - centre) / spread for each column, and for outliers a smooth limit."""

    centre: Annotated[np.ndarray, "D"]
    spread: Annotated[np.ndarray, "D", "> 0"]
    clip: Annotated[float, "> 0"] | None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        Z = (X - self.centre) / self.spread
        if self.clip is not None:
            Z /= np.sqrt(1 + np.square(Z / self.clip))
        return Z

    def same_as(self, other: Scale | None) -> bool:
        return (
            isinstance(other, Scaling)
            and self.clip == other.clip
            and np.array_equal(self.centre, other.centre)
            and np.array_equal(self.spread, other.spread)
        )


@dataclass(frozen=True)
class RankScaling:
    """Each column's ranks as quantiles of the normal distribution, linear between the knots.

    Beyond the rows it was made of a value counts as the outermost of them.
    """

    knots: Annotated[tuple[Annotated[np.ndarray, "_"], ...], "D"]  # of each column, rising
    values: Annotated[tuple[Annotated[np.ndarray, "_"], ...], "D"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        pairs = zip(X.T, self.knots, self.values, strict=True)
        return np.column_stack([np.interp(x, knots, values) for x, knots, values in pairs])

    def same_as(self, other: Scale | None) -> bool:
        return isinstance(other, RankScaling) and all(
            np.array_equal(ours, theirs)
            for ours, theirs in zip(self.knots + self.values, other.knots + other.values, strict=True)
        )


Scale = Scaling | RankScaling


def rank_scaling(rows: np.ndarray) -> RankScaling:
    """From a sample of the rows; equal values share the middle of their ranks."""
    knots, values = [], []
    for column in rows.T:
        distinct, counts = np.unique(column, return_counts=True)
        rank = np.cumsum(counts) - (counts - 1) / 2
        if len(distinct) > _KNOTS:
            some = np.linspace(0, len(distinct) - 1, _KNOTS).round().astype(int)
            distinct, rank = distinct[some], rank[some]
        knots.append(distinct)
        values.append(ndtri(np.clip(rank / (len(rows) + 1), _TAIL, 1 - _TAIL)))
    return RankScaling(tuple(knots), tuple(values))


def standard_scaling(columns: ColumnMoments) -> Scaling:
    """Mean 0 and variance 1 over all rows; a constant column stays as it is.

    Sums over rows depend on their order in the last digits, and what is learned from labels can make
    much of last digits. So these numbers are rounded to twelve digits of the spread: scaled rows are
    then the same, bit for bit, for any order of the rows and any blocks.
    """
    deviation = np.sqrt(columns.squares / columns.count)
    deviation = np.where(deviation > 0, deviation, 1)
    centre = without_last_digits(columns.origin, deviation, columns.offset)
    return Scaling(centre, without_last_digits(deviation, deviation), None)


def refuse_vanishing_columns(rows: np.ndarray) -> None:
    """Refuse a column that varies so little that its squares are zero: it would look constant."""
    apart = np.ptp(rows, axis=0)
    vanishing = np.flatnonzero((apart > 0) & (apart < 1 / LARGEST))
    if len(vanishing):
        j = int(vanishing[0])
        raise ValueError(
            f"Column {j} (from 0) varies by {apart[j]:g} only, and squares of numbers below "
            f"{1 / LARGEST:g} vanish in double precision. Multiply it by a number, or leave it out."
        )


def without_last_digits(values: Any, spread: Any, offset: Any = 0.0) -> Any:
    """values + offset, rounded to twelve digits of their spread as far as numbers have them."""
    least = np.spacing(np.abs(values + offset))
    digit = np.maximum(np.ldexp(1.0, np.frexp(spread)[1] - _BITS), least)
    whole = np.round(values / digit) * digit
    return whole + np.round((values - whole + offset) / digit) * digit


def robust_scaling(rows: np.ndarray) -> Scaling:
    """Median 0 and interquartile range 1, outliers compressed to within 3, from a sample of the rows.

    A column whose quartiles coincide is divided by its standard deviation instead.
    """
    low, centre, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, rows.std(axis=0))
    return Scaling(centre, np.where(spread > 0, spread, 1), _CLIP)
