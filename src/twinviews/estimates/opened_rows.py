"""The rows that an estimate is about, opened as a table of any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twinviews.estimates.table_pass import RowsAndColumns
from twinviews.passes.clusters import cluster_hashes
from twinviews.passes.targets import as_array
from twinviews.tables import ArrayTable, Block, Wanted
from twinviews.tables.base import SourceTable
from twinviews.tables.engines import engine_of, is_table, missing_engine, open_table

_Y = "y"


@dataclass(frozen=True)
class RowColumns:
    """Columns beside the inputs, by what they are for."""

    by: tuple[str, ...] = ()
    regressors: tuple[str, ...] = ()
    weight: str | None = None
    label_probability: str | None = None
    strata: str | None = None
    cluster: Any = None  # a column, or values for rows of an array


def names_of_targets(model: Any, target: str | Sequence[str] | None, n_targets: int) -> list[str]:
    """The names of the targets, one for each column of labels."""
    if target is None:
        told = getattr(model, "about_", {}).get("target")
        known = told if told is not None else [_Y] if n_targets == 1 else None
        if known is None:
            return [f"{_Y}_{number}" for number in range(n_targets)]
        target = known
    names = [target] if isinstance(target, str) else [str(name) for name in target]
    if len(names) != n_targets:
        raise ValueError(
            f"target names {len(names)} columns, and the model predicts {n_targets}. Name one for each."
        )
    return names


def open_rows(
    model: Any, rows: Any, y: Any, targets: Sequence[str], columns: RowColumns, reading: Any = None
) -> list[SourceTable]:
    """A table for each target: its blocks have the labels of that target alone."""
    is_array = not is_table(rows) and not hasattr(rows, "columns") and engine_of(rows) == "pyarrow"
    if is_array:
        return _open_arrays(model, rows, y, len(targets), columns)
    try:
        from twinviews.encoding.sources import read_like_the_fit
        from twinviews.tables.arrow import as_arrow
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    if y is not None:
        if is_table(rows):
            raise ValueError("y goes with rows in memory. Of a table, name the column: target=...")
        rows = _with_labels(as_arrow(rows), y, targets)
    if columns.cluster is not None and not isinstance(columns.cluster, str):
        raise ValueError("cluster has values, and these rows have columns. Name the column.")
    source = read_like_the_fit(rows, getattr(model, "about_", {}), reading)
    inputs = [*model._input_names(), *columns.by, *columns.regressors]
    return [
        open_table(
            source,
            Wanted(
                list(dict.fromkeys(inputs)),
                [name],
                columns.weight,
                columns.label_probability,
                columns.strata,
                columns.cluster,
                n_threads=model.n_threads,
                progress=model.progress,
            ),
        )[0]
        for name in targets
    ]


def _with_labels(frame: Any, y: Any, targets: Sequence[str]) -> Any:
    """An Arrow table with labels as columns."""
    import pyarrow as pa

    labels = _labels(y, frame.num_rows, len(targets))
    for place, name in enumerate(targets):
        if name in frame.schema.names:
            raise ValueError(
                f"The rows have a column {name!r} already, and labels came as y. Give one of them."
            )
        column = labels[:, place]
        frame = frame.append_column(name, pa.array(column.tolist(), from_pandas=True))
    return frame


def _labels(y: Any, n_rows: int, n_targets: int) -> np.ndarray:
    """(rows, targets)"""
    found = as_array(y)
    if len(found) != n_rows:
        raise ValueError(f"y has {len(found)} labels and there are {n_rows} rows. Give one each.")
    found = found.reshape(n_rows, -1)
    if found.shape[1] != n_targets:
        raise ValueError(
            f"y has {found.shape[1]} columns, and the model predicts {n_targets} targets. Give one "
            f"column for each."
        )
    return found


def _open_arrays(
    model: Any, rows: Any, y: Any, n_targets: int, columns: RowColumns
) -> list[SourceTable]:
    if y is None:
        raise ValueError("y is missing. Give the labels as y=..., NaN or None where there is none.")
    for option in ("weight", "label_probability", "strata"):
        if getattr(columns, option) is not None:
            raise ValueError(
                f"{option}={getattr(columns, option)!r} names a column, and an array has none. Give a "
                f"data frame."
            )
    X = model._prepared(rows)
    if isinstance(columns.cluster, str):
        raise ValueError(
            f"cluster={columns.cluster!r} names a column, and an array has none. Give the values."
        )
    cluster = None if columns.cluster is None else cluster_hashes(columns.cluster, X.shape[0])
    labels = _labels(y, X.shape[0], n_targets)
    beside = _columns_of(rows, [*columns.by, *columns.regressors])
    options = {"n_threads": model.n_threads, "progress": model.progress}
    return [
        ArrayTable(
            Block(RowsAndColumns(X, dict(beside)), labels[:, [place]], None, cluster=cluster),
            **options,
        )
        for place in range(n_targets)
    ]


def _columns_of(rows: Any, names: Sequence[str]) -> Mapping[str, np.ndarray]:
    """Columns of an array, which are named by their numbers."""
    found = {}
    for name in names:
        if not str(name).isdigit() or int(name) >= rows.shape[1]:
            raise ValueError(
                f"{name!r} is not a column of an array with {rows.shape[1]}. Name it by its number "
                f"from 0, or give a data frame."
            )
        column = rows[:, [int(name)]]
        found[name] = np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
    return found
