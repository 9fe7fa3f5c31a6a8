"""Labels written to files: the table with its labels, or the labels alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.table_copy import TableCopy, as_labels, label_type
from twinviews.reading import write

# Columns of a file with a line for each answer; ``label_import`` reads them again.
LIST_COLUMNS = ("row", "target", "answer", "value", "origin", "time")
_LABELS_ONLY = "labels.csv"
EXPORT_FORMS = ("csv", "parquet", _LABELS_ONLY)


def export(
    store: LabelStore, table: TableCopy, table_name: str, form: str, folder: Path
) -> tuple[str, Path]:
    """A file name to offer, and the exported file in a new folder inside ``folder``."""
    if form not in EXPORT_FORMS:
        raise ValueError(f"There is no form {form!r}. Choose one of {', '.join(EXPORT_FORMS)}.")
    stem = Path(table_name).stem
    name = f"{stem}.{form}" if form == _LABELS_ONLY else f"{stem}.labeled.{form}"
    out = Path(tempfile.mkdtemp(dir=folder)) / name
    if form == _LABELS_ONLY:
        export_labels(store, out)
    else:
        export_table(store, table, out)
    return name, out


def export_table(store: LabelStore, table: TableCopy, out: Path) -> int:
    """Write the table with a column for each target, and return the number of rows.

    The ending of ``out`` decides on the format. The table's own labels stay where nobody has answered.
    """
    targets = store.targets()
    types = {field.name: field.type for field in table.schema}
    types |= {target.name: label_type(target) for target in targets}
    schema = pa.schema(list(types.items()))
    return write(_with_labels(store, table, targets, schema), schema, out)


def _with_labels(
    store: LabelStore, table: TableCopy, targets: tuple[LabelTarget, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    labels = {target.name: _sorted_labels(store, target) for target in targets}
    start = 0
    for batch in table.batches():
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for target in targets:
            own = as_labels(columns.get(target.name, pa.nulls(batch.num_rows)), target)
            rows, values = labels[target.name]
            first, last = np.searchsorted(rows, [start, start + batch.num_rows])
            answered = np.zeros(batch.num_rows, dtype=bool)
            answered[rows[first:last] - start] = True
            given = pa.array(values[first:last], label_type(target))
            columns[target.name] = pc.replace_with_mask(own, pa.array(answered), given)
        yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
        start += batch.num_rows


def _sorted_labels(store: LabelStore, target: LabelTarget) -> tuple[np.ndarray, list[Any]]:
    """Labeled rows, increasing, and their labels."""
    entries = [event.entry for event in store.answers(target.name).values()]
    labels = sorted((entry.row, entry.value) for entry in entries if entry.answer == "label")
    return np.array([row for row, _ in labels], dtype=np.int64), [value for _, value in labels]


def export_labels(store: LabelStore, out: Path) -> int:
    """Write a line for each answer in force, with its row counted from 1; return their number."""
    events = [
        event
        for target in store.targets()
        for event in store.answers(target.name).values()
        if event.entry.answer != "clear"
    ]
    lines = [
        {
            **vars(event.entry),
            "row": event.entry.row + 1,
            "value": _text(event.entry.value),
            "time": event.time,
        }
        for event in sorted(events, key=lambda event: event.number)
    ]
    schema = pa.schema([(name, pa.int64() if name == "row" else pa.string()) for name in LIST_COLUMNS])
    table = pa.Table.from_pylist(lines, schema)
    return write(table.to_batches(), schema, out)


def _text(value: float | str | None) -> str | None:
    """A label as text; of a number, all digits that distinguish it from other numbers."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else value
