import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from twinviews.evaluation.measures import (
    calibration_bins,
    error_rate,
    log_loss,
    normalised_squared_error,
    share_inside,
    weighted_auc,
)


def test_the_mean_of_the_truth_has_error_one_and_units_do_not_matter():
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=50) + 3, rng.normal(size=50)
    assert normalised_squared_error(truth, np.full(50, truth.mean())) == pytest.approx(1)
    assert normalised_squared_error(truth, truth) == 0
    off_by_deviations = normalised_squared_error(truth, truth - 2 * truth.std())
    assert off_by_deviations == pytest.approx(4)
    assert_allclose(
        normalised_squared_error(5 * truth - 1, 5 * predicted - 1),
        normalised_squared_error(truth, predicted),
    )


def test_a_rate_is_of_the_rows_that_are_wrong():
    assert error_rate(np.array([0.0, 1, 2]), np.array([0, 1, 1])) == pytest.approx(1 / 3)
    assert error_rate(np.array(["a", "b"]), np.array(["b", "a"])) == 1


def test_both_ends_are_inside():
    low, high = np.zeros(5), np.ones(5)
    assert share_inside(np.array([-0.1, 0.0, 0.5, 1.0, 1.1]), low, high) == pytest.approx(3 / 5)


@given(seed=st.integers(0, 1000), n_bins=st.integers(1, 20), n_classes=st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_bins_hold_every_row_once_and_give_the_calibration_error(seed, n_bins, n_classes):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), size=200)
    truth = rng.integers(n_classes, size=200)
    bins = calibration_bins(truth, p, n_bins)
    assert bins.counts.sum() == 200
    filled = bins.counts > 0
    right = (p.argmax(axis=1) == truth).mean()
    assert_allclose((bins.counts * bins.accuracy)[filled].sum() / 200, right)
    assert_allclose((bins.counts * bins.confidence)[filled].sum() / 200, p.max(axis=1).mean())
    gaps = np.abs(bins.counts * (bins.confidence - bins.accuracy))[filled]
    assert_allclose(bins.error, gaps.sum() / 200)
    low = np.arange(n_bins) / n_bins
    assert (bins.confidence[filled] >= low[filled] - 1e-12).all()
    assert (bins.confidence[filled] <= low[filled] + 1 / n_bins + 1e-12).all()
    assert calibration_bins(truth, p, 1).error == pytest.approx(abs(p.max(axis=1).mean() - right))


def test_calibration_is_zero_for_the_truth_and_the_excess_for_the_boastful():
    truth = np.array([0, 0, 0, 1])
    assert calibration_bins(truth, np.tile([0.75, 0.25], (4, 1))).error == pytest.approx(0)
    assert calibration_bins(truth, np.tile([1.0, 0.0], (4, 1))).error == pytest.approx(0.25)


def test_ten_bins_of_equal_width_and_an_empty_one_says_nothing():
    p = np.array([[0.05, 0.95], [0.35, 0.65], [0.32, 0.68], [1.0, 0.0]])
    bins = calibration_bins(np.array([1, 0, 1, 1]), p)
    assert_array_equal(bins.counts, [0, 0, 0, 0, 0, 0, 2, 0, 0, 2])
    assert_allclose(bins.confidence[[6, 9]], [0.665, 0.975])
    assert_allclose(bins.accuracy[[6, 9]], [0.5, 0.5])
    assert np.isnan(np.delete(bins.confidence, [6, 9])).all()
    assert_allclose(bins.error, (0.165 * 2 + 0.475 * 2) / 4)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_areas_and_log_losses_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(n_classes, size=80)
    p = np.round(rng.dirichlet(np.ones(n_classes), size=80), 1) + 0.05  # with ties
    p /= p.sum(axis=1, keepdims=True)
    several = {"multi_class": "ovr", "average": "weighted"}
    theirs = p[:, 1] if n_classes == 2 else p
    expected = metrics.roc_auc_score(truth, theirs, **(several if n_classes > 2 else {}))
    assert weighted_auc(truth, p) == pytest.approx(expected)
    assert log_loss(truth, p) == pytest.approx(metrics.log_loss(truth, p))


def test_an_area_depends_on_the_order_alone():
    rng = np.random.default_rng(0)
    truth, p = rng.integers(2, size=50), rng.uniform(size=(50, 2))
    assert weighted_auc(truth, p**3) == pytest.approx(weighted_auc(truth, p))
    assert weighted_auc(truth, -p) == pytest.approx(1 - weighted_auc(truth, p))
    assert np.isnan(weighted_auc(np.zeros(50, int), p))


def test_one_impossible_class_does_not_decide_the_log_loss():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert log_loss(np.array([1, 0]), p) == pytest.approx((np.log(2) + 6 * np.log(10)) / 2)
