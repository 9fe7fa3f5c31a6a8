"""Dask arrays and data frames: a tree of merges on whatever scheduler or cluster the user has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from dask import annotate, compute, delayed

from twinviews.tables.arrays import ArrayTable
from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing
from twinviews.tables.double_precision import refuse_too_large

S = TypeVar("S", bound=Summary)

_RETRIES = 3


class DaskTable:
    """Partitions, each a delayed ``Block`` or frame; none of them comes to the client."""

    def __init__(self, partitions: Sequence[Any], blocks_of: Callable[[Any], Sequence[Block]]) -> None:
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


def _summarise_partition(
    partition: Any, blocks_of: Callable[[Any], Sequence[Block]], summarise: Callable[[Block], S]
) -> S | None:
    parts = [block for block in blocks_of(partition) if block.X.shape[0]]
    # A worker has threads of its own, so a partition is worked on by one.
    return ArrayTable(*parts, n_threads=1).fold(summarise) if parts else None


def _merge_pair(first: S | None, second: S | None = None) -> S | None:
    return merge_all(summary for summary in (first, second) if summary is not None)


def dask_table(X: Any, y: Any) -> tuple[DaskTable, list[str] | None, int]:
    """A Dask array or frame of rows with its labels, the names of its columns, and their number."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = [str(name) for name in X.columns]
        X = X.to_dask_array(lengths=True)
    X = X.rechunk({1: -1})
    rows = X.to_delayed().ravel()
    if y is None:
        labels: Sequence[Any] = [None] * len(rows)
    else:
        if hasattr(y, "to_dask_array"):
            y = y.to_dask_array(lengths=True)
        if y.shape[0] != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows "
                f"and y {y.shape[0]}."
            )
        labels = y.rechunk({0: X.chunks[0], **({1: -1} if y.ndim == 2 else {})}).to_delayed().ravel()
    blocks = [delayed(_as_block)(x, part) for x, part in zip(rows, labels, strict=True)]
    return DaskTable(blocks, _one_block), names, X.shape[1]


def _as_block(X: np.ndarray, y: np.ndarray | None) -> Block:
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X holds values of type {X.dtype}, and inputs must be numbers. Leave those columns out."
        )
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity. Fill those values or drop their rows.")
    refuse_too_large("X", X, "Divide it by a number.")
    return Block(X, None if y is None else np.asarray(y).reshape(len(X), -1), None)


def _one_block(block: Block) -> list[Block]:
    return [block]


def frame_table(
    frame: Any,
    columns: Sequence[str] | None,
    targets: Sequence[str],
    weight: str | None,
    *,
    raw: bool | None,
) -> tuple[DaskTable, Selection]:
    """A Dask data frame, and which of its columns are what."""
    schema = pa.Schema.from_pandas(frame._meta_nonempty, preserve_index=False)
    selection = Selection(schema, columns, targets, weight, raw=raw)
    return DaskTable(frame[selection.names].to_delayed(), _BlocksOfFrame(selection)), selection


class _BlocksOfFrame:
    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def __call__(self, frame: Any) -> list[Block]:
        batches = pa.Table.from_pandas(frame, preserve_index=False).combine_chunks().to_batches()
        return [block for batch in batches for block in self.selection.blocks(batch)]
