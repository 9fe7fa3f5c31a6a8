"""Dask arrays and data frames: a tree of merges on whatever scheduler or cluster the user has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
from dask import annotate, compute, delayed

from twinviews._system.threads import one_blas_thread
from twinviews.tables.arrays import ArrayTable
from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing
from twinviews.tables.double_precision import refuse_too_large
from twinviews.tables.engines import Wanted

S = TypeVar("S", bound=Summary)
R = TypeVar("R")
BlocksOf = Callable[[Any], Sequence[Block]]

_RETRIES = 3
# Partitions whose results come to the client at once.
_AT_ONCE = 8


class DaskTable:
    """Partitions, each delayed; none of them comes to the client.

    Parameters
    ----------
    partitions : sequence of Delayed
    blocks_of : callable
        From the content of a partition to its blocks.
    """

    def __init__(self, partitions: Sequence[Any], blocks_of: BlocksOf) -> None:
        self.partitions, self.blocks_of = partitions, blocks_of

    def fold(self, summarise: Callable[[Block], S]) -> S:
        # Losses are made good by the scheduler itself; a task that raises is tried again like one.
        with annotate(retries=_RETRIES):
            (merged,) = compute(self._tree(summarise))
        return refuse_nothing(merged)

    def _tree(self, summarise: Callable[[Block], S]) -> Any:
        level = [
            delayed(_summarise_partition)(partition, self.blocks_of, summarise)
            for partition in self.partitions
        ]
        while len(level) > 1:
            level = [delayed(_merge_pair)(*level[i : i + 2]) for i in range(0, len(level), 2)]
        return level[0]

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the rows."""
        for start in range(0, len(self.partitions), _AT_ONCE):
            mapped = [
                delayed(_map_partition)(partition, self.blocks_of, function)
                for partition in self.partitions[start : start + _AT_ONCE]
            ]
            with annotate(retries=_RETRIES):
                some = compute(*mapped)
            for results in some:
                yield from results


def _summarise_partition(
    partition: Any, blocks_of: BlocksOf, summarise: Callable[[Block], S]
) -> S | None:
    parts = [block for block in blocks_of(partition) if block.X.shape[0]]
    # A worker has threads of its own, so a partition is worked on by one.
    return ArrayTable(*parts, n_threads=1).fold(summarise) if parts else None


def _merge_pair(first: S | None, second: S | None = None) -> S | None:
    return merge_all(summary for summary in (first, second) if summary is not None)


def _map_partition(partition: Any, blocks_of: BlocksOf, function: Callable[[Block], R]) -> list[R]:
    with one_blas_thread():
        return [function(block) for block in blocks_of(partition) if block.X.shape[0]]


# --- rows and labels, as fit takes them -------------------------------------------------------------


def rows_table(X: Any, y: Any) -> tuple[DaskTable, Selection | None, int]:
    """Rows with their labels as a table, the selection of a frame's columns, and their number.

    Columns of a data frame are what ``fit_table`` takes them for; an array has numbers only.
    """
    if hasattr(X, "columns"):
        selection = Selection.of(_schema_of(X), Wanted(raw=None))
        lengths = tuple(X.map_partitions(len).compute())
        rows, width = X.to_delayed(), len(selection.columns)
        read: Callable[[Any], list[Block]] = _BlocksOfFrame(selection)
    else:
        X = _with_known_sizes(X).rechunk({1: -1})
        selection, lengths = None, X.chunks[0]
        rows, width, read = X.to_delayed().ravel(), X.shape[1], _checked_block
    labels = [None] * len(rows) if y is None else _labels_in_parts(y, lengths)
    pairs = [delayed(_as_pair)(x, part) for x, part in zip(rows, labels, strict=True)]
    return DaskTable(pairs, _BlocksWithLabels(read)), selection, width


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


def _as_pair(X: Any, y: Any) -> tuple[Any, Any]:
    return X, y


class _BlocksWithLabels:
    def __init__(self, read: BlocksOf) -> None:
        self.read = read

    def __call__(self, pair: tuple[Any, Any]) -> list[Block]:
        rows, labels = pair
        blocks = self.read(rows)
        if labels is None:
            return list(blocks)
        Y = np.asarray(labels).reshape(len(rows), -1)
        ends = np.cumsum([block.X.shape[0] for block in blocks])[:-1]
        return [block._replace(Y=part) for block, part in zip(blocks, np.split(Y, ends), strict=True)]


def _checked_block(X: Any) -> list[Block]:
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X holds values of type {X.dtype}, and inputs must be numbers. Leave those columns out."
        )
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity. Fill those values or drop their rows.")
    refuse_too_large("X", X, "Divide it by a number.")
    return [Block(X, None, None)]


# --- data frames, as fit_table and predict_table take them ------------------------------------------


class DaskFrameTable(DaskTable):
    """A Dask data frame, of which some columns are wanted."""

    def __init__(self, frame: Any, selection: Selection) -> None:
        super().__init__(frame[selection.names].to_delayed(), _BlocksOfFrame(selection))
        self.frame, self.names = frame, selection.names

    def with_columns(self, function: Callable[[pa.RecordBatch], pa.Table], added: pa.Schema) -> Any:
        """A Dask frame with all columns of this one and those that the function makes of its rows."""
        kinds = added.empty_table().to_pandas()
        index = self.frame._meta.index
        meta = pd.concat([self.frame._meta, kinds.set_index(index[:0])], axis=1)
        add = _PartitionWithColumns(function, self.names)
        return self.frame.map_partitions(add, meta=meta)


class _PartitionWithColumns:
    """A partition -> the same with more columns."""

    def __init__(self, function: Callable[[pa.RecordBatch], pa.Table], names: Sequence[str]) -> None:
        self.function, self.names = function, list(names)

    def __call__(self, frame: Any) -> Any:
        if len(frame) == 0:  # as Dask tries functions out, with a frame of no rows
            return frame
        with one_blas_thread():
            made = [self.function(batch) for batch in _batches_of(frame[self.names])]
        return pd.concat([frame, pa.concat_tables(made).to_pandas().set_index(frame.index)], axis=1)


def frame_table(frame: Any, wanted: Wanted) -> tuple[DaskTable, Selection]:
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


class _BlocksOfFrame:
    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def __call__(self, frame: Any) -> list[Block]:
        return [block for batch in _batches_of(frame) for block in self.selection.blocks(batch)]
