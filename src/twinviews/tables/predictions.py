"""A model's predictions beside the rows of a table, on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews.reading import can_be_written, write
from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block
from twinviews.tables.opening import open_table

# Rows that are predicted at once.
_BLOCK_ROWS = 32_768


@dataclass(frozen=True)
class TablePredictor:
    """Columns of predictions for record batches; it is sent to the workers of a cluster.

    Parameters
    ----------
    names : sequence of str
        Input columns.
    predict : callable
        From the inputs of some rows to columns by name.
    raw : bool
        Whether the inputs are a record batch; else they are (rows, D) numbers.
    keep : sequence of str
        Columns to carry over.
    """

    names: Sequence[str]
    predict: Callable[[Any], Mapping[str, np.ndarray]]
    raw: bool
    keep: Sequence[str] = ()

    def __call__(self, batch: pa.RecordBatch) -> pa.Table:
        inputs = Selection(batch.schema, self.names, [], None, raw=self.raw).inputs(batch)
        found = self.predict(inputs)
        _check_new_names(found, self.keep)
        return pa.table({**{name: batch.column(name) for name in self.keep}, **found})

    def of_block(self, block: Block) -> pa.Table:
        return self(block.X)

    @property
    def needed(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.names, *self.keep]))


def predicted_batches(source: Any, predictor: TablePredictor, **options: Any) -> Iterator[pa.Table]:
    """The columns kept and those of predictions, block by block, in the order of the rows."""
    table, _ = open_table(source, columns=predictor.needed, raw=True, block_rows=_BLOCK_ROWS, **options)
    return table.map_blocks(predictor.of_block)


def predicted_frame(source: Any, predictor: TablePredictor, sample: Mapping[str, np.ndarray]) -> Any:
    """A table of the source's engine with columns of predictions added; ``sample`` has their types."""
    table, selection = open_table(source, columns=predictor.needed, raw=True)
    if not hasattr(table, "with_columns"):
        raise ValueError("out=None: name a Parquet file to write the predictions to.")
    _check_new_names(sample, selection.schema.names)
    return table.with_columns(replace(predictor, keep=()), pa.table(dict(sample)).schema)


def _check_new_names(found: Iterable[str], present: Sequence[str]) -> None:
    for name in found:
        if name in present:
            raise ValueError(
                f"The table has a column {name!r} already, which is what the predictions are called. "
                f"Keep the others, by name."
            )


def write_predictions(batches: Iterator[pa.Table], out: Path) -> None:
    """Write what ``predicted_batches`` gives, in the format of the file's ending, else as Parquet."""
    first = next(batches, None)
    if first is None:
        raise ValueError("The table has no rows. Check the path, or the filter that made it.")
    ending = None if can_be_written(out) else ".parquet"
    write(chain([first], batches), first.schema, out, ending=ending)
