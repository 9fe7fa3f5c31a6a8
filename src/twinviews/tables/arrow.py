"""Files larger than memory, and everything else that Arrow can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews._system.text_hashes import text_hashes
from twinviews._system.unchanged_files import SameFiles
from twinviews.reading import Reading, typed_copy
from twinviews.reading.arrow_kinds import is_number
from twinviews.tables.base import BLOCK_ROWS, Block, BlockTable
from twinviews.tables.engines import Wanted, library_of

# Rows that are read at once.
_BATCH_ROWS = 32_768
# Beyond, neighbouring whole numbers are the same float64.
_LARGEST_EXACT = 2**53
_ARROW_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


@dataclass(frozen=True)
class Selection:
    """Which columns of a table are inputs, labels and others; turns record batches into blocks."""

    schema: pa.Schema
    columns: list[str]
    targets: list[str]
    weight: str | None
    block_rows: int
    label_probability: str | None = None
    strata: str | None = None
    cluster: str | None = None

    @classmethod
    def of(cls, schema: pa.Schema, wanted: Wanted) -> Self:
        """The columns that a caller wants, of a table with this schema."""
        columns = wanted.columns
        if columns is None:
            apart = {*wanted.targets, wanted.weight, wanted.label_probability, wanted.cluster}
            columns = [name for name in schema.names if name not in apart]
        block_rows = wanted.block_rows or BLOCK_ROWS
        found = cls(
            schema,
            list(columns),
            list(wanted.targets),
            wanted.weight,
            block_rows,
            wanted.label_probability,
            wanted.strata,
            wanted.cluster,
        )
        check_columns(found.names, schema.names)
        return found

    @property
    def names(self) -> list[str]:
        """Of all columns that are read, each once."""
        others = [self.weight, self.label_probability, self.strata, self.cluster]
        named = [name for name in others if name is not None]
        return list(dict.fromkeys([*self.columns, *self.targets, *named]))

    def blocks(self, batch: pa.RecordBatch) -> Iterator[Block]:
        """The rows of a batch."""
        for start in range(0, batch.num_rows, self.block_rows):
            some = batch.slice(start, self.block_rows)
            if self.weight is not None:
                present = pc.not_equal(some.column(self.weight), 0)
                some = some.filter(pc.fill_null(present, True))  # a missing one is refused
            if some.num_rows:
                yield self.block(some)

    def block(self, batch: pa.RecordBatch) -> Block:
        """The rows of a batch; the inputs are a record batch, of any types."""
        Y = self.labels(batch) if self.targets else None
        probability, strata = self.label_probability, self.strata
        return Block(
            batch.select(self.columns),
            Y,
            self._weights(batch),
            None if probability is None else _numbers(batch.column(probability)),
            None if strata is None else _hashes(batch.column(strata)),
            None if self.cluster is None else _hashes(batch.column(self.cluster)),
        )

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

    def labels(self, batch: pa.RecordBatch) -> np.ndarray:
        """(rows, targets) as they are in the table; NaN or None where one is missing."""
        columns = [batch.column(name) for name in self.targets]
        if all(is_number(column.type) for column in columns):
            for name, column in zip(self.targets, columns, strict=True):
                _check_exact(name, column)
            return np.column_stack([_numbers(column) for column in columns])
        labels = np.empty((batch.num_rows, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            labels[:, j] = column.to_pylist()
        return labels


def _hashes(column: pa.Array) -> np.ndarray:
    """(rows,) uint64 of each value as text; rows without a value have one of their own."""
    encoded = column.dictionary_encode()
    hashes = text_hashes(str(value) for value in encoded.dictionary.to_pylist())
    places = encoded.indices.fill_null(len(hashes)).to_numpy(zero_copy_only=False)
    return np.append(hashes, np.uint64(0))[places]


def _check_exact(name: str, column: pa.Array) -> None:
    if pa.types.is_integer(column.type) and len(column) > column.null_count:
        ends = pc.min_max(column)
        if max(abs(ends["min"].as_py()), abs(ends["max"].as_py())) > _LARGEST_EXACT:
            raise ValueError(
                f"Column {name!r} has whole numbers beyond {_LARGEST_EXACT:,}, which are not told "
                f"apart. If they are names of classes, write them as text."
            )


def check_columns(wanted: Iterable[str], present: Iterable[str]) -> None:
    """Raise an error that names what is missing and what it may have been renamed to."""
    present = list(present)
    missing = [name for name in wanted if name not in present]
    if not missing:
        return
    near = {name: get_close_matches(name, present, n=1) for name in missing}
    hints = [f"{name!r} may be {found[0]!r}" for name, found in near.items() if found]
    named = ", ".join(map(repr, missing))
    what = f"There is no column {named}" if len(missing) == 1 else f"There are no columns {named}"
    hint = f" ({'; '.join(hints)})" if hints else ""
    raise ValueError(f"{what}{hint}. The table has {', '.join(present)}.")


def is_plain(type_: pa.DataType) -> bool:
    """Whether values of a type can be used as they are."""
    return is_number(type_) or pa.types.is_boolean(type_)


def _numbers(column: pa.Array) -> np.ndarray:
    """Float64, NaN where null."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


