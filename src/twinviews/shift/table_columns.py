"""What each number of a row is of, so that differences can be told in the words of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# The level of a column in the rows where its value is missing.
BLANK = "(blank)"


class NumberOfColumn(NamedTuple):
    """One of the numbers that a column of the table became."""

    column: str  # its name
    level: str | None = None  # of a number that is 0 or 1: the level that 1 stands for
    other_level: str | None = None  # where there are two levels: the one that 0 stands for
    is_date: bool = False  # days since 1970
    is_told: bool = True  # False: as a coordinate on a circle, it says nothing to a reader


class LevelCount(NamedTuple):
    column: str
    level: str
    n_rows: int


def level_places(numbers: Sequence[NumberOfColumn]) -> tuple[int, ...]:
    """The places of those numbers of a row that are 1 where it has some level, and else 0."""
    return tuple(at for at, number in enumerate(numbers) if number.level is not None)


def levels_without_label(
    numbers: Sequence[NumberOfColumn],
    level_rows: np.ndarray,
    labeled_rows: np.ndarray,
    n_rows: int,
    n_labeled: int,
) -> list[LevelCount]:
    """Levels that rows have and no labeled row has, and how many rows.

    ``level_rows`` and ``labeled_rows`` are the sums, over all rows and over labeled ones, of the
    numbers at ``level_places``.
    """
    found = []
    for at, everywhere, ours in zip(level_places(numbers), level_rows, labeled_rows, strict=True):
        column, level, other_level, *_ = numbers[at]
        counts = [(level, everywhere, ours), (other_level, n_rows - everywhere, n_labeled - ours)]
        found += [
            LevelCount(column, name, int(rows))
            for name, rows, labeled in counts
            if name is not None and rows > 0 and labeled == 0
        ]
    return found


def has_level(
    X: np.ndarray, numbers: Sequence[NumberOfColumn], levels: Sequence[tuple[str, str]]
) -> np.ndarray:
    """(rows,) whether a row has one of some levels, each given by its column and its name."""
    found = np.zeros(len(X), dtype=bool)
    for at in level_places(numbers):
        number = numbers[at]
        if (number.column, number.level) in levels:
            found |= X[:, at] != 0
        if (number.column, number.other_level) in levels:
            found |= X[:, at] == 0
    return found
