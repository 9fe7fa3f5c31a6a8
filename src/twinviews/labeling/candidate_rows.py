"""Rows that may be suggested, as numbers in memory, and which rows are similar to which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.spatial.distance import pdist

from twinviews import TableEncoder
from twinviews.labeling.table_copy import TableCopy

# A suggestion is the best of a handful of rows, so more of them would not make it better.
MOST_ROWS = 20_000
MOST_NUMBERS = 20_000_000
# Rows between which distances are computed: half a million pairs, milliseconds.
_ROWS_COMPARED = 1000
_COLUMNS_NAMED = 3  # of those in which two rows differ


class Near(NamedTuple):
    """A labeled row near another row."""

    place: int  # among the labeled rows
    likeness: float
    columns: tuple[int, ...]  # that differ, the most different first


class CandidateRows:
    """A random sample that stands for the whole table, and how any row of it becomes numbers.

    All columns but the targets are inputs.
    """

    def __init__(
        self, table: TableCopy, targets: Sequence[str], kinds: dict[str, str], seed: int = 0
    ) -> None:
        self.inputs = [name for name in table.schema.names if name not in targets]
        rng = np.random.default_rng(seed)
        numbers = np.sort(rng.choice(table.n_rows, min(table.n_rows, MOST_ROWS), replace=False))
        rows = table.rows(numbers).select(self.inputs)
        self.encoder: TableEncoder | None = None
        self.problem = ""  # why no column can be learned from
        X, groups = np.empty((len(numbers), 0)), []
        try:
            known = {name: kind for name, kind in kinds.items() if name in self.inputs}
            self.encoder = TableEncoder(known).fit(rows)
            X = self.encoder.transform(rows)
            codes = self.encoder.columns_
            groups = [self.inputs.index(code.name) for code in codes for _ in code.outputs]
        except ValueError as error:  # only empty columns and identifiers
            self.encoder, self.problem = None, str(error)
        if X.size > MOST_NUMBERS:
            some = np.sort(rng.choice(len(X), MOST_NUMBERS // X.shape[1], replace=False))
            numbers, X = numbers[some], X[some]
        self.rows, self.X = numbers, X  # (m,) rows of the table, increasing, and (m, D)
        self._groups = np.array(groups, dtype=np.intp)  # (D,) the input that each number comes from
        self._mean, deviation = X.mean(axis=0), X.std(axis=0)
        self._deviation = np.where(deviation > 0, deviation, 1.0)
        self._typical = typical_distance(self._standardize(X[rng.permutation(len(X))[:_ROWS_COMPARED]]))

    def encode(self, rows: pa.Table) -> np.ndarray:
        """(rows, D) any rows of the table as numbers."""
        if self.encoder is None:
            return np.empty((rows.num_rows, 0))
        return self.encoder.transform(rows.select(self.inputs))

    def place_of(self, row: int) -> int | None:
        """The place of a row of the table among the candidates, if it is one."""
        place = int(np.searchsorted(self.rows, row))
        found = place < len(self.rows) and self.rows[place] == row
        return place if found else None

    def nearest(self, x: np.ndarray, X: np.ndarray, most: int) -> list[Near]:
        """The rows of X (n, D) nearest to x (D,)."""
        z, Z = self._standardize(x), self._standardize(X)
        return nearest(z, Z, self._typical, most=most, groups=self._groups)

    def _standardize(self, X: np.ndarray) -> np.ndarray:
        """Rows with all columns on one scale."""
        return (X - self._mean) / self._deviation


def typical_distance(Z: np.ndarray) -> float:
    """The median distance between two rows; 1 if all are equal."""
    distances = pdist(Z) if len(Z) > 1 else np.zeros(1)
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def nearest(
    z: np.ndarray,
    Z: np.ndarray,
    typical: float,
    *,
    most: int = 3,
    groups: np.ndarray | None = None,
) -> list[Near]:
    """The rows of Z (n, D) nearest to z (D,), the nearest first, with the columns that differ most.

    Similarity is 2^(-distance / typical): 1 for an equal row, 1/2 at the typical distance of two rows.
    ``groups`` (D,) are the columns of the table that the numbers come from; by default each is one.
    """
    squares = np.square(Z - z)
    distances = np.sqrt(squares.sum(axis=1))
    groups = np.arange(len(z)) if groups is None else groups
    found = []
    for place in np.argsort(distances, kind="stable")[:most]:
        likeness = max(float(np.exp2(-distances[place] / typical)), np.finfo(float).tiny)
        by_column = np.bincount(groups, squares[place], minlength=1)
        differ = np.argsort(-by_column, kind="stable")[:_COLUMNS_NAMED]
        columns = tuple(int(column) for column in differ if by_column[column] > 0)
        found.append(Near(int(place), likeness, columns))
    return found
