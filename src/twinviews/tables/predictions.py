"""A model's predictions beside the rows of a table, on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from twinviews.reading import can_be_written, write
from twinviews.tables.base import Block, refuse_nothing
from twinviews.tables.engines import Wanted, open_table

# Rows that are predicted at once.
_BLOCK_ROWS = 32_768
# From a record batch to columns by name; it is sent to the workers of a cluster.
Predict = Callable[[pa.RecordBatch], Mapping[str, Any]]
# The same, and a summary of the batch beside it.
PredictAndSummarise = Callable[[pa.RecordBatch], tuple[Mapping[str, Any], Any]]


def predicted_batches(
    source: Any,
    names: Sequence[str],
    predict: PredictAndSummarise,
    keep: Sequence[str],
    **options: Any,
) -> Iterator[tuple[pa.Table, Any]]:
    """The columns kept and those of predictions, block by block, in the order of the rows, and the
    summary of each block."""
    needed = list(dict.fromkeys([*names, *keep]))
    table, _ = open_table(source, Wanted(needed, block_rows=_BLOCK_ROWS, **options))
    return table.map_blocks(partial(_of_block, predict, keep))


def _of_block(predict: PredictAndSummarise, keep: Sequence[str], block: Block) -> tuple[pa.Table, Any]:
    found, summary = predict(block.X)
    _check_new_names(found, keep)
    return pa.table({**{name: block.X.column(name) for name in keep}, **found}), summary


def predicted_frame(
    source: Any, names: Sequence[str], predict: Predict, sample: Mapping[str, Any]
) -> Any:
    """A table of the source's engine with columns of predictions added; ``sample`` has their types."""
    table, selection = open_table(source, Wanted(names))
    if not hasattr(table, "with_columns"):
        raise ValueError("out=None: name a Parquet file to write the predictions to.")
    _check_new_names(sample, selection.schema.names)
    return table.with_columns(partial(_of_batch, predict), pa.table(dict(sample)).schema)


def _of_batch(predict: Predict, batch: pa.RecordBatch) -> pa.Table:
    return pa.table(dict(predict(batch)))


def _check_new_names(found: Iterable[str], present: Sequence[str]) -> None:
    for name in found:
        if name in present:
            raise ValueError(
                f"The table has a column {name!r} already, which is what the predictions are called. "
                f"Keep the others, by name."
            )


def write_predictions(batches: Iterator[pa.Table], out: Path) -> None:
    """Write what ``predicted_batches`` gives, in the format of the file's ending, else as Parquet."""
    first = refuse_nothing(next(batches, None))
    ending = None if can_be_written(out) else ".parquet"
    write(chain([first], batches), first.schema, out, ending=ending)
