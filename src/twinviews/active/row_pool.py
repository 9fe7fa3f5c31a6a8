"""Rows without a label, from one pass over a table: those that a rule chooses from, and random ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from twinviews.estimators._table_methods import numbers_of
from twinviews.method.landmarks import row_priorities
from twinviews.passes.targets import missing_labels
from twinviews.tables import Block

# Random rows have priorities of their own. Were they the first of the candidates, then a rule that has
# taken the hard ones among these before would leave easy ones at the front.
_OF_RANDOM_ROWS = 0x5EED


@dataclass(frozen=True)
class Shortlist:
    """The ``size`` rows of smallest key among those seen, no two of them equal."""

    size: int
    keys: np.ndarray  # (m,) increasing
    priorities: np.ndarray  # (m,) equal for equal rows
    copies: np.ndarray  # (m,) how many of the rows seen are equal to each, itself included
    places: np.ndarray  # (m,) of the first of them
    rows: Any  # pyarrow.Table of m rows; None in memory, where places are enough

    def merge(self, other: Self, n_before: int) -> Self:
        """The shortlist of both, the rows of ``other`` counted after ``n_before`` rows."""
        return self.followed_by(replace(other, places=other.places + n_before)).shortened()

    def followed_by(self, other: Self) -> Self:
        """The rows of both, all of them, in their order."""
        return type(self)(
            self.size,
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.priorities, other.priorities]),
            np.concatenate([self.copies, other.copies]),
            np.concatenate([self.places, other.places]),
            None if self.rows is None else _stack_tables(self.rows, other.rows),
        )

    def shortened(self) -> Self:
        """The smallest keys, equal rows once."""
        _, distinct, group = np.unique(self.priorities, return_index=True, return_inverse=True)
        copies = np.bincount(group, self.copies, minlength=len(distinct)).astype(np.int64)
        order = np.lexsort((self.priorities[distinct], self.keys[distinct]))[: self.size]
        return replace(self.take(distinct[order]), copies=copies[order])

    def take(self, some: np.ndarray) -> Self:
        """Some of them, in this order."""
        return replace(
            self,
            keys=self.keys[some],
            priorities=self.priorities[some],
            copies=self.copies[some],
            places=self.places[some],
            rows=None if self.rows is None else self.rows.take(some),
        )

    def without(self, places: np.ndarray) -> Self:
        """The others."""
        return self.take(np.flatnonzero(~np.isin(self.places, places)))

    def drawn(self, k: int) -> Self:
        """k of the rows, each row of the table with the same chance, equal ones once.

        A row waits for an exponential time that its priority decides, and copies wait side by side, so
        the first of c copies comes c times as early.
        """
        uniform = (self.priorities.astype(np.float64) + 0.5) / 2.0**64
        waits = -np.log1p(-np.minimum(uniform, 1 - 2.0**-53)) / self.copies
        return self.take(np.lexsort((self.priorities, waits))[:k])


@dataclass(frozen=True)
class RowPool:
    """What a pass over a table finds of its rows without a label."""

    n_rows: int  # seen, labeled or not
    n_free: int  # without a label
    candidates: Shortlist
    at_random: Shortlist

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.n_free + other.n_free,
            self.candidates.merge(other.candidates, self.n_rows),
            self.at_random.merge(other.at_random, self.n_rows),
        )


@dataclass(frozen=True)
class RowPoolOf:
    """A function from the rows of a block to what a pass finds of them."""

    model: Any
    n_candidates: int
    n_random: int  # the most that may be drawn at random
    seed: int
    most_uncertain: bool  # candidates are the most uncertain rows instead of random ones

    def __call__(self, block: Block) -> RowPool:
        rows, Y = block.X, block.Y
        free = np.arange(rows.shape[0])
        if Y is not None:
            free = np.flatnonzero(missing_labels(Y, self.model.missing_label).all(axis=1))
        is_batch = hasattr(rows, "schema")
        some = rows.take(free) if is_batch else rows[free]
        raw = _stack_tables(some) if is_batch else None
        once = np.ones(len(free), dtype=np.int64)
        keys, priorities, others = np.empty(0), np.empty(0, np.uint64), np.empty(0, np.uint64)
        if len(free):
            X = scaled_batch(self.model, some) if is_batch else some
            priorities = row_priorities(X, self.seed)
            others = row_priorities(X, self.seed ^ (_OF_RANDOM_ROWS << 32))
            uncertain = self.most_uncertain
            keys = -self.model._row_uncertainty(X) if uncertain else priorities.astype(np.float64)
        candidates = Shortlist(self.n_candidates, keys, priorities, once, free, raw)
        at_random = Shortlist(self.n_random, others.astype(np.float64), others, once, free, raw)
        return RowPool(rows.shape[0], len(free), candidates.shortened(), at_random.shortened())


def scaled_batch(model: Any, batch: Any) -> Any:
    """Rows of an Arrow record batch as numbers, on the scale of the fit."""
    return model._scaled(numbers_of(model, batch))


def _stack_tables(*parts: Any) -> Any:
    """Tables and record batches, one under the other."""
    import pyarrow as pa

    return pa.concat_tables([pa.table(part) for part in parts])
