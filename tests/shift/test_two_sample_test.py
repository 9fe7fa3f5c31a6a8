"""The test of two samples: exact under random assignments, blind to scales, true to its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

from twinviews.shift.two_sample_test import (
    centred_assignments,
    classifiers_of,
    compare_samples,
    held_out_difference,
    rank_scores,
)


def normal_rows(rng, P):
    return rng.normal(size=(P, 3))


def few_levels(rng, P):
    return rng.integers(0, 3, size=(P, 3)).astype(float)


def one_rare_level(rng, P):
    return (rng.random((P, 1)) < 0.02).astype(float)


def first(P, n):
    return np.arange(P) < n


@pytest.mark.parametrize("rows", [normal_rows, few_levels, one_rare_level])
def test_p_values_of_random_assignments_are_uniform_or_larger(rows):
    rng = np.random.default_rng(0)
    p = [compare_samples(rows(rng, 90), first(90, 30), permutations=39).p_value for _ in range(300)]
    for bound in (0.05, 0.1, 0.5):
        assert np.sum(np.array(p) <= bound) <= binom.ppf(0.999, len(p), bound)


def test_a_difference_in_one_column_is_found_and_the_column_named():
    rng = np.random.default_rng(0)
    X, is_first = rng.normal(size=(600, 8)), first(600, 100)
    X[is_first, 5] += 0.8
    found = compare_samples(X, is_first)
    assert found.p_value <= 0.01
    assert_array_equal(np.flatnonzero(found.column_p_values <= 0.05), [5])


def test_a_difference_that_no_column_shows_is_found():
    rng = np.random.default_rng(0)
    X, is_first = rng.normal(size=(800, 2)), first(800, 200)
    X[is_first, 1] = np.where(rng.random(200) < 0.9, 1, -1) * X[is_first, 0]
    found = compare_samples(X, is_first)
    assert found.p_value <= 0.01
    assert found.column_p_values.min() > 0.01


@pytest.mark.parametrize("inside", [True, False])
def test_a_difference_of_spread_is_found(inside):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    is_inside = np.abs(X[:, 1]) < 0.7
    chosen = np.concatenate([X[is_inside == inside][:150], rng.normal(size=(1000, 3))])
    found = compare_samples(chosen, first(1150, 150))
    assert found.p_value <= 0.01
    assert found.column_p_values[1] <= 0.01
    assert found.column_statistics.argmax() == 1


def test_neither_order_nor_scale_of_columns_matters():
    rng = np.random.default_rng(0)
    X, is_first = few_levels(rng, 200) + rng.normal(size=(200, 3)), first(200, 60)
    X[is_first, 0] += 0.4
    there = compare_samples(X, is_first)
    turned = compare_samples(X[:, [2, 0, 1]], is_first)
    scaled = compare_samples(np.column_stack([np.exp(X[:, 0]), 1e9 * X[:, 1], X[:, 2] ** 3]), is_first)
    assert turned.p_value == scaled.p_value == there.p_value
    assert_allclose(turned.column_p_values, there.column_p_values[[2, 0, 1]])
    assert_allclose(scaled.column_p_values, there.column_p_values)


def test_held_out_predictions_are_those_of_fits_without_each_row():
    """Brute force: every assignment, every row, a ridge regression with an intercept."""
    rng = np.random.default_rng(0)
    P = 30
    T = centred_assignments(first(P, 9), 5)
    for classifier in classifiers_of(rank_scores(rng.normal(size=(P, 2)))):
        variances = np.square(classifier.Z).mean(axis=0)
        penalty = 1 / classifier.shrunk - P * variances
        A = np.column_stack([np.ones(P), classifier.Z])
        R = np.diag(np.concatenate([[0.0], penalty]))
        predicted = np.empty_like(T)
        for i in range(P):
            rest = np.arange(P) != i
            beta = np.linalg.solve(A[rest].T @ A[rest] + R, A[rest].T @ T[rest])
            predicted[i] = A[i] @ beta
        assert_allclose(classifier.left_out(T), predicted, atol=1e-10)
        assert_allclose(held_out_difference(classifier, T), (T * predicted).sum(axis=0), atol=1e-10)


def test_assignments_keep_the_sizes_and_begin_with_the_true_one():
    is_first = np.random.default_rng(0).random(50) < 0.3
    T = centred_assignments(is_first, 20)
    assert_allclose(T.sum(axis=0), 0, atol=1e-12)
    assert_array_equal(T[:, 0] > 0, is_first)
    assert_array_equal((T > 0).sum(axis=0), is_first.sum())


def test_equal_rows_do_not_differ():
    found = compare_samples(np.ones((60, 2)), first(60, 20))
    assert found.p_value == 1
    assert_array_equal(found.column_p_values, 1)
    assert np.isfinite(found.column_statistics).all()
