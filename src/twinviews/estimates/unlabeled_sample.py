"""A sample of the rows of a group without a label: the same for every block size, order and engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class UnlabeledSample:
    """The ``size`` distinct rows of smallest priority among those seen, and the weight of their copies.

    Priorities are hashes of the rows, so this is a random sample of the distinct rows.
    """

    size: int
    priorities: np.ndarray  # (k,) increasing
    rows: np.ndarray  # (k, D)
    weight: np.ndarray  # (k,) of all rows equal to each
    sums: np.ndarray | None = None  # (k, p) of weighted columns beside the rows, over the same rows

    @classmethod
    def of(
        cls,
        rows: np.ndarray,
        priorities: np.ndarray,
        weight: np.ndarray,
        size: int,
        sums: np.ndarray | None = None,
    ) -> Self:
        if len(priorities) > 4 * size:  # sort only what can be taken, and its copies
            bound = np.partition(priorities, 2 * size)[2 * size]
            some = np.flatnonzero(priorities <= bound)
            if len(np.unique(priorities[some])) >= size:
                rows, priorities, weight = rows[some], priorities[some], weight[some]
                sums = None if sums is None else sums[some]
        found, first, group = np.unique(priorities, return_index=True, return_inverse=True)
        total = np.bincount(group, weight, len(found))
        if sums is not None:
            sums = np.column_stack([np.bincount(group, one, len(found)) for one in sums.T])[:size]
        return cls(size, found[:size], rows[first[:size]], total[:size], sums)

    def merge(self, other: Self) -> Self:
        both = self.sums is not None and other.sums is not None
        return self.of(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.priorities, other.priorities]),
            np.concatenate([self.weight, other.weight]),
            self.size,
            np.concatenate([self.sums, other.sums]) if both else None,  # type: ignore[list-item]
        )

    def first(self, size: int) -> Self:
        """A smaller sample of the same rows."""
        if size >= self.size:
            return self
        sums = None if self.sums is None else self.sums[:size]
        return type(self)(size, self.priorities[:size], self.rows[:size], self.weight[:size], sums)

    @property
    def share(self) -> float:
        """Of the distinct rows that are in the sample; an estimate where some are not."""
        return float(self.priorities[-1]) / 2.0**64 if len(self.priorities) == self.size else 1.0

    def mean_and_variance(self, values: np.ndarray) -> tuple[float, float]:
        """The mean of a quantity over all rows, from its values (k,) at those of the sample."""
        total = float(self.weight.sum())
        mean = float(self.weight @ values) / total
        k = len(values)
        if self.share >= 1 or k < 2:
            return mean, 0.0
        spread = float(np.square(self.weight) @ np.square(values - mean)) * k / (k - 1)
        return mean, spread / total**2 * (1 - self.share)
