"""What the paper printed, as data: McWilliams, Balduzzi and Buhmann, NIPS 2013, with its supplement."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

N_SETS = 18
# Numbers of labels in the paper's tables, and in its figures.
TABLE_LABELS = (100, 200, 300, 400, 500)
FIGURE_LABELS = tuple(range(100, 1001, 50))
COMPONENTS = 200  # M
REPETITIONS = 100
TUNING_LABELS = 1000
FOLDS = 5


class Published(NamedTuple):
    error: float  # mean over the repetitions
    deviation: float  # standard deviation over them


def published_errors() -> dict[tuple[int, str, int], Published]:
    """Of a row of the result tables, a method and a number of labels (tables 3 and 6)."""
    return {
        (int(row["set"]), row["method"], int(row["n"])): Published(
            float(row["error"]), float(row["deviation"])
        )
        for row in _rows("errors")
    }


def published_averages() -> dict[tuple[str, str], dict[int, float]]:
    """Of a table's name and what it averages ("error", "spread", "sets"): a number for each n."""
    return {
        (row["table"], row["what"]): {n: float(row[str(n)]) for n in TABLE_LABELS}
        for row in _rows("averages")
    }


def published_seconds() -> dict[tuple[str, str], float | None]:
    """Run time of a method on a set; None where the paper has a dash."""
    return {
        (row["method"], name): float(row[name]) if row[name] else None
        for row in _rows("runtimes")
        for name in ("bank8", "cal_housing", "sylva")
    }


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files(__package__) / "published" / f"{name}.csv").open() as file:
        yield from csv.DictReader(file)