class ArrowTable(BlockTable):
    """A data set of Arrow: Parquet, CSV or IPC files, or a table in memory.

    A row group of a Parquet file is read by the thread that works on it, so reading and computing
    overlap; files of other formats are read by one thread and worked on by all.
    """

    def __init__(self, reading: Reading, selection: Selection, wanted: Wanted) -> None:
        self.reading, self.dataset, self.selection = reading, reading.dataset, selection
        self.n_threads, self.progress = wanted.n_threads, wanted.progress

    def steady(self) -> AbstractContextManager[None]:
        """All passes see the files as they were when the table was made."""
        named = self.reading.source  # else it need not be a file that Arrow complains of
        return self.reading.plain_errors() if named else self.reading.files.held()

    def pieces(self) -> Iterator[Any]:
        form = getattr(self.dataset, "format", None)
        if isinstance(form, ds.ParquetFileFormat):
            for fragment in self.dataset.get_fragments():
                yield from fragment.split_by_row_group()
        else:
            # Arrow's own threads read ahead without end: a CSV file would be in memory, all of it.
            yield from self._scanner(self.dataset, use_threads=False).to_batches()

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

    def numbered_labels(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Numbers of rows, from 1, and their labels, in the order in which blocks have them.

        Rows of weight zero are counted and not given, as blocks have none of them.
        """
        weight = self.selection.weight
        names = [*self.selection.targets, *([] if weight is None else [weight])]
        with self.steady():
            n_before = 0
            for batch in self.dataset.scanner(columns=names, use_threads=False).to_batches():
                numbers = np.arange(n_before, n_before + batch.num_rows) + 1
                n_before += batch.num_rows
                if weight is not None:
                    present = pc.fill_null(pc.not_equal(batch.column(weight), 0), False)
                    batch, numbers = batch.filter(present), numbers[np.asarray(present)]
                yield numbers, self.selection.labels(batch)

    def count(self) -> int:
        known = self.reading.n_rows
        return int(self.dataset.count_rows()) if known is None else known

    def fingerprint(self) -> str:
        """What tells this table from another, or from the same files changed."""
        files, schema = self.reading.files.stamps, str(self.dataset.schema)
        return repr((files, self.count(), self.selection.names, schema))


def open_table(source: Any, wanted: Wanted) -> tuple[ArrowTable, Selection]:
    """A reading, a data set, a stream of batches or a data frame in memory as a table."""
    if not isinstance(source, Reading):
        if isinstance(source, pa.RecordBatchReader):  # which can be read once
            source = typed_copy(source, source.schema)
        elif not isinstance(source, ds.Dataset):
            source = ds.dataset(as_arrow(source))
        source = Reading("", source, (), files=SameFiles.of(source))
    selection = Selection.of(source.dataset.schema, wanted)
    return ArrowTable(source, selection, wanted), selection


def as_arrow(frame: Any) -> pa.Table:
    """A frame, or a mapping of names to arrays, as an Arrow table; a pandas index is no column."""
    if not isinstance(frame, Mapping) and library_of(frame) != "pandas":
        return frame if isinstance(frame, pa.Table) else _read(frame)
    columns: dict[str, pa.Array] = {}
    for name, column in frame.items():
        if str(name) in columns:
            raise ValueError(f"Two columns have the name {str(name)!r}. Rename one of them.")
        try:
            columns[str(name)] = pa.Array.from_pandas(column)
        except (*_ARROW_ERRORS, OverflowError, UnicodeError) as error:
            raise ValueError(
                f"Column {str(name)!r} mixes values of several types, or holds some that Arrow has no "
                f"type for. Make them all numbers, all words or all dates. ({error})"
            ) from None
    return pa.table(columns)


def _read(frame: Any) -> pa.Table:
    if not any(hasattr(frame, way) for way in ("__arrow_c_stream__", "__arrow_c_array__", "dtypes")):
        raise ValueError(
            f"This is a {type(frame).__name__}, and a table is needed: a path, a list of paths, a data "
            f"frame, an Arrow table or data set, or a Dask or Spark data frame."
        )
    try:
        return pa.table(frame)
    except _ARROW_ERRORS as error:
        raise ValueError(
            f"This {type(frame).__name__} has a column that Arrow has no type for ({error}). Make it "
            f"numbers, words or dates, or leave it out."
        ) from None
