"""What a fit has seen of each input column: a summary of all rows that tells rows unlike them.

Of numbers (dates are days) it is the range, and whether all were whole; of words the levels; and of
both, whether a value was missing. Each is kept so that parts merge into the whole exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from twinviews._system.text_hashes import text_hashes

# A column with more levels than this has new ones in any new rows: nothing is claimed of it.
MOST_LEVELS_SEEN = 10_000
# Rows from which a column is suspected to hold whole numbers, before all rows are looked at.
_FIRST_ROWS = 16
# Numbers that a reduction takes at once.
_LONG_ROW = 1024


@dataclass(frozen=True)
class ColumnRanges:
    """Least and greatest number of each column; NaN where it has none."""

    least: Annotated[np.ndarray, "F", "missing"]
    most: Annotated[np.ndarray, "F", "missing"]
    whole: Annotated[np.ndarray, "F", "uint8"]  # whether all numbers are whole
    blank: Annotated[np.ndarray, "F", "uint8"]  # whether a value is missing

    @classmethod
    def of(cls, X: Any) -> Self:
        """Of rows of numbers, dense or sparse, without blanks."""
        least, most = column_ends(X)
        whole = whole_columns(X).astype(np.uint8)
        return cls(least, most, whole, np.zeros(X.shape[1], np.uint8))

    def merge(self, other: Self) -> Self:
        return type(self)(
            np.fmin(self.least, other.least),
            np.fmax(self.most, other.most),
            self.whole & other.whole,
            self.blank | other.blank,
        )


def column_ends(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each column, (D,) twice; what a sparse matrix leaves out is 0."""
    if sparse.issparse(X):
        ends = [end.toarray() for end in (X.min(axis=0), X.max(axis=0))]
    else:
        ends = [_by_column(np.min, X), _by_column(np.max, X)]
    least, most = (np.asarray(end, dtype=np.float64).ravel() for end in ends)
    return least, most


def _by_column(reduce: Callable[..., np.ndarray], X: np.ndarray) -> np.ndarray:
    """A reduction over the rows; several rows are first taken as a long one, which is faster."""
    n_rows, D = X.shape
    together = max(1, _LONG_ROW // max(D, 1))
    whole = n_rows // together * together
    if together == 1 or whole == 0 or not X.flags.c_contiguous:
        return reduce(X, axis=0)
    found = reduce(reduce(X[:whole].reshape(-1, together * D), axis=0).reshape(together, D), axis=0)
    return found if whole == n_rows else reduce(np.vstack([found, X[whole:]]), axis=0)


def whole_columns(X: Any, suspected: np.ndarray | None = None) -> np.ndarray:
    """(D,) in which columns all numbers are whole; False also where that is not suspected."""
    if sparse.issparse(X):
        whole = np.ones(X.shape[1], bool) if suspected is None else suspected.copy()
        whole[X.indices[X.data != np.floor(X.data)]] = False
        return whole
    first = X[:_FIRST_ROWS]
    whole = (first == np.floor(first)).all(axis=0)
    if suspected is not None:
        whole &= suspected
    columns = np.flatnonzero(whole)
    if len(columns):
        some = X if len(columns) == X.shape[1] else X[:, columns]
        equal = some == np.floor(some)
        whole[columns] = True if equal.all() else equal.all(axis=0)
    return whole


@dataclass(frozen=True)
class LevelsSeen:
    """Which levels a column of words has, as hashes, and how many rows have each.

    If there are more than ``MOST_LEVELS_SEEN``, it is not complete and holds none.
    """

    hashes: Annotated[np.ndarray, "l", "uint64"]  # increasing
    rows: Annotated[np.ndarray, "l", "int64", ">= 1"]
    complete: bool

    @classmethod
    def of(cls, rows_by_level: Mapping[str, int], *, complete: bool) -> Self:
        return cls._counted(
            text_hashes(rows_by_level), np.array(list(rows_by_level.values()), np.int64), complete
        )

    def merge(self, other: Self) -> Self:
        return self._counted(
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.rows, other.rows]),
            self.complete and other.complete,
        )

    @classmethod
    def _counted(cls, hashes: np.ndarray, rows: np.ndarray, complete: bool) -> Self:
        distinct, place = np.unique(hashes, return_inverse=True)
        if not complete or len(distinct) > MOST_LEVELS_SEEN:
            return cls(np.zeros(0, np.uint64), np.zeros(0, np.int64), False)
        total = np.zeros(len(distinct), np.int64)
        np.add.at(total, place, rows)
        return cls(distinct, total, True)

    def unseen(self, levels: Iterable[str]) -> np.ndarray:
        """(levels,) which are not among those seen."""
        return ~np.isin(text_hashes(levels), self.hashes)

    @property
    def rare_rows(self) -> int:
        """Rows whose level one other row has at the most."""
        return int(self.rows[self.rows <= 2].sum())


@dataclass(frozen=True)
class InputProfile:
    """What a fit has seen of its F input columns."""

    n_rows: Annotated[int, ">= 1"]
    ranges: Annotated[ColumnRanges, "F"]
    levels: Mapping[str, LevelsSeen]  # of the columns of words, by their names

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.ranges.merge(other.ranges),
            {name: seen.merge(other.levels[name]) for name, seen in self.levels.items()},
        )
