"""Probabilities of ordered classes: against brute force, likelihood and logistic regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from twinviews.method.cumulative_link import (
    CumulativeLink,
    expected_steps,
    likeliest_link,
    median_class,
)
from twinviews.method.error_estimate import error_rate, mean_steps

random = np.random.default_rng(0)
LINK = CumulativeLink(np.array([-1.0, 0.5, 3.0]), 1.7)


def drawn(m=200, K=4, seed=0):
    """Scores, shares of classes and weights of rows whose classes depend on the score."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=m)
    code = np.digitize(score + 0.7 * rng.logistic(size=m), np.linspace(-1.5, 1.5, K - 1))
    weight = rng.uniform(0.5, 1.5, size=m)
    return score, np.eye(K)[code], weight / weight.sum()


def test_probabilities_are_differences_of_logistic_functions():
    score = random.normal(size=50, scale=5)
    p = np.exp(LINK.log_probabilities(score))
    below = expit(LINK.cuts - LINK.slope * score[:, None])
    edges = np.column_stack([np.zeros(50), below, np.ones(50)])
    assert_allclose(p, np.diff(edges, axis=1), atol=1e-12)
    assert_allclose(p.sum(axis=1), 1)


def test_far_away_scores_lose_no_digits():
    log_p = LINK.log_probabilities(np.array([-300.0, 300.0]))
    assert np.isfinite(log_p).all()
    assert_allclose(log_p[1, 0], LINK.cuts[0] - LINK.slope * 300)


def test_a_higher_score_is_never_of_a_lower_class():
    p = np.exp(LINK.log_probabilities(np.linspace(-9, 9, 100)))
    assert (np.diff(p.cumsum(axis=1), axis=0) <= 1e-15).all()
    assert (np.diff(median_class(p)) >= 0).all()


@pytest.mark.parametrize("K", [2, 3, 7])
def test_no_other_link_is_likelier(K):
    score, share, weight = drawn(K=K)
    found = likeliest_link(score, share, weight)
    m = len(score)
    prior = float(weight @ score)

    def likelihood(cuts, slope):
        link = CumulativeLink(cuts, slope)
        of_labels = m * weight @ (share * link.log_probabilities(score)).sum(axis=1)
        return of_labels + link.log_probabilities(np.array([prior])).mean()

    best = likelihood(found.cuts, found.slope)
    for _ in range(50):
        step = 0.05 * random.normal(size=K)
        assert likelihood(np.sort(found.cuts + step[1:]), abs(found.slope + step[0])) < best + 1e-6


def test_the_scale_of_the_scores_does_not_matter():
    score, share, weight = drawn()
    p = likeliest_link(score, share, weight).log_probabilities(score)
    moved = likeliest_link(50 - 3 * -score, share, weight)
    assert_allclose(moved.log_probabilities(50 + 3 * score), p, atol=1e-3)


def test_the_order_read_from_the_other_end():
    score, share, weight = drawn()
    p = likeliest_link(score, share, weight).log_probabilities(score)
    back = likeliest_link(-score, share[:, ::-1], weight).log_probabilities(-score)
    assert_allclose(back[:, ::-1], p, atol=1e-3)


def test_separable_classes_and_classes_without_a_label_have_finite_probabilities():
    share = np.eye(4)[np.repeat([0, 3], 20)]
    link = likeliest_link(np.repeat([0.0, 1.0], 20), share, np.full(40, 1 / 40))
    p = np.exp(link.log_probabilities(np.array([0.0, 1.0])))
    assert (p > 0).all()
    assert_array_equal(median_class(p), [0, 3])
    assert p[:, 1:3].sum() < 0.2


def test_scores_that_are_unknown_or_all_the_same():
    _, share, weight = drawn()
    for score in (np.full(200, np.nan), np.zeros(200)):
        p = np.exp(likeliest_link(score, share, weight).log_probabilities(np.zeros(1)))
        assert np.isfinite(p).all()
    assert_allclose(p[0], weight @ share, atol=0.01)


def test_the_median_has_the_least_expected_distance():
    p = random.dirichlet(np.ones(6), size=200)
    chosen = expected_steps(p, median_class(p))
    others = [expected_steps(p, np.full(200, k)) for k in range(6)]
    assert_allclose(chosen, np.min(others, axis=0))


def test_errors_in_steps_of_two_classes_are_error_rates():
    wrong = (random.random(80) < 0.2).astype(float)
    weight = np.full(80, 1 / 80)
    assert mean_steps(wrong, 2, weight, 500) == error_rate(wrong, weight, 500)


def test_intervals_of_errors_in_steps_hold_the_error_and_are_within_the_scale():
    weight = np.full(60, 1 / 60)
    for steps in (np.zeros(60), np.full(60, 4.0), random.integers(0, 5, 60).astype(float)):
        error, low, high = mean_steps(steps, 5, weight, 1000)
        assert 0 <= low <= error <= high <= 4
    one_off = mean_steps(np.r_[np.zeros(30), np.ones(30)], 5, weight, 1000)
    far_off = mean_steps(np.r_[np.zeros(45), np.full(15, 2.0)], 5, weight, 1000)
    assert one_off.high - one_off.low < far_off.high - far_off.low
