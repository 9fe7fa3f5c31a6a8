"""Confidence intervals: as published, and true as often as they say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from twinviews.evaluation.confidence import (
    bootstrap,
    paired_share_interval,
    resamples,
    share_interval,
)


@given(n=st.integers(1, 500), share=st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_the_interval_of_a_share_is_wilsons(n, share):
    hits = round(share * n)
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    found = share_interval(hits, n)
    assert_allclose(found[1:], [theirs.low, theirs.high], atol=1e-12)
    # The ends are the shares from which the one observed is just 1.96 standard deviations away.
    for end in found[1:]:
        if 1e-9 < end < 1 - 1e-9:
            away = abs(hits / n - end) / np.sqrt(end * (1 - end) / n)
            assert_allclose(away, stats.norm.ppf(0.975), rtol=1e-6)


def test_the_bootstrap_of_a_mean_is_students_interval_also_for_few_rows():
    for n in (12, 400):
        losses = np.random.default_rng(n).normal(5, 1, n)
        found = bootstrap(lambda mean: mean, resamples(n, 0), losses)
        theirs = stats.t.interval(0.95, n - 1, losses.mean(), stats.sem(losses))
        assert_allclose(found[1:], theirs, atol=0.2 * stats.sem(losses))
        assert found.value == losses.mean()


def test_paired_shares_are_told_apart_by_the_rows_on_which_they_differ():
    rng = np.random.default_rng(0)
    ours, theirs = (rng.random((2, 60)) < 0.3).astype(float)
    there, back = paired_share_interval(ours, theirs), paired_share_interval(theirs, ours)
    assert_allclose([there.low, there.high], [-back.high, -back.low])
    same = paired_share_interval(ours, ours)
    assert same.value == 0
    assert same.low < 0 < same.high
    many = paired_share_interval(np.tile(ours, 1000), np.tile(theirs, 1000))
    assert_allclose([many.low, many.high], many.value, atol=0.01)


def test_intervals_of_the_error_hold_the_true_error_as_often_as_they_say():
    rng = np.random.default_rng(0)
    inside = 0
    for draw in range(150):
        found = bootstrap(np.sqrt, resamples(40, draw), np.square(rng.normal(size=40)))
        inside += found.low <= 1 <= found.high
    assert 0.90 < inside / 150 < 0.99
