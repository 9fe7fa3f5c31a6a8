"""Candidates for a label, from one pass over the rows of any table: no two equal, not too many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from twinviews.active.model_view import scaled_batch, uncertainty
from twinviews.method.landmarks import row_priorities, stack_rows
from twinviews.passes.targets import missing_labels
from twinviews.tables import Block


@dataclass(frozen=True)
class Shortlist:
    """The ``size`` rows of smallest key among those seen, no two of them equal."""

    size: int
    n_rows: int  # seen, labeled or not: places count on from there
    keys: np.ndarray  # (m,) increasing
    priorities: np.ndarray  # (m,) equal for equal rows
    places: np.ndarray  # (m,)
    X: Any  # (m, D) on the scale of the fit
    raw: Any  # pyarrow.Table of the same rows; None in memory

    def merge(self, other: Self) -> Self:
        """The shortlist of both, the rows of ``other`` counted after those of this one."""
        n_rows = self.n_rows + other.n_rows
        if len(other.places) == 0:
            return replace(self, n_rows=n_rows)
        places = other.places + self.n_rows
        if len(self.places) == 0:
            return replace(other, n_rows=n_rows, places=places)
        priorities = np.concatenate([self.priorities, other.priorities])
        keys = np.concatenate([self.keys, other.keys])
        best = _smallest(keys, priorities, self.size)
        return type(self)(
            self.size,
            n_rows,
            keys[best],
            priorities[best],
            np.concatenate([self.places, places])[best],
            stack_rows([self.X, other.X])[best],
            None if self.raw is None else _stack_tables(self.raw, other.raw).take(best),
        )


def _smallest(keys: np.ndarray, priorities: np.ndarray, size: int) -> np.ndarray:
    """Places of the smallest keys, equal rows once."""
    _, distinct = np.unique(priorities, return_index=True)
    order = np.lexsort((priorities[distinct], keys[distinct]))
    return distinct[order[:size]]


def _stack_tables(first: Any, second: Any) -> Any:
    import pyarrow as pa

    return pa.concat_tables([first, second])


@dataclass(frozen=True)
class ShortlistOf:
    """A function from the rows of a block to their shortlist: random rows, or the most uncertain."""

    model: Any
    size: int
    seed: int
    most_uncertain: bool
    kept: tuple[str, ...] | None = None  # columns of a table to return; None: rows in memory

    def __call__(self, block: Block) -> Shortlist:
        rows, Y, _ = block
        n_rows = rows.shape[0]
        free = np.arange(n_rows)
        if Y is not None:
            free = np.flatnonzero(missing_labels(Y, self.model.missing_label).all(axis=1))
        if len(free) == 0:
            return Shortlist(self.size, n_rows, np.empty(0), np.empty(0, np.uint64), free, None, None)
        rows = rows[free] if self.kept is None else rows.take(free)
        X = rows if self.kept is None else scaled_batch(self.model, rows)
        priorities = row_priorities(X, self.seed)
        if self.most_uncertain:
            keys = -uncertainty(self.model, X, scaled=True)
        else:
            keys = priorities.astype(np.float64)
        best = _smallest(keys, priorities, self.size)
        raw = None if self.kept is None else self._raw(rows, best)
        return Shortlist(self.size, n_rows, keys[best], priorities[best], free[best], X[best], raw)

    def _raw(self, batch: Any, places: np.ndarray) -> Any:
        import pyarrow as pa

        return pa.Table.from_batches([batch.select(list(self.kept or ())).take(places)])
