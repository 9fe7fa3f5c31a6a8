"""Rows that may be suggested, as numbers in memory: a random sample stands for the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from twinviews import TableEncoder
from twinviews.labeling.neighbours import typical_distance
from twinviews.labeling.table_copy import TableCopy

# A suggestion is the best of a handful of rows, so more of them would not make it better.
MOST_ROWS = 20_000
MOST_NUMBERS = 20_000_000


class CandidateRows(NamedTuple):
    """A random sample of rows, and how any row of the table becomes numbers."""

    rows: np.ndarray  # (m,) rows of the table, increasing
    X: np.ndarray  # (m, D)
    encoder: TableEncoder | None  # None if no column can be learned from
    problem: str  # the reason for that
    inputs: tuple[str, ...]  # columns of the table
    groups: np.ndarray  # (D,) the input that each number comes from
    mean: np.ndarray  # (D,)
    deviation: np.ndarray  # (D,)
    typical: float  # median distance of two standardized rows

    @classmethod
    def of(cls, table: TableCopy, targets: Sequence[str], kinds: dict[str, str], seed: int = 0) -> Self:
        """A sample of the table's rows; all columns but the targets are inputs."""
        inputs = tuple(name for name in table.schema.names if name not in targets)
        rng = np.random.default_rng(seed)
        numbers = np.sort(rng.choice(table.n_rows, min(table.n_rows, MOST_ROWS), replace=False))
        rows = table.rows(numbers).select(list(inputs))
        known = {name: kind for name, kind in kinds.items() if name in inputs}
        encoder, X, problem = None, np.empty((len(numbers), 0)), ""
        try:
            encoder = TableEncoder(known).fit(rows)
            X = encoder.transform(rows)
        except ValueError as error:  # only empty columns and identifiers
            encoder, problem = None, str(error)
        if X.size > MOST_NUMBERS:
            some = np.sort(rng.choice(len(X), MOST_NUMBERS // X.shape[1], replace=False))
            numbers, X = numbers[some], X[some]
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        deviation = np.where(deviation > 0, deviation, 1.0)
        shuffled = (X[rng.permutation(len(X))[:1000]] - mean) / deviation
        groups, typical = _groups(encoder, inputs), typical_distance(shuffled)
        return cls(numbers, X, encoder, problem, inputs, groups, mean, deviation, typical)

    def encode(self, rows: pa.Table) -> np.ndarray:
        """(rows, D) any rows of the table as numbers."""
        if self.encoder is None:
            return np.empty((rows.num_rows, 0))
        return self.encoder.transform(rows.select(list(self.inputs)))

    def place_of(self, row: int) -> int | None:
        """The place of a row of the table among the candidates, if it is one."""
        place = int(np.searchsorted(self.rows, row))
        found = place < len(self.rows) and self.rows[place] == row
        return place if found else None

    def standardize(self, X: np.ndarray) -> np.ndarray:
        """Rows with all columns on one scale."""
        return (X - self.mean) / self.deviation


def _groups(encoder: Any, inputs: Sequence[str]) -> np.ndarray:
    if encoder is None:
        return np.empty(0, dtype=np.intp)
    return np.array(
        [inputs.index(code.name) for code in encoder.columns_ for _ in code.outputs], dtype=np.intp
    )
