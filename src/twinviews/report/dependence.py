"""Partial dependence: the mean prediction if one column had a given value in every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.report.rows import ReportRows, RowEncoder
from twinviews.report.tasks import ReportTask

_ROWS = 200  # that the average is over
_QUANTILES = np.linspace(0.025, 0.975, 20)
_MOST_LEVELS = 12


@dataclass(frozen=True)
class Dependence:
    """The mean prediction as a function of one column."""

    name: str
    values: tuple[Any, ...]  # of the column, as they stand in the table
    at: np.ndarray | None  # (values,) where they lie on a line; None for levels
    curves: np.ndarray  # (values, 1) mean prediction, or (values, classes) mean probabilities


def partial_dependence(
    rows: ReportRows, names: list[str], task: ReportTask, encoder: RowEncoder, model: Any, *, seed: int
) -> tuple[Dependence, ...]:
    """The dependence on each named column, at quantiles of its values or its most frequent levels."""
    # Unlabeled rows come last; they are many, and what the model will be asked about.
    pool = np.arange(len(rows.y), len(rows.X)) if rows.unlabeled is not None else np.arange(len(rows.y))
    rng = np.random.default_rng(seed)
    background = rows.raw.take(pa.array(rng.permutation(pool)[:_ROWS]))
    return tuple(
        _dependence_on(rows.raw.take(pa.array(pool)), name, background, task, encoder, model)
        for name in names
    )


def _dependence_on(
    pool: pa.Table,
    name: str,
    background: pa.Table,
    task: ReportTask,
    encoder: RowEncoder,
    model: Any,
) -> Dependence:
    column = pool.column(name).combine_chunks()
    on_a_line = _position(column)
    if on_a_line is not None and not np.isfinite(on_a_line).any():
        on_a_line = None  # all blank: a level of its own
    chosen = _levels(column) if on_a_line is None else _quantiles(on_a_line)
    place = background.column_names.index(name)
    curves = []
    for row in chosen:
        # A value of the table, repeated: whatever its type, the encoder has seen it.
        same = column.take(pa.array(np.full(background.num_rows, row)))
        asked = background.set_column(place, background.schema.field(name), same)
        curves.append(task.curves(model, encoder.transform(asked)).mean(axis=0))
    return Dependence(
        name,
        tuple(column[int(row)].as_py() for row in chosen),
        None if on_a_line is None else on_a_line[chosen],
        np.array(curves),
    )


def _position(column: pa.Array) -> np.ndarray | None:
    """(rows,) where values lie on a line, NaN where blank; None for values that have no order."""
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _quantiles(on_a_line: np.ndarray) -> np.ndarray:
    """ReportRows whose values are the quantiles; each value once."""
    order = np.argsort(on_a_line)[: int(np.isfinite(on_a_line).sum())]
    rows = order[np.round(_QUANTILES * (len(order) - 1)).astype(int)]
    _, first = np.unique(on_a_line[rows], return_index=True)
    return np.asarray(rows[first])


def _levels(column: pa.Array) -> np.ndarray:
    """A row of each of the most frequent levels, blank among them, the most frequent first."""
    coded = column.dictionary_encode() if not pa.types.is_dictionary(column.type) else column
    codes = pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return np.asarray(first[np.argsort(-counts, kind="stable")][:_MOST_LEVELS])
