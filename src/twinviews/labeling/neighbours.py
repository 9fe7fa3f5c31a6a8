"""The labeled rows most similar to a row, how similar they are, and where they differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

# Rows between which distances are computed: half a million pairs, milliseconds.
_MOST_ROWS = 1000


class Near(NamedTuple):
    """A labeled row near another row."""

    place: int  # among the labeled rows
    likeness: float
    columns: tuple[int, ...]  # that differ, the most different first


def typical_distance(Z: np.ndarray) -> float:
    """The median distance between two rows of a sample in random order; 1 if all are equal."""
    if len(Z) < 2:
        return 1.0
    distances = pdist(Z[:_MOST_ROWS])
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def nearest(
    z: np.ndarray,
    Z: np.ndarray,
    typical: float,
    *,
    most: int = 3,
    groups: np.ndarray | None = None,
    n_columns: int = 3,
) -> list[Near]:
    """The labeled rows nearest to a row, the nearest first.

    Similarity is 2^(-distance / typical): 1 for an equal row, 1/2 at the typical distance.

    Parameters
    ----------
    z : array of shape (D,)
        A row, its columns on one scale.
    Z : array of shape (n, D)
        The labeled rows.
    typical : float
        The typical distance between two rows.
    groups : int array of shape (D,), optional
        The column of the table that each number comes from; by default each is a column.
    """
    squares = np.square(Z - z)
    distances = np.sqrt(squares.sum(axis=1))
    groups = np.arange(len(z)) if groups is None else groups
    found = []
    for place in np.argsort(distances, kind="stable")[:most]:
        likeness = max(float(np.exp2(-distances[place] / typical)), np.finfo(float).tiny)
        by_column = np.bincount(groups, squares[place], minlength=1)
        differ = np.argsort(-by_column, kind="stable")[:n_columns]
        columns = tuple(int(column) for column in differ if by_column[column] > 0)
        found.append(Near(int(place), likeness, columns))
    return found
