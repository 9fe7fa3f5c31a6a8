"""Dask arrays and data frames: a tree of merges on whatever scheduler or cluster the user has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
from dask import annotate, compute, delayed

from twinviews._system.threads import one_blas_thread
from twinviews.tables.arrow import Selection
from twinviews.tables.base import (
    ArrayTable,
    Block,
    Summary,
    merge_all,
    refuse_nothing,
    summarise_blocks,
)
from twinviews.tables.double_precision import refuse_too_large
from twinviews.tables.engines import Wanted

S = TypeVar("S", bound=Summary)
R = TypeVar("R")
BlocksOf = Callable[[Any], list[Block]]

_RETRIES = 3
# Partitions whose results come to the client at once.
_AT_ONCE = 8


class DaskTable:
    """Partitions, each delayed; none of them comes to the client.

    Parameters
    ----------
    partitions : sequence of pairs of Delayed
        Rows, and their labels or None.
    blocks_of : callable
        From the rows of a partition to its blocks.
    """

    def __init__(self, partitions: Sequence[tuple[Any, Any]], blocks_of: BlocksOf) -> None:
        self.partitions, self.blocks_of = partitions, blocks_of

    def _mapped(self, function: Callable[[list[Block]], R]) -> list[Any]:
        """The function's results for the blocks of each partition, delayed."""
        on_worker = delayed(partial(_on_partition, self.blocks_of, function))
        return [on_worker(rows, labels) for rows, labels in self.partitions]

    def fold(self, summarise: Callable[[Block], S]) -> S:
        # Losses are made good by the scheduler itself; a task that raises is tried again like one.
        with annotate(retries=_RETRIES):
            level = self._mapped(partial(summarise_blocks, summarise))
            while len(level) > 1:
                level = [delayed(merge_all)(level[i : i + 2]) for i in range(0, len(level), 2)]
            (merged,) = compute(*level)
        return refuse_nothing(merged)


def _on_partition(
    blocks_of: BlocksOf, function: Callable[[list[Block]], R], rows: Any, labels: Any
) -> R:
    blocks = blocks_of(rows)
    if blocks and labels is not None:
        Y = np.asarray(labels).reshape(len(rows), -1)
        parts = np.split(Y, np.cumsum([block.X.shape[0] for block in blocks])[:-1])
        blocks = [block._replace(Y=part) for block, part in zip(blocks, parts, strict=True)]
    with one_blas_thread():  # a worker has threads of its own
        return function(blocks)


# --- rows and labels, as fit takes them -------------------------------------------------------------


def rows_table(X: Any, y: Any) -> tuple[DaskTable, Selection | None]:
    """Rows with their labels as a table, and the selection of a frame's columns.

    Columns of a data frame are what ``fit_table`` takes them for; an array has numbers only.
    """
    blocks_of: BlocksOf
    if hasattr(X, "columns"):
        selection = Selection.of(_schema_of(X), Wanted())
        lengths = tuple(X.map_partitions(len).compute())
        rows, blocks_of = X.to_delayed(), partial(_blocks_of_frame, selection)
    else:
        X = _with_known_sizes(X).rechunk({1: -1})
        selection, lengths = None, X.chunks[0]
        rows, blocks_of = X.to_delayed().ravel(), _checked_block
    labels = [None] * len(rows) if y is None else _labels_in_parts(y, lengths)
    return DaskTable(list(zip(rows, labels, strict=True)), blocks_of), selection


def _labels_in_parts(y: Any, lengths: Sequence[int]) -> Sequence[Any]:
    y = _with_known_sizes(y.to_dask_array(lengths=True) if hasattr(y, "to_dask_array") else y)
    n_rows = sum(lengths)
    if y.shape[0] != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y "
            f"{y.shape[0]}."
        )
    parts = y.rechunk({0: tuple(lengths), **({1: -1} if y.ndim == 2 else {})})
    return parts.to_delayed().ravel()


def _with_known_sizes(array: Any) -> Any:
    """An array that was made of a filtered frame does not know how many rows it has."""
    return array.compute_chunk_sizes() if np.isnan(array.shape[0]) else array


def _checked_block(X: Any) -> list[Block]:
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X holds values of type {X.dtype}, and inputs must be numbers. Leave those columns out."
        )
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity. Fill those values or drop their rows.")
    refuse_too_large("X", X, "Divide it by a number.")
    return list(ArrayTable(Block(X, None, None)).pieces())


# --- data frames, as fit_table and predict_table take them ------------------------------------------


class DaskFrameTable(DaskTable):
    """A Dask data frame, of which some columns are wanted."""

    def __init__(self, frame: Any, selection: Selection) -> None:
        self.frame, self.names = frame, selection.names
        partitions = [(rows, None) for rows in frame[self.names].to_delayed()]
        super().__init__(partitions, partial(_blocks_of_frame, selection))

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the rows."""
        mapped = self._mapped(lambda blocks: list(map(function, blocks)))
        for start in range(0, len(mapped), _AT_ONCE):
            with annotate(retries=_RETRIES):
                some = compute(*mapped[start : start + _AT_ONCE])
            for results in some:
                yield from results

    def with_columns(self, function: Callable[[pa.RecordBatch], pa.Table], added: pa.Schema) -> Any:
        """A Dask frame with all columns of this one and those that the function makes of its rows."""
        kinds = added.empty_table().to_pandas()
        index = self.frame._meta.index
        meta = pd.concat([self.frame._meta, kinds.set_index(index[:0])], axis=1)
        return self.frame.map_partitions(partial(_with_columns, function, self.names), meta=meta)


def _with_columns(function: Callable[[pa.RecordBatch], pa.Table], names: list[str], frame: Any) -> Any:
    """A partition with more columns."""
    if len(frame) == 0:  # as Dask tries functions out, with a frame of no rows
        return frame
    with one_blas_thread():
        made = [function(batch) for batch in _batches_of(frame[names])]
    return pd.concat([frame, pa.concat_tables(made).to_pandas().set_index(frame.index)], axis=1)


def open_table(frame: Any, wanted: Wanted) -> tuple[DaskFrameTable, Selection]:
    """A Dask data frame, and which of its columns are what."""
    if not hasattr(frame, "columns"):
        raise ValueError(
            "A Dask array has no names of columns. Give a Dask data frame, or fit(X, y) the array."
        )
    selection = Selection.of(_schema_of(frame), wanted)
    return DaskFrameTable(frame, selection), selection


def _schema_of(frame: Any) -> pa.Schema:
    return pa.Schema.from_pandas(frame._meta_nonempty, preserve_index=False)


def _batches_of(frame: Any) -> list[pa.RecordBatch]:
    return pa.Table.from_pandas(frame, preserve_index=False).combine_chunks().to_batches()


def _blocks_of_frame(selection: Selection, frame: Any) -> list[Block]:
    return [block for batch in _batches_of(frame) for block in selection.blocks(batch)]
