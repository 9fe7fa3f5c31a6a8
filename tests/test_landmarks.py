import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.stats import kstest

from twinviews.landmarks import RowSample, row_priorities


def sample_of(X, size, seed=0):
    return RowSample.of(X, row_priorities(X, seed), size)


def test_priorities_are_uniform():
    X = np.arange(20_000.0).reshape(-1, 1)  # as regular as rows can be
    share = row_priorities(X, seed=3) / 2.0**64
    assert kstest(share, "uniform").pvalue > 1e-3
    for bit in range(64):  # every bit is a fair coin
        ones = ((row_priorities(X, seed=3) >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(ones - 0.5) < 5 * 0.5 / np.sqrt(len(X))


def test_every_row_is_chosen_equally_often():
    X = np.arange(50.0).reshape(-1, 1)
    counts = np.zeros(50)
    for seed in range(2000):
        counts[sample_of(X, 10, seed).rows[:, 0].astype(int)] += 1
    expected, variance = 2000 * 0.2, 2000 * 0.2 * 0.8
    chi_squared = (np.square(counts - expected) / variance).sum()
    assert chi_squared < 49 + 5 * np.sqrt(2 * 49)


@pytest.mark.slow
def test_no_two_distinct_rows_share_a_priority():
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.array([-1.0, 0.0, 1.0, 2.0])] * 8), -1).reshape(-1, 8)
    signs = np.where(rng.random((200_000, 40)) < 0.5, -1.0, 1.0)
    numbers = rng.integers(0, 50, size=(50_000, 4)).astype(float)
    for X in (grid, signs, 1 + signs, numbers, rng.normal(size=(100_000, 2))):
        distinct = np.unique(X, axis=0)
        assert len(np.unique(row_priorities(distinct, 0))) == len(distinct)


def test_priority_depends_on_values_only():
    X = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 0.25]])
    expected = row_priorities(X, 5)
    assert_array_equal(row_priorities(X.astype(np.float32), 5), expected)
    assert_array_equal(row_priorities(sparse.csr_array(X), 5), expected)
    assert_array_equal(row_priorities(np.asfortranarray(X), 5), expected)
    assert_array_equal(row_priorities(np.where(X == 0, -0.0, X), 5), expected)
    assert_array_equal(row_priorities(X[::-1], 5), expected[::-1])
    assert not np.array_equal(row_priorities(X, 6), expected)


@given(seed=st.integers(0, 2**31 - 1), cuts=st.lists(st.integers(1, 299), max_size=6))
@settings(max_examples=30, deadline=None)
def test_parts_merge_into_the_whole_in_any_order(seed, cuts):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(300, 3)).astype(float)  # many duplicates
    whole = sample_of(X, 40)
    parts = np.split(X[rng.permutation(300)], sorted(set(cuts)))
    merged = sample_of(parts[0], 40)
    for part in parts[1:]:
        merged = merged.merge(sample_of(part, 40))
    assert_array_equal(merged.rows, whole.rows)
    assert len(np.unique(merged.rows, axis=0)) == len(merged.rows)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_sample_is_never_larger_than_the_distinct_rows(size):
    X = np.repeat(np.arange(7.0), 100).reshape(-1, 1)
    assert len(sample_of(X, size).rows) == min(size, 7)
