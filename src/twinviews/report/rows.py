"""The rows of a report: raw values, the numbers they became, and their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Task = Literal["regression", "classification"]

LEAST_LABELED = 10
# What kernel ridge, the baseline, can do in seconds.
MOST_LABELED = 4000
MOST_UNLABELED = 20_000


class EncodedColumn(Protocol):
    """What an encoder did with a raw column."""

    name: str
    kind: str
    words: str
    outputs: Sequence[str]


class RowEncoder(Protocol):
    """An encoder of raw columns as numbers."""

    columns_: Sequence[EncodedColumn]

    def fit(self, table: pa.Table) -> Any: ...

    def transform(self, table: pa.Table) -> np.ndarray: ...

    def get_feature_names_out(self) -> np.ndarray: ...


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


class TargetLabels(NamedTuple):
    known: np.ndarray  # (rows of the table,) bool
    values: np.ndarray  # (labels,) numbers, or positions in classes
    classes: tuple[Any, ...]  # sorted; empty for numbers


@dataclass(frozen=True)
class ReportRows:
    """The rows that the report uses: labeled ones first, then unlabeled ones."""

    target: str
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
        return self.X[len(self.y) :] if len(self.X) > len(self.y) else None

    @property
    def n_labeled_used(self) -> int:
        return len(self.y)

    @property
    def n_unlabeled_used(self) -> int:
        return len(self.X) - len(self.y)

    @property
    def used_columns(self) -> list[RawColumn]:
        return [column for column in self.columns if column.places]


def read_rows(
    table: pa.Table,
    target: str,
    task: Task,
    encoder: RowEncoder,
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
    return ReportRows(
        target=target,
        raw=raw,
        X=np.asarray(encoder.transform(raw), dtype=np.float64),
        y=labels.values[chosen],
        number=drawn.number[some],
        classes=labels.classes,
        columns=_columns(encoder, drawn),
        n_labeled=drawn.n_labeled,
        n_unlabeled=drawn.n_unlabeled,
    )


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _columns(encoder: RowEncoder, drawn: Drawn) -> tuple[RawColumn, ...]:
    ends = np.cumsum([len(one.outputs) for one in encoder.columns_])
    return tuple(
        RawColumn(
            one.name,
            one.kind,
            one.words,
            drawn.blanks[one.name],
            tuple(range(int(end) - len(one.outputs), int(end))),
        )
        for one, end in zip(encoder.columns_, ends, strict=True)
    )


def read_labels(table: pa.Table, target: str, task: Task, missing_label: Any = None) -> TargetLabels:
    """The labels of a column; null, NaN and a plain ``missing_label`` mark unlabeled rows."""
    if target not in table.column_names:
        raise ValueError(
            f"There is no column {target!r}. The table has {', '.join(table.column_names)}."
        )
    column = table.column(target).combine_chunks()
    labels = (_numbers if task == "regression" else _classes)(column, target, missing_label)
    n = int(labels.known.sum())
    if n < LEAST_LABELED:
        raise ValueError(
            f"Column {target!r} has {n} labels, and a report, which hides some of them to judge the "
            f"model, needs at least {LEAST_LABELED}. Label more rows."
        )
    if task == "classification" and len(labels.classes) < 2:
        raise ValueError(
            f"Every label in column {target!r} is {labels.classes[0]!r}, and there must be at least 2 "
            f"classes. Label rows of another class."
        )
    return labels


def _numbers(column: pa.Array, target: str, missing_label: Any) -> TargetLabels:
    if not _holds_numbers(column.type):
        raise ValueError(
            f"Column {target!r} is of type {column.type}, and regression needs numbers. Use "
            f'task="classification", or turn it into numbers first.'
        )
    numbers = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    known = ~np.isnan(numbers)
    if isinstance(missing_label, Real):
        known &= numbers != float(missing_label)
    return TargetLabels(known, numbers[known], ())


def _holds_numbers(kind: pa.DataType) -> bool:
    of_numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_kind(kind) for is_kind in of_numbers)


def _classes(column: pa.Array, target: str, missing_label: Any) -> TargetLabels:
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    marker = missing_label if isinstance(missing_label, (str, bytes, Real)) else None
    # A value that is not equal to itself is NaN.
    real = [j for j, value in enumerate(values) if value == value and value not in (None, marker)]
    rank_of = np.full(len(values) + 1, -1)
    rank_of[sorted(real, key=values.__getitem__)] = np.arange(len(real))
    rank = rank_of[pc.fill_null(coded.indices, len(values)).to_numpy(zero_copy_only=False)]
    known = rank >= 0
    present, codes = np.unique(rank[known], return_inverse=True)
    ordered = sorted(values[j] for j in real)
    return TargetLabels(known, codes, tuple(ordered[j] for j in present))
