"""Files larger than memory, and everything else that Arrow can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews._system.unchanged_files import SameFiles
from twinviews.reading import Reading, typed_copy
from twinviews.tables.base import Block, BlockTable
from twinviews.tables.column_names import check_columns
from twinviews.tables.double_precision import refuse_too_large
from twinviews.tables.engines import Wanted
from twinviews.tables.frames import as_arrow

# Rows that are read at once, and rows of a block made of them.
_BATCH_ROWS = 32_768
_BLOCK_ROWS = 4096
# Beyond, neighbouring whole numbers are the same float64.
_LARGEST_EXACT = 2**53


class Selection:
    """Which columns of a table are inputs, labels and weight; turns record batches into blocks.

    With ``raw`` the inputs of a block are a record batch, of any types, instead of an array; None
    leaves that to the types.
    """

    def __init__(
        self,
        schema: pa.Schema,
        columns: Sequence[str] | None,
        targets: Sequence[str],
        weight: str | None,
        *,
        raw: bool | None = False,
        block_rows: int | None = None,
    ) -> None:
        self.schema, self.targets, self.weight = schema, list(targets), weight
        self.block_rows = block_rows or _BLOCK_ROWS
        apart = {*self.targets, *([] if weight is None else [weight])}
        self.columns = [name for name in schema.names if name not in apart]
        if columns is not None:
            self.columns = list(columns)
        check_columns(self.names, schema.names)
        others = [name for name in self.columns if not is_plain(schema.field(name).type)]
        self.raw = bool(others) if raw is None else raw
        if others and not self.raw:
            raise ValueError(
                f"Column {others[0]!r} is of type {schema.field(others[0]).type}, and inputs must be "
                f"numbers. Leave it out with columns=[...], or say encode=True."
            )

    @classmethod
    def of(cls, schema: pa.Schema, wanted: Wanted) -> Self:
        """The columns that a caller wants, of a table with this schema."""
        return cls(
            schema,
            wanted.columns,
            wanted.targets,
            wanted.weight,
            raw=wanted.raw,
            block_rows=wanted.block_rows,
        )

    @property
    def names(self) -> list[str]:
        """Of all columns that are read, each once."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.columns, *self.targets, *weight]))

    def blocks(self, batch: pa.RecordBatch) -> Iterator[Block]:
        """The rows of a batch."""
        for start in range(0, batch.num_rows, self.block_rows):
            some = batch.slice(start, self.block_rows)
            if self.weight is not None:
                some = some.filter(pc.not_equal(some.column(self.weight), 0))
            if some.num_rows == 0:
                continue
            Y = self._labels(some) if self.targets else None
            yield Block(self.inputs(some), Y, self._weights(some))

    def _weights(self, batch: pa.RecordBatch) -> np.ndarray | None:
        if self.weight is None:
            return None
        weight = _numbers(batch.column(self.weight))
        if not (weight > 0).all():
            raise ValueError(
                f"Column {self.weight!r} has missing or negative weights. Every row needs a weight of "
                f"at least 0."
            )
        return weight

    def inputs(self, batch: pa.RecordBatch) -> Any:
        """(rows, D) float64, or raw as they are."""
        if self.raw:
            return batch.select(self.columns)
        X = np.empty((batch.num_rows, len(self.columns)))
        for j, name in enumerate(self.columns):
            x = _numbers(batch.column(name))
            refuse_too_large(f"Column {name!r}", x, "Divide it by a number.")
            X[:, j] = x
        if not np.isfinite(X).all():
            j = int(np.flatnonzero(~np.isfinite(X).all(axis=0))[0])
            raise ValueError(
                f"Column {self.columns[j]!r} has missing or infinite values. Say encode=True, and "
                f"blanks count as the mean and are flagged; or leave it out with columns=[...]."
            )
        return X

    def _labels(self, batch: pa.RecordBatch) -> np.ndarray:
        columns = [batch.column(name) for name in self.targets]
        if all(_is_number(column.type) for column in columns):
            for name, column in zip(self.targets, columns, strict=True):
                _check_exact(name, column)
            return np.column_stack([_numbers(column) for column in columns])
        labels = np.empty((batch.num_rows, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            labels[:, j] = column.to_pylist()
        return labels


def _check_exact(name: str, column: pa.Array) -> None:
    if pa.types.is_integer(column.type) and len(column) > column.null_count:
        ends = pc.min_max(column)
        if max(abs(ends["min"].as_py()), abs(ends["max"].as_py())) > _LARGEST_EXACT:
            raise ValueError(
                f"Column {name!r} has whole numbers beyond {_LARGEST_EXACT:,}, which are not told "
                f"apart. If they are names of classes, write them as text."
            )


def is_plain(kind: pa.DataType) -> bool:
    """Whether values of a type can be used as they are."""
    return _is_number(kind) or pa.types.is_boolean(kind)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _numbers(column: pa.Array) -> np.ndarray:
    """Float64, NaN where null."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


class ArrowTable(BlockTable):
    """A data set of Arrow: Parquet, CSV or IPC files, or a table in memory.

    A row group of a Parquet file is read by the thread that works on it, so reading and computing
    overlap; files of other formats are read by one thread and worked on by all. What a ``reading``
    knows of the data set is not found out again.
    """

    def __init__(
        self,
        dataset: ds.Dataset,
        selection: Selection,
        n_threads: int | None,
        progress: bool,
        *,
        reading: Reading | None = None,
    ) -> None:
        self.dataset, self.selection = dataset, selection
        self.n_threads, self.progress = n_threads, progress
        self._reading = reading
        self._files = SameFiles.of(dataset) if reading is None else reading.files

    def steady(self) -> AbstractContextManager[None]:
        """All passes see the files as they were when the table was made."""
        return self._files.held() if self._reading is None else self._reading.plain_errors()

    def pieces(self) -> Iterator[Any]:
        if isinstance(self.dataset, ds.FileSystemDataset) and self._is_parquet():
            for fragment in self.dataset.get_fragments():
                yield from fragment.split_by_row_group()
        else:
            # Arrow's own threads read ahead without end: a CSV file would be in memory, all of it.
            yield from self._scanner(self.dataset, use_threads=False).to_batches()

    def _is_parquet(self) -> bool:
        return bool(self.dataset.format.default_extname == "parquet")

    def _scanner(self, source: Any, **options: Any) -> ds.Scanner:
        return source.scanner(
            columns=self.selection.names,
            batch_size=_BATCH_ROWS,
            batch_readahead=4,
            fragment_readahead=1,
            **options,
        )

    def batches(self, piece: Any) -> Iterator[pa.RecordBatch]:
        """The record batches of a piece, with all the columns that were selected."""
        if isinstance(piece, pa.RecordBatch):
            yield piece
        else:
            yield from self._scanner(piece, schema=self.dataset.schema, use_threads=False).to_batches()

    def blocks(self, piece: Any) -> Iterator[Block]:
        for batch in self.batches(piece):
            yield from self.selection.blocks(batch)

    def count(self) -> int:
        if self._reading is not None and self._reading.n_rows is not None:
            return self._reading.n_rows
        return int(self.dataset.count_rows())

    def fingerprint(self) -> str:
        """What tells this table from another, or from the same files changed."""
        about = (self._files.stamps, self.count(), self.selection.names, str(self.dataset.schema))
        return repr(about)


def open_arrow(source: Any, wanted: Wanted) -> tuple[ArrowTable, Selection]:
    """A reading, a data set, a stream of batches or a data frame in memory as a table."""
    reading = source if isinstance(source, Reading) else None
    if reading is not None:
        dataset = reading.dataset
    elif isinstance(source, ds.Dataset):
        dataset = source
    elif isinstance(source, pa.RecordBatchReader):  # which can be read once
        dataset = typed_copy(source, source.schema)
    else:
        dataset = ds.dataset(as_arrow(source))
    selection = Selection.of(dataset.schema, wanted)
    return ArrowTable(dataset, selection, wanted.n_threads, wanted.progress, reading=reading), selection
