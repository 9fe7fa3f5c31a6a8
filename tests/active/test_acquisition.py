import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from twinviews.active.acquisition import best_of_handfuls, condition_on
from twinviews.method.uncertainty import PredictiveVariance

SHAPES = {"n": st.integers(1, 12), "p": st.integers(1, 8), "seed": st.integers(0, 10_000)}


class Fit:
    """Labeled features with weights and a penalty, and other rows."""

    def __init__(self, n, p, seed, rows=7):
        rng = np.random.default_rng(seed)
        self.Z, self.others = rng.normal(size=(n, p)), rng.normal(size=(rows, p))
        self.weight = rng.uniform(0.2, 3, n)
        self.weight *= n / self.weight.sum()
        self.penalty = 10 ** rng.uniform(-3, 1, p)

    def variance_of(self, intercept):
        return PredictiveVariance.of(self.Z, self.weight, self.penalty, intercept=intercept)

    def information(self, intercept):
        """Z^T W Z + n P, the constant without a penalty."""
        Z, penalty = self.Z, len(self.Z) * self.penalty
        if intercept:
            Z, penalty = with_constant(Z), np.append(0.0, penalty)
        return Z.T @ (self.weight[:, None] * Z) + np.diag(penalty)


def with_constant(Z):
    return np.column_stack([np.ones(len(Z)), Z])


def variances(information, Z):
    return (Z * np.linalg.solve(information, Z.T).T).sum(axis=1)


