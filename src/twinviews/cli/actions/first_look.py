"""What a command looks at first: the files that it reads and writes, and what there is to predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews.data_checks import Finding, check_classes, check_numbers
from twinviews.encoding.facts import NumberFacts
from twinviews.encoding.values import as_numbers
from twinviews.reading.arrow_kinds import kind_of_type as kind_of
from twinviews.tables.arrow import check_columns

NumbersOrClasses = Literal["regression", "classification"]
Task = Literal["regression", "classification", "ordinal", "count"]

# How a model file begins.
_MODEL = b"twinviews model"
# Whole numbers with more distinct values than this are numbers, with fewer they are classes.
_MOST_CLASSES = 20
# Labels that are looked at one by one.
_MOST_LOOKED_AT = 100_000
# Distinct labels that are counted one by one.
_MOST_COUNTED = 1000


def check_paths(tables: Sequence[str], outputs: Sequence[Path], models: Sequence[Path] = ()) -> None:
    """Raise if a table is a model file, or an output has no folder or is read or written already."""
    for source in tables:
        if source != "-" and Path(source).is_file() and _begins_like_a_model(Path(source)):
            raise ValueError(f"{source} is a model file, and a table is expected here.")
    taken = [Path(source).resolve() for source in tables if source != "-"]
    taken += [model.resolve() for model in models]
    for path in outputs:
        if str(path) == "-":
            raise ValueError("A model or a report does not go to standard output. Name a file.")
        if not path.parent.is_dir():
            raise FileNotFoundError(
                f"There is no folder {str(path.parent)!r} to write {path.name} to. Make it first"
            )
        if path.resolve() in taken:
            raise ValueError(f"{path} is read or written already by this command. Name another file.")
        taken.append(path.resolve())


def _begins_like_a_model(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MODEL)) == _MODEL


class Target(NamedTuple):
    name: str
    task: Task
    n_rows: int
    n_labeled: int
    counts: Counter[str]  # of each label, as text; of more than a thousand, some are left out
    labels: np.ndarray  # the first hundred thousand, to be looked at
    rows: np.ndarray  # their numbers in the table, from 1

    @property
    def commonest(self) -> float:
        """The share of the commonest label; NaN if there are too many to count."""
        if len(self.counts) > _MOST_COUNTED:
            return float("nan")
        return max(self.counts.values()) / self.n_labeled

    def words(self, *, found_out: bool) -> str:
        what = f"{self.task}{' (--task)' if found_out else ''}"
        return f"{self.name}: {self.n_labeled:,} labels in {self.n_rows:,} rows; {what}"

    def questions(self) -> list[Finding]:
        """What is strange about the labels."""
        check = check_numbers if self.task in ("regression", "count") else check_classes
        found = check(self.labels, self.rows)
        if self.task in ("ordinal", "count"):  # which say what whole numbers are
            return [one for one in found if one.check not in ("ratings", "counts")]
        return found


def look_at_target(dataset: ds.Dataset, name: str, task: Task | None) -> Target:
    """One pass over one column, which may be blank in all rows."""
    check_columns([name], dataset.schema.names)
    kind = kind_of(dataset.schema.field(name).type)
    if kind == "date":
        raise ValueError(
            f"Column {name!r} holds dates, and a target must be numbers or classes. Turn it into days, "
            f"or say --kind {name}=category."
        )
    if task in ("regression", "count") and kind not in ("number", "empty"):
        raise ValueError(
            f"Column {name!r} holds words, so it cannot be regressed on. Use --task classification, or "
            f"--kind {name}=number to be told which value is none."
        )
    n_rows, n_labeled = 0, 0
    counts: Counter[str] = Counter()
    numbers = NumberFacts.of(np.empty(0), np.empty(0))
    labels, rows_of = [np.empty(0, object)], [np.empty(0, np.int64)]
    for batch in dataset.scanner(columns=[name], use_threads=False).to_batches():
        is_known = pc.invert(batch.column(0).is_null(nan_is_null=True))
        known = batch.column(0).filter(is_known)
        if n_labeled < _MOST_LOOKED_AT:
            labels.append(np.array(known.to_pylist(), dtype=object))
            rows_of.append(n_rows + 1 + np.flatnonzero(np.asarray(is_known)))
        n_rows, n_labeled = n_rows + batch.num_rows, n_labeled + len(known)
        if len(counts) <= _MOST_COUNTED:
            distinct, rows = known.value_counts().flatten()
            counts.update(dict(zip(distinct.cast("string").to_pylist(), rows.to_pylist(), strict=True)))
        if kind == "number":
            numbers = numbers.merge(NumberFacts.of(as_numbers(name, known), np.ones(len(known))))
    if task in ("classification", "ordinal") and kind == "number" and not numbers.whole:
        raise ValueError(
            f"Column {name!r} holds numbers with decimals, which are no classes. Use --task "
            f"regression, or --kind {name}=category if each is a name."
        )
    if task == "count" and (not numbers.whole or numbers.least < 0):
        raise ValueError(
            f"Column {name!r} holds numbers that are no counts: they are "
            f"{'below 0' if numbers.whole else 'not whole'}, some of them. Use --task regression."
        )
    measured = kind == "number" and not (numbers.whole and len(counts) <= _MOST_CLASSES)
    found: Task = "regression" if measured else "classification"
    looked_at = np.concatenate(labels), np.concatenate(rows_of)
    return Target(name, task or found, n_rows, n_labeled, counts, *looked_at)
