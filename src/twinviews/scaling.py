"""Columns brought to one scale, by what the first pass has seen of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from twinviews.tables import Block, Summary, Table

S = TypeVar("S", bound=Summary)

SCALES = ("standard", "robust")
# Beyond about this many interquartile ranges a value is drawn in, smoothly.
_CLIP = 3.0


@dataclass(frozen=True)
class ColumnMoments:
    """Count, mean and sum of squared deviations of each column; merged by Chan's formula."""

    count: float
    mean: np.ndarray  # (D,)
    squares: np.ndarray  # (D,)

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray | None) -> Self:
        weight = np.ones(len(X)) if weight is None else weight
        count = float(weight.sum())
        mean = weight @ X / count
        return cls(count, mean, weight @ np.square(X - mean))

    def merge(self, other: Self) -> Self:
        count = self.count + other.count
        shift = other.mean - self.mean
        between = np.square(shift) * (self.count * other.count / count)
        mean = self.mean + shift * (other.count / count)
        return type(self)(count, mean, self.squares + other.squares + between)


@dataclass(frozen=True)
class Scaling:
    """(x - centre) / spread for each column, and for outliers a smooth limit."""

    centre: np.ndarray  # (D,)
    spread: np.ndarray  # (D,) positive
    clip: float | None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        Z = (X - self.centre) / self.spread
        if self.clip is not None:
            Z /= np.sqrt(1 + np.square(Z / self.clip))
        return Z

    def same_as(self, other: Scaling | None) -> bool:
        return (
            other is not None
            and self.clip == other.clip
            and np.array_equal(self.centre, other.centre)
            and np.array_equal(self.spread, other.spread)
        )


def standard_scaling(columns: ColumnMoments) -> Scaling:
    """Mean 0 and variance 1 over all rows; a constant column stays as it is."""
    deviation = np.sqrt(columns.squares / columns.count)
    return Scaling(columns.mean, np.where(deviation > 0, deviation, 1), None)


def robust_scaling(rows: np.ndarray) -> Scaling:
    """Median 0 and interquartile range 1, outliers drawn in to within 3, from a sample of the rows.

    A column whose quartiles coincide is divided by its standard deviation instead.
    """
    low, centre, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, rows.std(axis=0))
    return Scaling(centre, np.where(spread > 0, spread, 1), _CLIP)


class ScaledTable:
    """A table whose rows are scaled block by block, wherever the blocks are."""

    def __init__(self, table: Table, scaling: Scaling) -> None:
        self.table, self.scaling = table, scaling

    def fold(self, summarise: Callable[[Block], S]) -> S:
        return self.table.fold(_SummariseScaled(self.scaling, summarise))


@dataclass(frozen=True)
class _SummariseScaled:
    scaling: Scaling
    summarise: Callable[[Block], Any]

    def __call__(self, block: Block) -> Any:
        return self.summarise(block._replace(X=self.scaling(block.X)))
