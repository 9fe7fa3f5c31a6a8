"""A table of the user's in the contest, and numbers of labels and repetitions that suit it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twinviews.reading import read
from twinviews.reading.writers import harmless_name
from twinviews_experiments.contest.contest_sets import ContestSet, with_class_codes
from twinviews_experiments.contest.one_round import fewest_and_most_labels
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.datasets.file_formats import columns_of
from twinviews_experiments.datasets.preparation import Task
from twinviews_experiments.datasets.public_sources import RawTable

# A number column with no more distinct values than this, all of them whole, is taken for classes.
_MOST_CLASSES = 20
_STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
_N_STEPS = 4
# Up to so many labels, so many repetitions: fits take longer with more, and errors vary less.
_REPETITIONS = ((200, 20), (500, 10), (2000, 5), (5000, 3))
_FEWEST_REPETITIONS = 2


class UserTable(NamedTuple):
    path: Path
    target: str
    task: Task | None


def chosen_repetitions(
    raw: RawTable,
    table: UserTable,
    task: Task,
    labels: Sequence[int] | None = None,
    repetitions: int | None = None,
) -> tuple[dict[int, int], str]:
    """Of each n that the table has room for, how often it is repeated; and words that say so.

    None chooses what suits the labels that the table has.
    """
    fewest, most = fewest_and_most_labels(raw, task)
    n_labels = int((~np.isnan(raw.y)).sum())
    about = f"{table.path}: {task} of {table.target!r}, {n_labels:,} labels"
    if fewest > most:
        raise ValueError(
            f"{about}. That is too few to compare methods: there is room for n = {most}, as three in "
            f"ten are kept for testing and as many rows as are used must be left unlabeled, and n must "
            f"be at least {fewest}, with a label of every class. Label more rows."
        )
    asked = list(labels) if labels else suitable_labels(fewest, most)
    left_out = [n for n in asked if not fewest <= n <= most]
    counts = {n: repetitions or suitable_repetitions(n) for n in asked if n not in left_out}
    if not counts:
        raise ValueError(
            f"{about}. They leave room for n from {fewest:,} to {most:,}, not for n = {listed(asked)}. "
            f"Use other --labels, or none."
        )
    options = [("--labels", labels), ("--repetitions", repetitions)]
    chosen = [option for option, given in options if not given]
    words = f"{about}. n = {_in_words(counts)}"
    if chosen:
        words += f", as suits so many labels; {' and '.join(chosen)} would change it"
    if left_out:
        words += f". Left out is n = {listed(left_out)}: there is room for {fewest:,} to {most:,}"
    return counts, f"{words}."


def suitable_labels(fewest: int, most: int) -> list[int]:
    """Values of n for a table that has room for ``fewest`` to ``most``: the largest steps."""
    return [n for n in _STEPS if fewest <= n <= most][-_N_STEPS:] or [most]


def suitable_repetitions(n: int) -> int:
    """How often to repeat with n labels."""
    return next((count for most, count in _REPETITIONS if n <= most), _FEWEST_REPETITIONS)


def listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in numbers)


def _in_words(counts: dict[int, int]) -> str:
    """Such as "200 (20 repetitions), 500 (10)"."""
    (n, first), *others = counts.items()
    shown = [f"{n:,} ({first} {'repetition' if first == 1 else 'repetitions'})"]
    return ", ".join([*shown, *(f"{n:,} ({count})" for n, count in others)])


def user_set(path: Path, target: str, task: Task | None = None) -> ContestSet:
    """A table of the user's, in any format that is read, with a column to predict."""
    raw, found = _read_user_table(path, target, task)
    # The name is a cell of tables that are opened in spreadsheets.
    return ContestSet(harmless_name(path.stem), found, str(path), partial(_given, raw))


def _given(raw: RawTable, where: Files) -> RawTable:
    return raw


def _read_user_table(path: Path, target: str, task: Task | None) -> tuple[RawTable, Task]:
    columns = columns_of(read(path).dataset.to_table())
    if target not in columns:
        raise ValueError(
            f"{path} has no column {target!r}. Its columns are {', '.join(list(columns)[:12])}."
        )
    y = columns.pop(target)
    if task is None:
        task = "classification" if _looks_like_classes(y) else "regression"
    if task == "regression" and y.dtype == object:
        raise ValueError(f"Column {target!r} of {path} holds words, so it cannot be regressed on.")
    raw = RawTable(columns, y)
    return (with_class_codes(raw) if task == "classification" else raw), task


def _looks_like_classes(y: np.ndarray) -> bool:
    if y.dtype == object:
        return True
    known = np.unique(y[~np.isnan(y)])
    return len(known) <= _MOST_CLASSES and bool((known == np.round(known)).all())
