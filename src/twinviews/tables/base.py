"""A table is anything that can fold its blocks into one small summary; here those of this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews.tables.checkpoint import ALL, Checkpoint, FoldState

Rows = Any  # (rows, D) ndarray, CSR matrix, or record batch of any types

# A block of this many rows amortises the Python calls around it and still leaves its kernel values
# (4,096 x 400 doubles) in the outer cache; measured in benchmarks/fit_speed.py. Wide tables take fewer
# rows, so that one block of inputs stays near 16 MB.
BLOCK_ROWS = 4096
_BLOCK_VALUES = 2_000_000


class Block(NamedTuple):
    """Some rows of a table, in any order and of any number."""

    X: Rows
    Y: np.ndarray | None  # (rows, targets) labels as the user gave them; None: no label at all
    weight: np.ndarray | None  # (rows,) positive; None: all rows count once
    # (rows,) with what probability a row was given a label; None: all with the same
    probability: np.ndarray | None = None
    # (rows,) the stratum of a row, as a hash: within one, labels were given at random
    stratum: np.ndarray | None = None
    # (rows,) the cluster of a row, as a hash: rows of one depend on each other
    cluster: np.ndarray | None = None


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


def merge_all(summaries: Iterable[S | None]) -> S | None:
    """One after the other; None, of no rows, is passed over."""
    merged: S | None = None
    for summary in summaries:
        if summary is not None:
            merged = summary if merged is None else merged.merge(summary)
    return merged


def summarise_blocks(summarise: Callable[[Block], S], blocks: Iterable[Block]) -> S | None:
    return merge_all(map(summarise, blocks))


class NoRowsError(ValueError):
    """A fold over nothing."""


def refuse_nothing(merged: S | None) -> S:
    if merged is None:
        raise NoRowsError("The table has no rows. Check the path, or the filter that made it.")
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
        notes = self.checkpoint
        done, merged = FoldState(0, None) if notes is None else notes.next_fold()
        if done == ALL:
            return refuse_nothing(merged)
        with one_blas_thread():
            for summary in self._map_pieces(partial(summarise_blocks, summarise), done):
                done, merged = done + 1, merge_all([merged, summary])
                if notes is not None:
                    notes.save(done, merged)
        if notes is not None:
            notes.save(done, merged, complete=True)
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


def rows_per_block(X: Rows) -> int:
    """How many rows of X make a block."""
    per_row = X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1]
    return max(64, min(BLOCK_ROWS, int(_BLOCK_VALUES / max(per_row, 1))))


class ArrayTable(BlockTable):
    """One or several arrays in memory, one under the other.

    Parameters
    ----------
    *parts : Block
        Whole arrays; a part without ``Y`` is unlabeled.
    n_threads : int, optional
        How many threads work on blocks; by default as many as BLAS may use.
    progress : bool
        Whether a pass of more than two seconds shows a bar on a terminal.
    """

    def __init__(self, *parts: Block, n_threads: int | None = None, progress: bool = False) -> None:
        self.parts, self.n_threads, self.progress = parts, n_threads, progress
        # It changes speed and nothing else, but for the randomised sketch, drawn block by block.
        self.block_rows = rows_per_block(parts[0].X)

    def pieces(self) -> Iterator[Block]:
        for part in self.parts:
            for start in range(0, part.X.shape[0], self.block_rows):
                rows = slice(start, start + self.block_rows)
                yield Block(*(None if values is None else values[rows] for values in part))

    def blocks(self, piece: Block) -> Iterator[Block]:
        yield piece

    def count(self) -> int:
        return sum(part.X.shape[0] for part in self.parts)


class StackedTable:
    """Tables of any engines, one under the other."""

    def __init__(self, *tables: Table) -> None:
        self.tables = tables

    def fold(self, summarise: Callable[[Block], S]) -> S:
        return refuse_nothing(merge_all(table.fold(summarise) for table in self.tables))


class MappedTable:
    """A table whose rows become other rows block by block, wherever the blocks are."""

    def __init__(self, table: Table, function: Callable[[Rows], Rows]) -> None:
        self.table, self.function = table, function

    def fold(self, summarise: Callable[[Block], S]) -> S:
        return self.table.fold(partial(_summarise_mapped, self.function, summarise))


class ChosenRows:
    """A table of which only some rows count, wherever the blocks are; ``choose`` says which."""

    def __init__(self, table: Table, choose: Callable[[Block], np.ndarray]) -> None:
        self.table, self.choose = table, choose

    def fold(self, summarise: Callable[[Block], S]) -> S:
        # Blocks without a chosen row have no summary, and merges pass over them.
        summarise_chosen = partial(_summarise_chosen, self.choose, summarise)
        return refuse_nothing(self.table.fold(summarise_chosen))  # type: ignore[type-var]


def _summarise_chosen(
    choose: Callable[[Block], np.ndarray], summarise: Callable[[Block], S], block: Block
) -> S | None:
    rows = np.flatnonzero(choose(block))
    if not len(rows):
        return None
    X = block.X.take(rows) if hasattr(block.X, "schema") else block.X[rows]
    return summarise(Block(X, *(None if part is None else part[rows] for part in block[1:])))


def _summarise_mapped(
    function: Callable[[Rows], Rows], summarise: Callable[[Block], S], block: Block
) -> S:
    return summarise(block._replace(X=function(block.X)))
