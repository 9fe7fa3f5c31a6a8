"""Labels that a table has in its own columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from twinviews.encoding.values import as_numbers, as_words
from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.table_copy import TableCopy
from twinviews.reading.arrow_kinds import kind_of_type as kind_of


def table_labels(table: TableCopy, target: LabelTarget) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the table that have a label, and the labels as float64 or text."""
    dtype = np.float64 if target.task == "regression" else object
    rows: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
    values: list[np.ndarray] = [np.empty(0, dtype=dtype)]
    start = 0
    if target.name in table.schema.names:
        for batch in table.batches([target.name]):
            labels = as_labels(batch.column(0), target)
            rows.append(start + np.flatnonzero(np.asarray(labels.is_valid())))
            values.append(labels.drop_null().to_numpy(zero_copy_only=False).astype(dtype))
            start += batch.num_rows
    return np.concatenate(rows), np.concatenate(values)


def label_type(target: LabelTarget) -> pa.DataType:
    """The Arrow type of a target's labels."""
    return pa.float64() if target.task == "regression" else pa.string()


def as_labels(column: pa.Array, target: LabelTarget) -> pa.Array:
    """A column of the table as labels, null where there are none."""
    if target.task == "classification":
        return as_words(column).cast(pa.string())
    if kind_of(column.type) not in ("number", "empty"):
        raise ValueError(
            f"Column {target.name!r} holds values of kind {kind_of(column.type)}, and a regression "
            f"needs numbers. Make it a classification, or give the target another name."
        )
    return pa.array(as_numbers(target.name, column), from_pandas=True)
