"""Rows that are already in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from twinviews.tables.base import Block, BlockTable, Rows

# A block of this many rows amortises the Python calls around it and still leaves its kernel values
# (4,096 x 400 doubles) in the outer cache; measured in benchmarks/fit_speed.py. Wide tables take fewer
# rows, so that one block of inputs stays near 16 MB.
_BLOCK_ROWS = 4096
_BLOCK_VALUES = 2_000_000


def rows_per_block(X: Rows) -> int:
    """How many rows of X make a block."""
    per_row = X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1]
    return max(64, min(_BLOCK_ROWS, int(_BLOCK_VALUES / max(per_row, 1))))


class ArrayTable(BlockTable):
    """One or several arrays, one under the other.

    Parameters
    ----------
    *parts : Block
        Whole arrays; a part without ``Y`` is unlabeled.
    block_rows : int, optional
        Rows of a block. It changes speed and nothing else, but for the randomised sketch, which is
        drawn block by block.
    n_threads : int, optional
        How many threads work on blocks; by default as many as BLAS may use.
    progress : bool
        Whether a pass of more than two seconds shows a bar on a terminal.
    """

    def __init__(
        self,
        *parts: Block,
        block_rows: int | None = None,
        n_threads: int | None = None,
        progress: bool = False,
    ) -> None:
        self.parts = parts
        self.block_rows = block_rows or rows_per_block(parts[0].X)
        self.n_threads = n_threads
        self.progress = progress

    def pieces(self) -> Iterator[Block]:
        for X, Y, weight in self.parts:
            for start in range(0, X.shape[0], self.block_rows):
                rows = slice(start, start + self.block_rows)
                yield Block(X[rows], _rows_of(Y, rows), _rows_of(weight, rows))

    def blocks(self, piece: Block) -> Iterator[Block]:
        yield piece

    def count(self) -> int:
        return sum(part.X.shape[0] for part in self.parts)


def _rows_of(values: np.ndarray | None, rows: slice) -> np.ndarray | None:
    return None if values is None else values[rows]
