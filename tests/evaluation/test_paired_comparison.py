import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_rel

from twinviews.evaluation.paired_comparison import Paired, paired_ratio


def test_the_interval_is_that_of_a_paired_t_test_of_logarithms():
    rng = np.random.default_rng(0)
    ours, theirs = rng.uniform(1, 2, 15), rng.uniform(1.2, 2.2, 15)
    paired = paired_ratio(ours, theirs)
    interval = ttest_rel(np.log(ours), np.log(theirs)).confidence_interval(0.95)
    assert_allclose([paired.low, paired.high], np.exp([interval.low, interval.high]))
    turned = paired_ratio(theirs, ours)
    assert_allclose(turned.ratio, 1 / paired.ratio)
    assert_allclose(turned.low, 1 / paired.high)


def test_verdicts_and_errors_of_zero():
    ones = np.ones(10)
    noise = np.linspace(0.99, 1.01, 10)
    pairs = [paired_ratio(0.5 * noise, ones), paired_ratio(noise, ones), paired_ratio(2 * noise, ones)]
    assert [pair.verdict for pair in pairs] == ["win", "level", "loss"]
    zero = paired_ratio(np.zeros(4), np.full(4, 0.1))
    assert zero.ratio == pytest.approx(0.5)
    assert paired_ratio(np.zeros(3), np.zeros(3)).ratio == 1
    assert paired_ratio(np.ones(1), np.ones(1)).verdict == "level"


def test_an_interval_that_touches_one_is_level():
    assert Paired(0.9, 0.8, 1.0).verdict == "level"
    assert Paired(1.1, 1.0, 1.2).verdict == "level"


def test_an_error_of_zero_counts_as_half_of_the_least_of_either_method():
    ours, theirs = np.array([0.0, 0.4, 0.2]), np.array([0.1, 0.0, 0.2])
    counted = paired_ratio(np.array([0.05, 0.4, 0.2]), np.array([0.1, 0.05, 0.2]))
    assert_allclose(paired_ratio(ours, theirs), counted)


def test_one_pair_has_a_ratio_and_an_interval_without_end():
    assert_allclose(paired_ratio(np.array([3.0]), np.array([2.0])), [1.5, 0, np.inf])
    two = paired_ratio(np.array([3.0, 1.0]), np.array([2.0, 1.0]))
    interval = ttest_rel(np.log([3.0, 1.0]), np.log([2.0, 1.0])).confidence_interval(0.95)
    assert_allclose([two.low, two.high], np.exp([interval.low, interval.high]))
