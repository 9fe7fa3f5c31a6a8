"""What there is to predict: how many labels, and whether they are numbers or classes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews.encoding.facts import NumberFacts
from twinviews.encoding.values import as_numbers
from twinviews.reading.arrow_kinds import kind_of_type as kind_of
from twinviews.tables.arrow import check_columns

Task = Literal["regression", "classification"]

# Whole numbers with more distinct values than this are numbers, with fewer they are classes.
_MOST_CLASSES = 20
# Distinct labels that are counted one by one.
_MOST_COUNTED = 1000


class Target(NamedTuple):
    name: str
    task: Task
    n_rows: int
    n_labeled: int
    variance: float  # of numbers; NaN for classes
    commonest: float  # the share of the commonest label; NaN if there are too many to count

    def words(self, *, found_out: bool) -> str:
        what = f"{self.task}{' (--task)' if found_out else ''}"
        return f"{self.name}: {self.n_labeled:,} labels in {self.n_rows:,} rows; {what}"


def look_at_target(dataset: ds.Dataset, name: str, task: Task | None) -> Target:
    """One pass over one column."""
    check_columns([name], dataset.schema.names)
    kind = kind_of(dataset.schema.field(name).type)
    if kind == "date":
        raise ValueError(
            f"Column {name!r} holds dates, and a target must be numbers or classes. Turn it into days, "
            f"or say --kind {name}=category."
        )
    if task == "regression" and kind not in ("number", "empty"):
        raise ValueError(
            f"Column {name!r} holds words, so it cannot be regressed on. Use --task classification, or "
            f"--kind {name}=number to be told which value is none."
        )
    n_rows, n_labeled = 0, 0
    few: Counter[Any] = Counter()
    numbers = NumberFacts.of(np.empty(0), np.empty(0))
    for batch in dataset.scanner(columns=[name], use_threads=False).to_batches():
        known = batch.column(0).filter(pc.invert(batch.column(0).is_null(nan_is_null=True)))
        n_rows, n_labeled = n_rows + batch.num_rows, n_labeled + len(known)
        if len(few) <= _MOST_COUNTED:
            few.update({one["values"]: one["counts"] for one in known.value_counts().to_pylist()})
        if kind == "number":
            numbers = numbers.merge(NumberFacts.of(as_numbers(name, known), np.ones(len(known))))
    if n_labeled == 0:
        raise ValueError(
            f"Column {name!r} is blank in all {n_rows:,} rows, so there is nothing to learn from. Give "
            f"some rows a value."
        )
    if task == "classification" and kind == "number" and not numbers.whole:
        raise ValueError(
            f"Column {name!r} holds numbers with decimals, which are no classes. Use --task "
            f"regression, or --kind {name}=category if each is a name."
        )
    measured = kind == "number" and not (numbers.whole and len(few) <= _MOST_CLASSES)
    found: Task = "regression" if measured else "classification"
    variance = numbers.squares / n_labeled if kind == "number" else np.nan
    commonest = max(few.values()) / n_labeled if len(few) <= _MOST_COUNTED else np.nan
    return Target(name, task or found, n_rows, n_labeled, variance, commonest)
