"""Columns that are the same in all labeled rows: no label tells what they do.

A row with another value there, such as a level that has no label, would be far from every labeled row,
and methods that go by distance would predict the mean of the labels for it. Instead such a column
counts as what it is in the labeled rows: the row gets what its other columns say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import issparse


@dataclass(frozen=True)
class UnvariedColumns:
    """What the columns are in all labeled rows; NaN for those that vary."""

    values: Annotated[np.ndarray, "D", "missing"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Rows as if all were as the labeled ones in these columns."""
        return np.where(np.isnan(self.values), X, self.values)

    def differ(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(rows,) whether a row is not as the labeled ones in those of some columns."""
        values = self.values[columns]
        return np.asarray(((X[:, columns] != values) & ~np.isnan(values)).any(axis=1))


def unvaried_columns(X: Any) -> UnvariedColumns | None:
    """Of labeled rows; None if all columns vary, or if rows are sparse: few columns are alike then,
    and most are zero in most rows."""
    if issparse(X):
        return None
    same = (X[0] == X).all(axis=0)
    return UnvariedColumns(np.where(same, X[0], np.nan)) if same.any() else None
