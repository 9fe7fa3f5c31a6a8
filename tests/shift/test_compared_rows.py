"""Which rows are compared: all that count, each as often as it is there, in an order of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from twinviews.method.landmarks import RowSample, row_priorities
from twinviews.shift.compared_rows import compared_rows
from twinviews.shift.two_sample_test import compare_samples


def compared(X, labeled, *, size=2048, seed=0, kind=np.asarray):
    sample = RowSample.of(kind(X), row_priorities(X, seed), size)
    return compared_rows(sample, kind(X[labeled]), len(X), seed)


def in_order(X):
    return X[np.lexsort(X.T)]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_every_row_of_a_small_table_is_there_as_often_as_in_the_table(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(300, 2)).astype(float)
    labeled = rng.permutation(300)[:60]
    rows = compared(X, labeled, kind=kind)
    assert_array_equal(in_order(rows.X[rows.is_labeled]), in_order(X[labeled]))
    assert_array_equal(in_order(rows.X[~rows.is_labeled]), in_order(np.delete(X, labeled, axis=0)))
    assert rows.inflation == 1
    assert_allclose(rows.weight, 1)


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, turn = rng.integers(0, 9, size=(400, 3)).astype(float), rng.permutation(400)
    labeled = np.arange(400) % 4 == 0
    there, turned = compared(X, labeled), compared(X[turn], labeled[turn])
    assert_array_equal(there.X, turned.X)
    p_values = [compare_samples(one.X, one.is_labeled).p_value for one in (there, turned)]
    assert p_values[0] == p_values[1]


def test_of_many_rows_some_are_taken_evenly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 1))
    rows = compared(X, np.arange(3000), size=4096)
    assert (rows.is_labeled.sum(), (~rows.is_labeled).sum()) == (1000, 2000)
    assert_allclose(rows.weight.sum(), 9000)
    assert_allclose(np.average(rows.X[:, 0], weights=rows.weight), 0, atol=0.1)


def test_labeled_rows_are_not_among_the_others():
    X = np.arange(200.0).reshape(-1, 1)
    rows = compared(X, np.arange(0, 200, 4))
    ours = rows.X[rows.is_labeled, 0]
    assert not np.isin(rows.X[~rows.is_labeled, 0], ours).any()
    assert len(ours) == 50


def test_copies_that_are_labeled_together_count_once():
    """Otherwise a row of the one sample would find its own copies there, and never in the other."""
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(200, 3)), np.arange(200) % 5 == 0
    once, often = compared(X, labeled), compared(np.repeat(X, 4, axis=0), np.repeat(labeled, 4))
    assert_array_equal(often.X, once.X)
    assert_array_equal(often.is_labeled, once.is_labeled)
    assert often.n_labeled == 4 * once.n_labeled


def test_of_a_table_with_most_rows_labeled_copies_count_as_rows():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(150, 2)), 2, axis=0)
    rows = compared(X, rng.permutation(300)[:240])
    assert rows.is_labeled.sum() == 240


def test_copies_chosen_together_inflate_variances():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(900, 2)), 20, axis=0)
    assert compared(X, rng.permutation(len(X))[:100], size=100).inflation > 1.5
    assert compared(X[::20], rng.permutation(900)[:100], size=100).inflation == 1


@pytest.mark.parametrize(("n_rows", "n_labeled"), [(300, 9), (300, 295)])
def test_too_few_rows_of_a_kind_are_not_compared(n_rows, n_labeled):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    assert compared(X, np.arange(n_labeled)) is None


def test_false_alarms_of_a_large_table_with_copies_are_few():
    """Neither all distinct rows are in the sample, nor is every row another one."""
    rng = np.random.default_rng(0)
    kinds = np.column_stack([rng.normal(size=(1500, 2)), np.ones(1500)])
    X = kinds[(1500 * rng.random(6000) ** 3).astype(int)]
    alarms = 0
    for seed in range(60):
        rows = compared(X, rng.permutation(6000)[:100], size=200, seed=seed)
        found = compare_samples(rows.X, rows.is_labeled, permutations=39, inflation=rows.inflation)
        alarms += found.p_value <= 0.05
    assert alarms <= 8  # 3 are to be expected
