"""The rows of a report: raw values, the numbers they became, and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa

from twinviews import TableEncoder
from twinviews.passes.targets import read_classes, read_numbers

Task = Literal["regression", "classification"]

LEAST_LABELED = 10
# What kernel ridge, the baseline, can do in seconds.
MOST_LABELED = 4000
MOST_UNLABELED = 20_000


class Drawn(NamedTuple):
    """The origin of a table that is a sample of a larger one."""

    number: np.ndarray  # (rows,) in the larger table, from 1
    n_labeled: int  # of the larger table, and so on
    n_unlabeled: int
    blanks: Mapping[str, int]


class RawColumn(NamedTuple):
    """A raw column, and the places of the numbers that it became."""

    name: str
    kind: str
    words: str
    blanks: int  # in the whole table
    places: tuple[int, ...]  # columns of X


class ModelColumns:
    """The encoder of a fitted model, to be used like a :class:`TableEncoder`."""

    def __init__(self, model: Any) -> None:
        self.model, self.columns_ = model, model.columns_

    def fit(self, table: pa.Table) -> Self:
        return self

    def transform(self, table: pa.Table) -> np.ndarray:
        return np.asarray(self.model._as_numbers(table))


class TargetLabels(NamedTuple):
    known: np.ndarray  # (rows of the table,) bool
    values: np.ndarray  # (labels,) numbers, or positions in classes
    classes: tuple[Any, ...]  # sorted; empty for numbers


@dataclass(frozen=True)
class ReportRows:
    """The rows that the report uses: labeled ones first, then unlabeled ones."""

    raw: pa.Table  # inputs only
    X: np.ndarray  # (N, D)
    y: np.ndarray  # (n,) numbers, or positions in classes
    number: np.ndarray  # (N,) of each row in the table, from 1
    classes: tuple[Any, ...]
    columns: tuple[RawColumn, ...]
    n_labeled: int  # in the table; of a large table only a random part is used
    n_unlabeled: int

    @property
    def labeled(self) -> np.ndarray:
        return self.X[: len(self.y)]

    @property
    def unlabeled(self) -> np.ndarray | None:
        """None if every row has a label, as ``fit`` takes it."""
        return self.X[len(self.y) :] if self.n_unlabeled_used else None

    @property
    def n_labeled_used(self) -> int:
        return len(self.y)

    @property
    def n_unlabeled_used(self) -> int:
        return len(self.X) - len(self.y)


def read_rows(
    table: pa.Table,
    target: str,
    task: Task,
    encoder: TableEncoder | ModelColumns,
    *,
    missing_label: Any,
    seed: int,
    drawn: Drawn | None = None,
) -> ReportRows:
    """The rows to use, a random part of a large table; the encoder is fitted on all inputs."""
    labels = read_labels(table, target, task, missing_label)
    inputs = table.drop_columns([target])
    encoder.fit(inputs)
    rng = np.random.default_rng(seed)
    labeled, unlabeled = np.flatnonzero(labels.known), np.flatnonzero(~labels.known)
    chosen = _some(np.arange(len(labeled)), MOST_LABELED, rng)
    some = np.concatenate([labeled[chosen], _some(unlabeled, MOST_UNLABELED, rng)])
    raw = inputs.take(pa.array(some)).combine_chunks()
    if drawn is None:
        blanks = {name: inputs.column(name).null_count for name in inputs.column_names}
        drawn = Drawn(np.arange(1, len(table) + 1), len(labeled), len(unlabeled), blanks)
    columns, end = [], 0
    for code in encoder.columns_:
        start, end = end, end + len(code.outputs)
        blanks_of_it, places = drawn.blanks[code.name], tuple(range(start, end))
        columns.append(RawColumn(code.name, code.kind, code.words, blanks_of_it, places))
    return ReportRows(
        raw=raw,
        X=np.asarray(encoder.transform(raw), dtype=np.float64),
        y=labels.values[chosen],
        number=drawn.number[some],
        classes=labels.classes,
        columns=tuple(columns),
        n_labeled=drawn.n_labeled,
        n_unlabeled=drawn.n_unlabeled,
    )


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def read_labels(table: pa.Table, target: str, task: Task, missing_label: Any = None) -> TargetLabels:
    """The labels of a column; null, NaN and ``missing_label`` mark unlabeled rows, as in a fit."""
    if target not in table.column_names:
        raise ValueError(
            f"There is no column {target!r}. The table has {', '.join(table.column_names)}."
        )
    column, classes = table.column(target).combine_chunks(), ()
    if task == "classification":
        found = read_classes(column, missing_label)
        values, known, classes = found.code, found.code >= 0, tuple(found.labels.tolist())
    elif _holds_numbers(column.type):
        values = read_numbers(column, missing_label)
        known = ~np.isnan(values)
    else:
        raise ValueError(
            f"Column {target!r} is of type {column.type}, and regression needs numbers. Use "
            f'task="classification", or turn it into numbers first.'
        )
    n = int(known.sum())
    if n < LEAST_LABELED:
        raise ValueError(
            f"Column {target!r} has {n} labels, and a report, which hides some of them to judge the "
            f"model, needs at least {LEAST_LABELED}. Label more rows."
        )
    if len(classes) == 1:
        raise ValueError(
            f"Every label in column {target!r} is {classes[0]!r}, and there must be at least 2 "
            f"classes. Label rows of another class."
        )
    return TargetLabels(known, values[known], classes)


def _holds_numbers(kind: pa.DataType) -> bool:
    of_numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_kind(kind) for is_kind in of_numbers)
