"""The rows that may be suggested, as numbers in memory: some thousands at random stand for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from twinviews import TableEncoder
from twinviews.labeling.neighbours import typical_distance
from twinviews.labeling.pool import Pool

# A suggestion is the best of a handful of rows, so more of them would not make it better.
MOST_ROWS = 20_000
MOST_NUMBERS = 20_000_000


class Sample(NamedTuple):
    places: np.ndarray  # (m,) rows of the table, increasing
    X: np.ndarray  # (m, D)
    encoder: TableEncoder | None  # None: there is nothing to learn from
    problem: str  # why
    inputs: tuple[str, ...]  # columns of the table
    groups: np.ndarray  # (D,) the input that each number comes from
    mean: np.ndarray  # (D,)
    spread: np.ndarray  # (D,)
    typical: float  # distance between two rows on one scale

    @classmethod
    def of(cls, pool: Pool, besides: Sequence[str], kinds: dict[str, str], seed: int = 0) -> Self:
        """Of all columns but the targets."""
        inputs = tuple(name for name in pool.schema.names if name not in besides)
        rng = np.random.default_rng(seed)
        places = np.sort(rng.choice(pool.n_rows, min(pool.n_rows, MOST_ROWS), replace=False))
        rows = pool.rows(places).select(list(inputs))
        known = {name: kind for name, kind in kinds.items() if name in inputs}
        encoder, X, problem = None, np.empty((len(places), 0)), ""
        try:
            encoder = TableEncoder(known).fit(rows)
            X = encoder.transform(rows)
        except ValueError as error:  # empty columns, names of rows
            encoder, problem = None, str(error)
        if X.size > MOST_NUMBERS:
            some = np.sort(rng.choice(len(X), MOST_NUMBERS // X.shape[1], replace=False))
            places, X = places[some], X[some]
        mean, spread = X.mean(axis=0), X.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        mixed = (X[rng.permutation(len(X))[:1000]] - mean) / spread
        groups = _groups(encoder, inputs)
        return cls(places, X, encoder, problem, inputs, groups, mean, spread, typical_distance(mixed))

    def numbers(self, rows: pa.Table) -> np.ndarray:
        """(rows, D) of any rows of the table."""
        if self.encoder is None:
            return np.empty((rows.num_rows, 0))
        return self.encoder.transform(rows.select(list(self.inputs)))

    def place_of(self, row: int) -> int | None:
        """Where a row of the table is here, if it is."""
        place = int(np.searchsorted(self.places, row))
        found = place < len(self.places) and self.places[place] == row
        return place if found else None

    def standard(self, X: np.ndarray) -> np.ndarray:
        """On one scale, to compare rows by."""
        return (X - self.mean) / self.spread


def _groups(encoder: Any, inputs: Sequence[str]) -> np.ndarray:
    if encoder is None:
        return np.empty(0, dtype=np.intp)
    return np.array(
        [inputs.index(code.name) for code in encoder.columns_ for _ in code.outputs], dtype=np.intp
    )
