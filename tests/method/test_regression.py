import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, Ridge

from twinviews.method.regression import (
    LabeledBlock,
    labeled_factor,
    leave_one_out,
    nested_leave_one_out,
    penalised_ridge,
    ridge_path_errors,
    solve_ridge,
)


def problem(seed, n, p, t=2, equal=True):
    rng = np.random.default_rng(seed)
    weight = np.full(n, 1 / n) if equal else rng.dirichlet(np.ones(n))
    return rng.normal(size=(n, p)) + 1, rng.normal(size=(n, t)) - 2, weight


def solve(Z, Y, weight, penalty, intercept):
    return penalised_ridge(labeled_factor([(Z, Y, weight)], intercept=intercept), penalty)


def left_out(Z, Y, weight, penalty, intercept):
    factor = labeled_factor([(Z, Y, weight)], intercept=intercept)
    return leave_one_out(factor, penalty, [(Z, Y, weight)])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(30, 5), (8, 20)])
def test_equal_penalties_are_ridge_regression(n, p, intercept):
    Z, Y, weight = problem(0, n, p, equal=False)
    fit = solve(Z, Y, weight, np.full(p, 0.3), intercept)
    theirs = Ridge(alpha=0.3, fit_intercept=intercept).fit(Z, Y, sample_weight=weight)
    assert_allclose(fit.coef, theirs.coef_.T, rtol=1e-9, atol=1e-12)
    assert_allclose(fit.intercept, theirs.intercept_ if intercept else np.zeros(2), atol=1e-10)


def test_unequal_penalties_solve_the_normal_equations():
    Z, Y, weight = problem(1, 30, 5)
    penalty = np.array([0, 1e-3, 1, 10, 1e6])
    coef, _ = solve(Z, Y, weight, penalty, intercept=False)
    gradient = Z.T @ (weight[:, None] * (Z @ coef - Y)) + penalty[:, None] * coef
    assert_allclose(gradient, 0, atol=1e-12)


def test_without_penalty_it_is_least_squares_of_least_norm():
    Z, Y, weight = problem(2, 6, 15)
    assert_allclose(
        solve(Z, Y, weight, np.zeros(15), intercept=False).coef,
        np.linalg.lstsq(Z, Y, rcond=None)[0],
        atol=1e-10,
    )


@given(cuts=st.lists(st.integers(1, 49), max_size=4), intercept=st.booleans())
@settings(max_examples=30, deadline=None)
def test_blocks_do_not_change_the_solution(cuts, intercept):
    Z, Y, weight = problem(3, 50, 4, equal=False)
    at = sorted(set(cuts))
    blocks = list(zip(np.split(Z, at), np.split(Y, at), np.split(weight, at), strict=True))
    whole = solve(Z, Y, weight, np.full(4, 0.1), intercept)
    parts = penalised_ridge(labeled_factor(blocks, intercept=intercept), np.full(4, 0.1))
    assert_allclose(parts.coef, whole.coef, rtol=1e-10)
    assert_allclose(parts.intercept, whole.intercept, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(25, 4), (12, 30)])
def test_leave_one_out_equals_brute_force(n, p, intercept):
    Z, Y, weight = problem(4, n, p)
    penalty = np.random.default_rng(0).uniform(0.01, 2, p)
    brute = np.empty_like(Y)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        fit = solve(Z[rest], Y[rest], np.full(n - 1, 1 / (n - 1)), penalty, intercept)
        brute[i] = Z[i] @ fit.coef + fit.intercept
    assert_allclose(left_out(Z, Y, weight, penalty, intercept), brute, rtol=1e-8, atol=1e-8)


def test_leave_one_out_with_weights_keeps_the_sum_of_the_penalty():
    """The left-out row is counted at the mean weight in the factor on the penalty."""
    Z, Y, weight = problem(5, 20, 6, equal=False)
    penalty = np.full(6, 0.2)
    brute = np.empty_like(Y)
    for i in range(20):
        rest = np.delete(np.arange(20), i)
        total = weight[rest].sum()
        fit = solve(Z[rest], Y[rest], weight[rest] / total, penalty * 0.95 / total, intercept=True)
        brute[i] = Z[i] @ fit.coef + fit.intercept
    assert_allclose(left_out(Z, Y, weight, penalty, True), brute, rtol=1e-8, atol=1e-8)


@given(
    n=st.integers(2, 40),
    p=st.integers(1, 40),
    least=st.sampled_from([0.0, 1e-12, 1e-7, 1e-5, 1e-2, 1.0]),
    equal=st.booleans(),
    intercept=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_the_fast_solution_is_the_careful_one(n, p, least, equal, intercept):
    Z, Y, weight = problem(8, n, p, equal=equal)
    penalty = least * 10.0 ** np.linspace(0, 4, p)
    block = LabeledBlock(Z, Y, weight)
    fit, predicted = solve_ridge(lambda: iter([block]), penalty, n=n, intercept=intercept)
    careful = solve(Z, Y, weight, penalty, intercept)
    assert_allclose(fit.coef, careful.coef, rtol=1e-8, atol=1e-9)
    assert_allclose(fit.intercept, careful.intercept, rtol=1e-8, atol=1e-9)
    assert_allclose(predicted, left_out(Z, Y, weight, penalty, intercept), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_labels_in_blocks_give_the_solution_of_all_at_once(cut):
    Z, Y, weight = problem(9, 30, 6)
    penalty = np.full(6, 0.1)
    block = LabeledBlock(Z, Y, weight)
    at_once, predicted = solve_ridge(lambda: iter([block]), penalty, n=30, intercept=True)

    def blocks():
        for start in range(0, 30, cut):
            rows = slice(start, start + cut)
            yield LabeledBlock(Z[rows], Y[rows], weight[rows])

    parts, in_parts = solve_ridge(blocks, penalty, n=30, intercept=True)
    assert_allclose(parts.coef, at_once.coef, rtol=1e-9)
    assert_allclose(in_parts, predicted, rtol=1e-9)


def test_a_row_that_alone_determines_a_coefficient_cannot_be_left_out():
    Z = np.zeros((5, 2))
    Z[:, 0] = np.arange(5)
    Z[3, 1] = 1
    Y, weight = np.ones((5, 1)), np.full(5, 0.2)
    predictions = left_out(Z, Y, weight, np.zeros(2), intercept=True)
    assert np.isnan(predictions[3])
    assert not np.isnan(np.delete(predictions, 3)).any()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(40, 5), (10, 25)])
def test_the_path_gives_the_error_of_every_ridge(n, p, intercept):
    Z, Y, weight = problem(6, n, p, equal=False)
    base, ridges = np.linspace(0, 3, p), np.array([1e-3, 0.1, 2.0])
    path = ridge_path_errors(Z, Y, weight, base, ridges, intercept=intercept)
    for ridge, errors in zip(ridges, path, strict=True):
        predicted = left_out(Z, Y, weight, base + ridge, intercept)
        assert_allclose(errors, weight @ np.square(Y - predicted), rtol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_nested_leave_one_out_equals_brute_force_for_every_size(intercept):
    Z, Y, weight = problem(7, 20, 6)
    errors = nested_leave_one_out(Z, Y, weight, intercept=intercept)
    for s in range(1, 7):
        squares = []
        for i in range(20):
            rest = np.delete(np.arange(20), i)
            model = LinearRegression(fit_intercept=intercept).fit(Z[rest, :s], Y[rest])
            squares.append(np.square(Y[i] - model.predict(Z[[i], :s])[0]))
        assert_allclose(errors[s - 1], np.mean(squares, axis=0), rtol=1e-8)
