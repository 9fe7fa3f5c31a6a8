"""Which rows become landmarks: the same ones for every block size, row order and engine.

Every row gets a priority, a 64-bit hash of the row's values and the seed, and the rows with the
smallest priorities are taken. A priority does not depend on where the row lies, so a choice from parts
merges into the choice from the whole; it behaves like an independent uniform number for each distinct
row, so the choice is a uniform sample without replacement of the *distinct* rows: duplicates count
once. (A reservoir would depend on the order of the rows, a priority per row number on their numbering.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from twinviews.method.kernel_values import Rows

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def scramble(h: np.ndarray) -> np.ndarray:
    """The output function of the SplitMix64 generator (Steele, Lea and Flood 2014): a bijection."""
    h = h + _GOLDEN
    h = (h ^ (h >> np.uint64(30))) * _MIX1
    h = (h ^ (h >> np.uint64(27))) * _MIX2
    return h ^ (h >> np.uint64(31))


def row_priorities(X: Rows, seed: int) -> np.ndarray:
    """(rows,) uint64, equal for equal rows: float32 or float64, dense or sparse, 0 or -0.

    A row's hash is the sum over its columns of (scrambled value) x (odd number of the column), in
    arithmetic modulo 2^64. A zero adds nothing, so a sparse row needs only what it stores.
    """
    column_factors = scramble(np.arange(X.shape[1], dtype=np.uint64)) | np.uint64(1)
    if sparse.issparse(X):
        terms = value_hashes(X.data) * column_factors[X.indices]
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        sums = running[X.indptr[1:]] - running[X.indptr[:-1]]
    else:
        sums = value_hashes(X) @ column_factors
    return scramble(sums ^ scramble(np.array([seed], dtype=np.uint64)))


def rekeyed(priorities: np.ndarray, seed: int) -> np.ndarray:
    """Other priorities of the same rows, equal for equal rows: a new draw without looking at rows."""
    return scramble(priorities ^ scramble(np.array([seed], dtype=np.uint64)))


def value_hashes(values: np.ndarray) -> np.ndarray:
    """Bits of each value, spread over the whole word; 0 for zero."""
    bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)  # -0.0 becomes 0.0
    bits *= _SPREAD
    bits ^= bits >> np.uint64(32)
    # Numbers such as -1, 1, 2 differ in their few highest bits only; once more reaches all bits.
    bits *= _MIX1
    bits ^= bits >> np.uint64(32)
    return bits


@dataclass(frozen=True)
class RowSample:
    """The ``size`` distinct rows of smallest priority among those seen, smallest first."""

    size: int
    priorities: np.ndarray  # (k,) increasing, k <= size
    rows: Rows  # (k, D)
    counts: np.ndarray  # (k,) how many rows of the table are equal to each, itself included

    @classmethod
    def of(cls, X: Rows, priorities: np.ndarray, size: int, counts: np.ndarray | None = None) -> Self:
        if len(priorities) > 2 * size:  # sort only what can be taken, and its duplicates
            bound = np.partition(priorities, 2 * size)[2 * size]
            candidates = np.flatnonzero(priorities <= bound)
            if len(np.unique(priorities[candidates])) >= size:
                X, priorities = X[candidates], priorities[candidates]
                counts = None if counts is None else counts[candidates]
        smallest, first, group, copies = np.unique(
            priorities, return_index=True, return_inverse=True, return_counts=True
        )
        if counts is not None:
            copies = np.bincount(group, counts, minlength=len(smallest)).astype(np.int64)
        return cls(size, smallest[:size], X[first[:size]], copies[:size])

    def merge(self, other: Self) -> Self:
        if len(self.priorities) == self.size:  # hardly any row of a later block can enter
            entering = np.flatnonzero(other.priorities <= self.priorities[-1])
            if len(entering) == 0:
                return self
            other = replace(
                other,
                priorities=other.priorities[entering],
                rows=other.rows[entering],
                counts=other.counts[entering],
            )
        priorities = np.concatenate([self.priorities, other.priorities])
        counts = np.concatenate([self.counts, other.counts])
        return self.of(stack_rows([self.rows, other.rows]), priorities, self.size, counts)

    def first(self, size: int) -> Self:
        """A smaller sample of the same rows."""
        if size >= self.size:
            return self
        return type(self)(size, self.priorities[:size], self.rows[:size], self.counts[:size])

    @property
    def share(self) -> float:
        """Of the distinct rows seen that are in the sample; an estimate where some are not."""
        return float(self.priorities[-1]) / 2.0**64 if len(self.priorities) == self.size else 1.0


def stack_rows(parts: list[Rows]) -> Rows:
    """The rows stacked, sparse if they are."""
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


@dataclass(frozen=True)
class AllDistinctRows:
    """Every row and its weight, for methods that need all rows."""

    parts: tuple[Rows, ...]
    weight_parts: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, X: Rows, weight: np.ndarray | None) -> Self:
        return cls((X,), (np.ones(X.shape[0]) if weight is None else weight,))

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts, self.weight_parts + other.weight_parts)

    def distinct(self) -> tuple[Rows, np.ndarray]:
        """The distinct rows, in an order of their own, and the share of the weight on each."""
        X = stack_rows(list(self.parts))
        weight = np.concatenate(self.weight_parts)
        _, first, group = np.unique(row_priorities(X, seed=0), return_index=True, return_inverse=True)
        return X[first], np.bincount(group, weight) / weight.sum()
