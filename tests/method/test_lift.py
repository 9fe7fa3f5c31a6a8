"""Lift: of the likeliest tenth, against counting rows one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from twinviews.method.lift import lift, share_in_top


def equal(n):
    return np.full(n, 1 / n)


def scores_of(p):
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("seed", range(5))
def test_it_counts_the_rows_of_the_likeliest_tenth(seed):
    random = np.random.default_rng(seed)
    p = random.permutation(200) / 200
    rare = random.random(200) < 0.3 * p
    found = lift(np.column_stack([~rare, rare]).astype(float), scores_of(p), equal(200), 1000)
    top = np.argsort(-p)[:20]
    assert found.value == pytest.approx(rare[top].mean() / rare.mean())
    assert found.low <= found.value <= found.high <= 10


def test_a_row_of_weight_two_is_the_row_twice():
    random = np.random.default_rng(0)
    p, rare = random.random(60), random.random(60) < 0.2
    twice = np.arange(60) % 3 == 0
    weight = np.where(twice, 2.0, 1.0)
    copies = np.repeat(np.arange(60), weight.astype(int))
    share = np.column_stack([~rare, rare]).astype(float)
    weighted = lift(share, scores_of(p), weight / weight.sum(), 0)
    repeated = lift(share[copies], scores_of(p[copies]), equal(len(copies)), 0)
    assert weighted.value == pytest.approx(repeated.value)


def test_equal_scores_say_nothing():
    rare = np.arange(50) < 7
    share = np.column_stack([~rare, rare]).astype(float)
    assert lift(share, np.zeros((50, 2)), equal(50), 0).value == pytest.approx(1)
    score = np.repeat([2.0, 1.0], [5, 15])
    assert_allclose(share_in_top(score, equal(20), 0.5), np.repeat([1, 1 / 3], [5, 15]))


def test_more_classes_have_the_mean_and_the_most_is_known():
    code = np.repeat(np.arange(4), 25)
    share = np.eye(4)[code]
    found = lift(share, share, equal(100), 0)  # of a quarter of the rows, a tenth can be 0.4 at most
    assert found.value == pytest.approx(4)
    assert found.high == pytest.approx(4)


def test_nothing_is_told_of_one_class_or_unknown_scores():
    assert np.isnan(lift(np.array([[1.0, 0.0]] * 3), np.zeros((3, 2)), equal(3), 0)).all()
    assert np.isnan(lift(np.eye(2), np.full((2, 2), np.nan), equal(2), 0)).all()


def test_the_interval_holds_the_share_that_is_found_nine_times_in_ten():
    """Of 20 rows of the class, each in the top tenth with the same chance."""
    for chance in (0.2, 0.5, 0.8):
        inside = 0.0
        for hits in range(21):
            score = np.concatenate([np.repeat([1.0, 0.0], [hits, 20 - hits]), np.zeros(380)])
            score[20 : 20 + (40 - hits)] = 1.0
            rare = np.arange(400) < 20
            found = lift(
                np.column_stack([~rare, rare]).astype(float), scores_of(score), equal(400), 10**6
            )
            inside += binom.pmf(hits, 20, chance) * (found.low <= 10 * chance <= found.high)
        assert inside >= 0.9
