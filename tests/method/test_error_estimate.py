"""The error to expect and its interval: closed forms, invariances, how often the interval holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.method.error_estimate import (
    ErrorEstimate,
    effective_number,
    error_rate,
    is_rough,
    root_mean_squared_error,
)

MANY = 10**6


def equal(m):
    return np.full(m, 1 / m)


def test_the_value_is_the_root_of_the_mean():
    squared = np.array([1.0, 4.0, 9.0, 0.0])
    found = root_mean_squared_error(squared, np.array([0.4, 0.3, 0.2, 0.1]), MANY)
    assert found.value == pytest.approx(np.sqrt(0.4 + 1.2 + 1.8))
    up, down = np.log(found.high / found.value), np.log(found.value / found.low)
    assert up > down > 0  # the mean of a few squared errors is more often too low than too high
    assert up / down == pytest.approx(1.1 / 0.9)


def test_units_do_not_matter():
    squared = np.random.default_rng(0).chisquare(1, 60)
    one, other = (root_mean_squared_error(c * squared, equal(60), MANY) for c in (1, 1e12))
    assert_allclose(np.array(other) / 1e6, one, rtol=1e-9)


def test_more_labels_narrower_and_fewer_rows_to_come_wider():
    rng = np.random.default_rng(1)
    widths = []
    for m in (30, 100, 300, 1000):
        found = root_mean_squared_error(rng.chisquare(1, m), equal(m), MANY)
        widths.append(found.high / found.low)
    assert widths == sorted(widths, reverse=True)
    squared = rng.chisquare(1, 200)
    few, many = (root_mean_squared_error(squared, equal(200), n) for n in (50, MANY))
    assert few.high > many.high
    assert few.low < many.low


@pytest.mark.parametrize("m", [30, 100, 500])
def test_nine_in_ten_intervals_hold_the_error_of_heavy_tailed_residuals(m):
    """Student's t with 6 degrees of freedom, of variance 1.5: tails as real tables have them."""
    rng = np.random.default_rng(m)
    inside = []
    for _ in range(400):
        found = root_mean_squared_error(np.square(rng.standard_t(6, m)), equal(m), MANY)
        inside.append(found.low <= np.sqrt(1.5) <= found.high)
    assert np.mean(inside) > 0.9


def test_an_error_rate_has_an_interval_also_without_errors():
    found = error_rate(np.zeros(50), equal(50), MANY)
    assert found.value == found.low == 0
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-3)
    assert error_rate(np.ones(50), equal(50), MANY).high == 1


@pytest.mark.parametrize(("rate", "m"), [(0.03, 50), (0.1, 30), (0.1, 200), (0.4, 100)])
def test_nine_in_ten_intervals_hold_the_error_rate(rate, m):
    rng = np.random.default_rng(7)
    found = [error_rate(rng.random(m) < rate, equal(m), MANY) for _ in range(400)]
    assert np.mean([one.low <= rate <= one.high for one in found]) > 0.88


def test_what_is_unknown_is_said_to_be():
    assert np.isnan(root_mean_squared_error(np.array([1.0, np.nan]), equal(2), MANY)).all()
    assert np.isnan(error_rate(np.full(3, np.nan), equal(3), MANY)).all()
    exact = root_mean_squared_error(np.zeros(9), equal(9), MANY)
    assert exact.value == 0
    assert np.isnan([exact.low, exact.high]).all()


def test_few_labels_are_rough():
    assert is_rough(ErrorEstimate(1.0, 0.7, 1.4), rate=False)
    assert not is_rough(ErrorEstimate(1.0, 0.85, 1.2), rate=False)
    assert is_rough(ErrorEstimate(0.1, 0.02, 0.26), rate=True)
    assert not is_rough(ErrorEstimate(0.1, 0.06, 0.16), rate=True)


def test_the_effective_number_of_rows():
    assert effective_number(equal(7)) == pytest.approx(7)
    assert effective_number(np.array([0.5, 0.5, 0.0])) == pytest.approx(2)


@pytest.mark.parametrize("n_other", [0, 1, 5])
def test_few_unlabeled_rows_leave_many_labels_many(n_other):
    squared = np.random.default_rng(0).chisquare(1, 3000)
    found = root_mean_squared_error(squared, equal(3000), n_other)
    assert found.high < 1.25 * found.value
    assert error_rate(squared > 3, equal(3000), n_other).high < 0.15


def test_rounding_does_not_leave_zero_to_one():
    weight = np.full(60, (1 + 1e-15) / 60)
    assert error_rate(np.ones(60), weight, MANY).value == 1