@pytest.mark.parametrize("intercept", [False, True])
@given(**SHAPES)
@settings(max_examples=60, deadline=None)
def test_variance_is_that_of_the_ridge_fit(intercept, n, p, seed):
    fit = Fit(n, p, seed)
    others = with_constant(fit.others) if intercept else fit.others
    expected = variances(fit.information(intercept), others)
    assert_allclose(fit.variance_of(intercept).variance(fit.others), expected, rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@given(**SHAPES)
@settings(max_examples=60, deadline=None)
def test_to_condition_on_a_row_is_to_fit_it_as_one_more_label(intercept, n, p, seed):
    fit = Fit(n, p, seed)
    T = fit.variance_of(intercept).directions(fit.others)
    conditioned = np.square(condition_on(T, T[0])).sum(axis=1)
    again = PredictiveVariance.of(
        np.vstack([fit.Z, fit.others[:1]]),
        np.append(fit.weight, 1.0),
        fit.penalty * n / (n + 1),  # the same sum
        intercept=intercept,
    )
    assert_allclose(conditioned, again.variance(fit.others), rtol=1e-9)


@given(**SHAPES)
@settings(max_examples=30, deadline=None)
def test_a_label_leaves_v_of_1_plus_v_where_it_is_and_no_more_elsewhere(n, p, seed):
    T = Fit(n, p, seed).variance_of(True).directions(Fit(n, p, seed).others)
    before = np.square(T).sum(axis=1)
    after = np.square(condition_on(T, T[3])).sum(axis=1)
    assert after[3] == pytest.approx(before[3] / (1 + before[3]), rel=1e-9)
    assert (after <= before * (1 + 1e-12)).all()
    assert_array_equal(condition_on(T, np.zeros(T.shape[1])), T)


@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-12, 1e-6, 1e6]))
@settings(max_examples=20, deadline=None)
def test_conditioning_does_not_lose_digits_at_any_scale(seed, scale):
    t = scale * np.random.default_rng(seed).normal(size=4)
    squared = t @ t
    assert condition_on(t[None], t)[0] @ t == pytest.approx(squared / np.sqrt(1 + squared), rel=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@given(n=st.integers(1, 6), p=st.integers(1, 9), rank=st.integers(0, 5), seed=st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_variance_without_labels_is_large_and_finite(intercept, n, p, rank, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    variance_of = PredictiveVariance.of(Z, np.ones(n), np.zeros(p), intercept=intercept)
    variance = variance_of.variance(np.vstack([Z, rng.normal(size=(4, p))]))
    assert np.isfinite(variance).all()
    # Labeled rows are held by themselves: their variance is their leverage.
    held = with_constant(Z) if intercept else Z
    assert_allclose(variance[:n], np.diag(held @ np.linalg.pinv(held, rcond=1e-6)), atol=1e-6)
    if min(n - intercept, rank) < p:  # some direction has no label
        assert (variance[n:] > 100 * variance[:n].max()).all()
    chosen, worth = best_of_handfuls(variance_of.directions(Z), np.ones(n), n, n, rng)
    assert sorted(chosen) == list(range(n))
    assert np.isfinite(worth).all()


def greedy(information, Z, uncertainty, k):
    """One after the other, by fits with the rows chosen so far."""
    before, chosen, worth = variances(information, Z), [], []
    for _ in range(k):
        values = uncertainty * variances(information, Z) / before
        values[chosen] = -np.inf
        chosen.append(int(values.argmax()))
        worth.append(values[chosen[-1]])
        information = information + np.outer(Z[chosen[-1]], Z[chosen[-1]])
    return chosen, worth


@given(**SHAPES, k=st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_the_best_of_all_rows_is_greedy(n, p, seed, k):
    fit = Fit(n, p, seed, rows=9)
    uncertainty = np.random.default_rng(seed + 1).uniform(0.1, 1, 9)
    T = fit.variance_of(False).directions(fit.others)
    chosen, worth = best_of_handfuls(T, uncertainty, k, 9, np.random.default_rng(0))
    expected, worth_expected = greedy(fit.information(False), fit.others, uncertainty, k)
    assert_array_equal(chosen, expected)
    assert_allclose(worth, worth_expected, rtol=1e-9)


@given(**SHAPES, k=st.integers(1, 30), handful=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_no_row_is_chosen_twice_and_seeds_repeat(n, p, seed, k, handful):
    fit = Fit(n, p, seed, rows=20)
    uncertainty = np.random.default_rng(seed).uniform(size=20)
    T = fit.variance_of(True).directions(fit.others)
    kept = T.copy()
    (chosen, worth), (again, _) = (
        best_of_handfuls(T, uncertainty, k, handful, np.random.default_rng(seed)) for _ in range(2)
    )
    assert len(np.unique(chosen)) == len(chosen) == len(worth) == min(k, 20)
    assert_array_equal(chosen, again)
    assert (worth <= uncertainty[chosen] * (1 + 1e-12)).all()
    assert_array_equal(T, kept)


def test_rows_like_one_that_is_chosen_are_worth_less():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 6))
    twin = Z[0] + 1e-3 * rng.normal(size=6)
    T = PredictiveVariance.of(Z[:1] * 0, np.ones(1), np.full(6, 1e-3), intercept=False).directions(
        np.vstack([Z, twin])
    )
    uncertainty = np.ones(13)
    uncertainty[[0, 12]] = 2.0, 1.9  # the two of which the model is least sure are the same
    chosen, worth = best_of_handfuls(T, uncertainty, 13, 13, rng)
    assert chosen[0] == 0
    assert chosen.tolist().index(12) > 4
    assert worth[chosen.tolist().index(12)] < 0.1


def test_a_handful_of_one_is_drawn_at_random():
    fit = Fit(5, 3, 0, rows=6)
    T, rng = fit.variance_of(True).directions(fit.others), np.random.default_rng(0)
    uncertainty = np.array([1e6, 1, 1, 1, 1, 1e-6])
    pairs = np.array([best_of_handfuls(T, uncertainty, 2, 1, rng)[0] for _ in range(3000)])
    counts = np.bincount(pairs[:, 0] * 6 + pairs[:, 1], minlength=36).reshape(6, 6)
    assert (np.diag(counts) == 0).all()
    assert chisquare(counts[~np.eye(6, dtype=bool)]).pvalue > 0.01


def test_a_row_is_chosen_at_most_handful_times_as_often_as_it_occurs():
    """The outlier of 100 rows is chosen in about 5 of 100 first choices."""
    T, uncertainty = np.random.default_rng(0).normal(size=(100, 3)), np.ones(100)
    uncertainty[7] = 1e9
    rng = np.random.default_rng(1)
    share = np.mean([best_of_handfuls(T, uncertainty, 1, 5, rng)[0][0] == 7 for _ in range(4000)])
    assert share == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


def test_a_handful_is_of_distinct_rows():
    """The least worth of three rows is never the best of two of them."""
    T, uncertainty, rng = np.eye(3), np.array([3.0, 2.0, 1.0]), np.random.default_rng(0)
    first = [best_of_handfuls(T, uncertainty, 1, 2, rng)[0][0] for _ in range(200)]
    assert set(first) == {0, 1}


def test_a_row_without_any_variance_is_worth_nothing():
    T = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1e-3]])
    chosen, worth = best_of_handfuls(T, np.ones(3), 3, 3, np.random.default_rng(0))
    assert chosen[-1] == 0
    assert worth[-1] == 0
    assert_allclose(worth[:2], 1)


def test_variance_without_any_row_is_that_of_the_floor():
    variance_of = PredictiveVariance.of(np.zeros((2, 3)), np.ones(2), np.zeros(3), intercept=False)
    assert_allclose(variance_of.variance(np.eye(3)), 1e16)
