import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kstest

from twinviews.method.landmarks import AllDistinctRows, RowSample, row_priorities


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


def split_mix(h):
    """The output function of SplitMix64, in whole numbers of any size."""
    h = (h + 0x9E3779B97F4A7C15) % 2**64
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) % 2**64
    return h ^ (h >> 31)


def test_priorities_are_the_same_on_every_machine_and_for_ever():
    """A saved model and its table would part otherwise."""
    X = np.array([[0.0, -1.5, 3.0], [1e-300, 2.0, 0.1], [0.0, 0.0, 0.0]])
    expected = []
    for row in X:
        total = 0
        for column, value in enumerate(row):
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
            for factor in (0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9):
                bits = bits * factor % 2**64
                bits ^= bits >> 32
            total += bits * (split_mix(column) | 1)
        expected.append(split_mix(total % 2**64 ^ split_mix(7)))
    assert row_priorities(X, 7).tolist() == expected
    assert row_priorities(sparse.csr_array(X), 7).tolist() == expected


@pytest.mark.parametrize("copies", [1, 30])
@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_sample_holds_the_rows_of_smallest_priority(kind, size, copies):
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 2)), copies, axis=0)
    sample = RowSample.of(kind(X), row_priorities(X, 1), size)
    distinct, first = np.unique(row_priorities(X, 1), return_index=True)
    assert_array_equal(sample.priorities, distinct[:size])
    assert_array_equal(
        sample.rows.toarray() if kind is sparse.csr_array else sample.rows, X[first[:size]]
    )


def test_sparse_and_dense_samples_merge():
    X = np.random.default_rng(0).normal(size=(30, 2))
    dense, thin = sample_of(X[:15], 10), sample_of(sparse.csr_array(X[15:]), 10)
    assert_array_equal(dense.merge(thin).rows.toarray(), sample_of(X, 10).rows)
    assert dense.merge(thin).rows.format == "csr"
    assert_array_equal(thin.merge(dense).priorities, sample_of(X, 10).priorities)


def test_a_full_sample_stays_where_nothing_smaller_comes():
    X = np.arange(40.0).reshape(-1, 1)
    whole = sample_of(X, 5)
    later = X[row_priorities(X, 0) > whole.priorities[-1]]
    assert whole.merge(sample_of(later, 5)) is whole
    assert_array_equal(whole.merge(whole).rows, whole.rows)


def test_distinct_rows_carry_the_weight_of_their_copies():
    one = AllDistinctRows.of(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]))
    other = AllDistinctRows.of(np.array([[2.0], [3.0], [2.0]]), None)
    X, share = one.merge(other).distinct()
    order = np.argsort(X[:, 0])
    assert_array_equal(X[order], [[1], [2], [3]])
    assert_allclose(share[order], np.array([1, 4, 1]) / 6)
    assert_array_equal(one.merge(other).distinct()[0], other.merge(one).distinct()[0])
