from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from twinviews.tables import ArrayTable, Block
from twinviews.tables.base import rows_per_block


@dataclass(frozen=True)
class Seen:
    """A summary that remembers everything, in order."""

    rows: tuple
    labels: tuple

    def merge(self, other):
        return Seen(self.rows + other.rows, self.labels + other.labels)


def seen(block):
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    Y = np.full((len(X), 1), -1.0) if block.Y is None else block.Y
    return Seen(tuple(X[:, 0]), tuple(Y[:, 0]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block_rows", [1, 7, 1000])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_row_is_seen_once_in_order(form, block_rows, n_threads):
    X = np.arange(50.0).reshape(-1, 1) + 1
    parts = Block(form(X[:30]), X[:30] * 2, None), Block(form(X[30:]), None, None)
    table = ArrayTable(*parts, n_threads=n_threads)
    table.block_rows = block_rows
    folded = table.fold(seen)
    assert_array_equal(folded.rows, X[:, 0])
    assert_array_equal(folded.labels[:30], 2 * X[:30, 0])
    assert set(folded.labels[30:]) == {-1.0}


def test_wide_tables_have_short_blocks():
    assert rows_per_block(np.empty((5, 20))) == 4096
    assert rows_per_block(np.empty((5, 10_000))) == 200
    assert rows_per_block(np.empty((0, 10**9))) == 64
    assert rows_per_block(sparse.csr_array((5, 10**6))) == 4096  # what is stored counts


def test_an_error_in_a_block_reaches_the_caller():
    def fail(block):
        raise RuntimeError("in a block")

    X = np.zeros((100, 1))
    table = ArrayTable(Block(X, None, None), n_threads=2)
    table.block_rows = 3
    with pytest.raises(RuntimeError, match="in a block"):
        table.fold(fail)
