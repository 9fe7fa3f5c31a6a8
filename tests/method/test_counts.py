"""Counts on a scale: means against brute force and SciPy, whole intervals, labels of the same row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import mean_poisson_deviance

from twinviews.method.counts import (
    COUNT_SCALES,
    counts_of_scale,
    judged_mean,
    log_probability,
    on_count_scale,
    poisson_deviance,
    preferred_scale,
    whole_ends,
)
from twinviews.method.intervals import FitsAtRows, LeftOut, SingleLabels, interval_ends

random = np.random.default_rng(0)


@pytest.mark.parametrize("scale", COUNT_SCALES)
def test_a_scale_and_back(scale):
    y = np.array([0.0, 1, 2, 50, 1e6])
    assert_allclose(counts_of_scale(on_count_scale(y, scale), scale), y)
    assert_array_equal(counts_of_scale(np.array([-3.0, -np.inf, np.inf]), scale), [0, 0, np.inf])


@pytest.mark.parametrize("scale", COUNT_SCALES)
def test_held_out_means_do_not_know_the_label_of_the_row(scale):
    y = random.poisson(4, size=30).astype(float)
    z = on_count_scale(np.full(30, 4.0), scale) + 0.1 * random.normal(size=30)
    weight = random.dirichlet(np.ones(30))
    found = judged_mean(y, z, weight, scale)
    for row in range(30):
        others = np.arange(30) != row
        e = on_count_scale(y, scale)[others] - z[others]
        t = np.minimum(z[row] + e, found.mean.most)
        mean = weight[others] @ counts_of_scale(t, scale) / weight[others].sum()
        assert_allclose(found.held_out[row], max(mean, found.mean.least))
    assert_allclose(found.deviance, mean_poisson_deviance(y, found.held_out, sample_weight=weight))


@pytest.mark.parametrize("scale", ["square root", "logarithm"])
def test_means_are_not_biased_by_the_scale(scale):
    """Normal noise on the scale: the mean of the counts is that of the predicted means."""
    z = random.uniform(1.5, 2.5, size=4000)
    noise = random.permutation(stats.norm.ppf((np.arange(300) + 0.5) / 300))
    y = counts_of_scale(z + 0.4 * np.resize(noise, 4000), scale)
    mean = judged_mean(y[:300], z[:300], np.full(300, 1 / 300), scale).mean
    assert_allclose(mean(z).mean(), y.mean(), rtol=0.02)
    assert counts_of_scale(z, scale).mean() < 0.99 * y.mean()


def test_means_are_never_below_zero_and_end_somewhere():
    y = random.poisson(0.5, size=40).astype(float)
    for scale in COUNT_SCALES:
        mean = judged_mean(y, random.normal(size=40), np.full(40, 1 / 40), scale).mean
        found = mean(np.array([-1e9, -1.0, 0.0, 1.0, 1e9]))
        assert (found > 0).all()
        assert (np.diff(found) >= 0).all()
        assert found[-1] <= 2 * y.max() + 1e-9


def test_no_count_at_all():
    found = judged_mean(np.zeros(9), np.zeros(9), np.full(9, 1 / 9), "square root")
    assert found.deviance == 0
    assert_array_equal(found.mean(np.array([0.0, 5.0])), 0)
    assert_allclose(np.exp(found.mean.log_probabilities(np.zeros(1), np.arange(2.0))), [[1, 0]])


def test_deviance_is_that_of_scikit_learn():
    y, mean = random.poisson(2, size=50).astype(float), random.uniform(0.1, 5, size=50)
    assert_allclose(poisson_deviance(y, mean, np.full(50, 0.02)), mean_poisson_deviance(y, mean))


def test_probabilities_are_negative_binomial():
    counts = np.arange(2000.0)
    for mean, dispersion in [(3.0, 0.5), (0.2, 2.0), (20.0, 0.01)]:
        p = np.exp(log_probability(counts, np.array([[mean]]), dispersion))[0]
        r = 1 / dispersion
        assert_allclose(p, stats.nbinom.pmf(counts, r, r / (r + mean)), atol=1e-12)
        assert_allclose([p.sum(), p @ counts], [1, mean])
        assert_allclose(p @ counts**2 - mean**2, mean + dispersion * mean**2)
    p = np.exp(log_probability(counts, np.array([[3.0]]), 0.0))[0]
    assert_allclose(p, stats.poisson.pmf(counts, 3), atol=1e-12)


def test_the_dispersion_is_found():
    mean = np.full(20_000, 5.0)
    y = random.negative_binomial(2, 2 / 7, size=20_000).astype(float)
    weight, z = np.full(20_000, 1 / 20_000), np.sqrt(mean)
    assert_allclose(judged_mean(y, z, weight, "square root").mean.dispersion, 0.5, rtol=0.1)
    even = judged_mean(np.round(mean), z, weight, "square root").mean
    assert even.dispersion == 0


def test_another_scale_must_be_clearly_better():
    assert preferred_scale({"identity": 0.95, "square root": 1.0, "logarithm": 2.0}) == "square root"
    assert preferred_scale({"identity": 0.85, "square root": 1.0, "logarithm": 0.8}) == "logarithm"


def test_whole_ends_keep_every_count():
    ends = np.sort(random.uniform(-1, 9, size=(300, 2)), axis=1)
    whole = whole_ends(ends)
    assert_array_equal(whole, np.round(whole))
    assert (whole[:, 0] <= whole[:, 1]).all()
    for count in range(10):
        inside = (ends[:, 0] <= count) & (count <= ends[:, 1])
        still = (whole[:, 0] <= count) & (count <= whole[:, 1])
        some = np.floor(ends[:, 1]) >= np.ceil(ends[:, 0])
        assert_array_equal(inside[some], still[some])
        assert (inside <= still).all()
    assert_array_equal(whole_ends(np.array([[0.2, np.inf]])), [[1, np.inf]])
    assert_array_equal(whole_ends(np.array([[2 + 1e-12, 9 - 1e-12]])), [[2, 9]])


def left_out(residual):
    m = len(residual)
    fits = FitsAtRows(np.linspace(0, 1, 3)[:, None] + np.linspace(-0.1, 0.1, m)[None])
    return LeftOut(lambda X: fits, np.arange(m), residual, np.full(m, 1 / m)), fits


def test_labels_of_different_rows_count_as_before():
    rows, fits = left_out(random.normal(size=40))
    singles = SingleLabels(np.arange(40), np.zeros(40), np.ones(40))
    labels, row = singles.left_out(rows)
    assert_array_equal(row, np.arange(40))
    assert_allclose(interval_ends(fits, labels, 0.8), interval_ends(fits, rows, 0.8))


def test_labels_of_the_same_row_count_one_by_one():
    """Ten rows with four labels each, spread widely about a mean that is predicted exactly."""
    rows, fits = left_out(np.zeros(10))
    off = np.tile([-3.0, -1.0, 1.0, 3.0], 10)
    singles = SingleLabels(np.repeat(np.arange(10), 4), off, np.full(40, 0.25))
    labels, _ = singles.left_out(rows)
    width = np.diff(interval_ends(fits, labels, 0.7), axis=1)
    assert (width > 5.8).all()
    assert (np.diff(interval_ends(fits, rows, 0.7), axis=1) < 0.3).all()
