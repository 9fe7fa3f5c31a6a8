"""A table is anything that can fold its blocks into one small summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews.tables.checkpoint import ALL, Checkpoint

Rows = Any  # (rows, D) ndarray or CSR matrix


class Block(NamedTuple):
    """Some rows of a table, in any order and of any number."""

    X: Rows
    Y: np.ndarray | None  # (rows, targets) labels as the user gave them; None: no label at all
    weight: np.ndarray | None  # (rows,) positive; None: all rows count once


class Summary(Protocol):
    """What a block becomes: small, and able to absorb the summary of other rows."""

    def merge(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Summary)
R = TypeVar("R")


class Table(Protocol):
    """All that a fit needs: apply ``summarise`` to each block and merge what comes out."""

    def fold(self, summarise: Callable[[Block], S]) -> S: ...


class SourceTable(Table, Protocol):
    """What an engine opens: ``fold`` for fits, ``map_blocks`` for predictions."""

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the rows."""
        ...


def merge_all(summaries: Iterable[S]) -> S | None:
    """One after the other; None if there are none."""
    merged: S | None = None
    for summary in summaries:
        merged = summary if merged is None else merged.merge(summary)
    return merged


class BlockTable(ABC):
    """A table that this process reads piece by piece, on as many threads as BLAS would take."""

    n_threads: int | None = None
    progress: bool = False
    checkpoint: Checkpoint | None = None

    @abstractmethod
    def pieces(self) -> Iterator[Any]:
        """Parts that a thread can read by itself; the same in the same order on every call."""

    @abstractmethod
    def blocks(self, piece: Any) -> Iterator[Block]:
        """The rows of a piece, each exactly once."""

    def count(self) -> int | None:
        """The number of rows, where it is known without reading them."""
        return None

    def steady(self) -> AbstractContextManager[None]:
        """Around a pass over the rows: an error if they change meanwhile."""
        return nullcontext()

    def fold(self, summarise: Callable[[Block], S]) -> S:
        merged: S | None = None
        done = 0
        if self.checkpoint is not None and (state := self.checkpoint.next_fold()) is not None:
            done, merged = state
            if done == ALL:
                return refuse_nothing(merged)
        with one_blas_thread():
            for summary in self._map_pieces(lambda blocks: merge_all(map(summarise, blocks)), done):
                done += 1
                if summary is not None:
                    merged = summary if merged is None else merged.merge(summary)
                if self.checkpoint is not None and merged is not None:
                    self.checkpoint.save(done, merged)  # type: ignore[arg-type]
        if self.checkpoint is not None and merged is not None:
            self.checkpoint.save(done, merged, complete=True)  # type: ignore[arg-type]
        return refuse_nothing(merged)

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the rows."""
        for results in self._map_pieces(lambda blocks: list(map(function, blocks))):
            yield from results

    def _map_pieces(self, function: Callable[[Iterator[Block]], R], start: int = 0) -> Iterator[R]:
        """The function's results for the blocks of each piece from ``start`` on, in their order.

        BLAS is held to one thread inside the function only: between two results the caller may do
        work of its own.
        """

        def apply(piece: Any) -> tuple[int, R]:
            n_rows = 0

            def counted() -> Iterator[Block]:
                nonlocal n_rows
                for block in self.blocks(piece):
                    n_rows += block.X.shape[0]
                    yield block

            with one_blas_thread(look=False):
                result = function(counted())
            return n_rows, result

        with one_blas_thread() as allowed:
            threads = self.n_threads or allowed
        total = self.count() if self.progress else None
        with self.steady(), progress_bar(total, self.progress) as bar:
            pieces = islice(self.pieces(), start, None)
            for n_rows, result in map_in_order(apply, pieces, threads):
                yield result
                bar.update(n_rows)


def refuse_nothing(merged: S | None) -> S:
    if merged is None:
        raise ValueError("The table has no rows. Check the path, or the filter that made it.")
    return merged


class StackedTable:
    """Tables of any engines, one under the other."""

    def __init__(self, *tables: Table) -> None:
        self.tables = tables

    def fold(self, summarise: Callable[[Block], S]) -> S:
        merged = merge_all(table.fold(summarise) for table in self.tables)
        return refuse_nothing(merged)
