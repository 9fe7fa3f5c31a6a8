"""Grids, samples, intervals, groups and coefficients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import t as student

from twinviews.estimates.coefficients import (
    estimated_products,
    linear_coefficients,
    logistic_coefficients,
    logistic_curvature,
)
from twinviews.estimates.difference_estimator import MeanEstimate
from twinviews.estimates.imputed_values import Grid, share_below
from twinviews.estimates.interval_ends import mean_ends, share_ends, skewed_critical_value
from twinviews.estimates.power_tuning import tuned_power
from twinviews.estimates.quantile_interval import quantile_and_ends, thresholds
from twinviews.estimates.small_groups import compare_groups, drawn_to_all, pooled_variance
from twinviews.estimates.unlabeled_sample import UnlabeledSample


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("z", [-2.1, 1.7])
@pytest.mark.parametrize("skewness", [-1.2, -0.1, 0.4])
def test_the_skewed_critical_value_inverts_halls_cubic(z, skewness):
    T = skewed_critical_value(z, skewness)
    cubic = T + skewness * T**2 / 3 + skewness**2 * T**3 / 27 + skewness / 6
    assert cubic == pytest.approx(z)
    assert skewed_critical_value(z, 1e-9) == z


def test_an_interval_of_skewed_labels_reaches_farther_to_the_side_of_the_tail():
    low, high = mean_ends(0.0, 1.0, 30, 0.95)
    skewed = mean_ends(0.0, 1.0, 30, 0.95, 0.5)
    assert skewed[0] == low
    assert skewed[1] > 1.3 * high
    assert_allclose(skewed, [-end for end in mean_ends(0.0, 1.0, 30, 0.95, -0.5)[::-1]])


def test_a_grid_keeps_weights_and_means_of_each_group(rng):
    grid, values, weight = Grid(-2.0, 5.0), rng.uniform(-2, 5, 300), rng.uniform(1, 3, 300)
    group = rng.integers(3, size=300)
    totals = grid.totals(values, weight, group, 3)
    for number in range(3):
        own = group == number
        assert_allclose(totals[number].sum(), weight[own].sum())
        assert_allclose(totals[number] @ grid.points, weight[own] @ values[own])
    assert_allclose(grid.at(grid.points, values), values)
    assert_allclose(grid.at(grid.points, np.array([-9.0, 9.0])), [-2, 5])  # clipped


def test_a_grid_of_one_point_holds_constant_predictions():
    grid = Grid(4.0, 4.0)
    assert_allclose(grid.totals(np.full(5, 4.0), np.ones(5), np.zeros(5, int), 1) @ grid.points, [20])


def test_the_share_below_follows_the_residuals(rng):
    residual, points = rng.normal(size=2000), np.array([-1.0, 0.0, 1.0])
    exact = [np.mean(point + residual <= 0.5) for point in points]
    assert_allclose(share_below(points, 0.5, residual), exact, atol=1e-3)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_a_sample_is_the_same_however_rows_arrive(rng, parts):
    rows = rng.normal(size=(100, 2))[rng.integers(100, size=300)]  # with copies
    priorities = np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.uint64) * 7 + 1
    weight = rng.uniform(1, 2, 300)
    whole = UnlabeledSample.of(rows, priorities, weight, 20)
    order = rng.permutation(300)
    pieces = [
        UnlabeledSample.of(rows[some], priorities[some], weight[some], 20)
        for some in np.array_split(order, parts)
    ]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged = merged.merge(piece)
    assert_allclose(merged.rows, whole.rows)
    assert_allclose(merged.weight, whole.weight)
    copies = [weight[priorities == one].sum() for one in whole.priorities]
    assert_allclose(whole.weight, copies)


def test_a_sample_of_all_rows_has_no_variance(rng):
    rows = rng.normal(size=(30, 1))
    found = UnlabeledSample.of(rows, np.arange(30).astype(np.uint64), np.ones(30), 31)
    assert found.mean_and_variance(rows[:, 0]) == (pytest.approx(rows.mean()), 0.0)


def test_intervals_of_means_are_those_of_student():
    low, high = mean_ends(3.0, 4.0, 9, 0.95)
    assert_allclose((high - low) / 2, 2 * student.ppf(0.975, 9))
    assert mean_ends(3.0, 4.0, 0, 0.95) == (-np.inf, np.inf)


def test_intervals_of_shares_stay_between_0_and_1_and_are_mirrored():
    low, high = share_ends(0.02, 40, 39, 0.95)
    assert 0 < low < 0.02 < high < 0.2
    assert_allclose(share_ends(0.98, 40, 39, 0.95), (1 - high, 1 - low))
    assert share_ends(0.0, 40, 39, 0.95)[1] > 0.05


def test_the_power_is_the_slope_for_many_labels_and_near_1_for_few(rng):
    f = rng.normal(size=100_000)
    y = 0.5 * f + rng.normal(size=100_000)
    assert tuned_power(y, f, np.ones(len(f))) == pytest.approx(0.5, abs=0.02)
    assert tuned_power(y[:20], f[:20], np.ones(20)) > 0.6
    assert tuned_power(-y, f, np.ones(len(f))) == 0
    assert tuned_power(y, np.ones(len(f)), np.ones(len(f))) == 0


def test_a_quantile_from_labels_alone_is_an_order_statistic(rng):
    y = np.sort(rng.normal(size=41))
    values = thresholds(y, 0.5, np.ones(41))
    shares = [MeanEstimate(np.mean(y <= value), 0.25 / 41, 40, 41.0) for value in values]
    found, low, high = quantile_and_ends(values, shares, 0.5, 0.95, ties=False)
    assert y[19] < found <= y[20]
    assert y[12] < low < y[15]
    assert y[25] <= high <= y[28]


def test_a_quantile_of_whole_numbers_is_one_of_them():
    y = np.repeat([1.0, 2.0, 3.0], [10, 25, 5])
    values = thresholds(y, 0.5, np.ones(40))
    shares = [MeanEstimate(np.mean(y <= value), 0.25 / 40, 39, 40.0) for value in values]
    assert quantile_and_ends(values, shares, 0.5, 0.95, ties=True) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("ties", ["none", "zeros", "steps"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_that_are_not_looked_at_change_no_quantile(q, ties, weighted):
    """Half of all labels may be zero: then the median is not in the middle of the values."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = np.exp(rng.normal(size=80))
        y = {"none": y, "zeros": np.where(rng.uniform(size=80) < 0.48, 0, y), "steps": np.round(y)}[
            ties
        ]
        weight = rng.uniform(1, 5, 80) * (1 + 3 * (y < 1)) if weighted else np.ones(80)
        n = weight.sum() ** 2 / np.square(weight).sum()

        def interval(values, y=y, weight=weight, n=n):
            F = np.clip([weight @ (y <= value) / weight.sum() for value in values], 0, 1)
            shares = [MeanEstimate(share, share * (1 - share) / n, n - 1, n) for share in F]
            return quantile_and_ends(values, shares, q, 0.95, ties=ties != "none")

        ordered = np.unique(y)
        every = np.unique(np.concatenate([ordered, (ordered[1:] + ordered[:-1]) / 2]))
        assert interval(thresholds(y, q, weight)) == pytest.approx(interval(every))


def test_groups_are_drawn_to_all_the_more_the_fewer_labels_they_have(rng):
    group = np.repeat(np.arange(6), 10)
    residual = rng.normal(size=60) + np.repeat(rng.normal(size=6), 10)
    groups = compare_groups(residual, group, np.ones(60))
    assert_allclose(groups.mean, residual.mean())
    means = [drawn_to_all(10.0, n, groups)[0] for n in (0, 1, 5, 1000)]
    assert means == sorted(means)
    assert means[0] == groups.mean
    assert means[-1] == pytest.approx(10, abs=0.2)
    variances = [drawn_to_all(10.0, n, groups)[1] for n in (0, 1, 5, 1000)]
    assert variances == sorted(variances, reverse=True)
    assert pooled_variance(4.0, 1, 1.0) == (1.0, 5.0)


@pytest.fixture
def regression(rng):
    """200 rows, 50 labels, predictions that are off."""
    Z = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    y = Z @ [1.0, 2.0, -1.0] + rng.normal(size=200)
    return Z, y, y + 0.4 * rng.normal(size=200)


def products(Z, y, f, power, n=50):
    others = Z[n:]
    return estimated_products(
        Z[:n], y[:n], f[:n], np.full(n, len(others) / n), np.ones(n), others.T @ others,
        others.T @ f[n:], power, others.T @ others,
    )  # fmt: skip


def test_a_constant_alone_has_the_mean_of_labels_and_nearly_its_variance(regression):
    _, y, _ = regression
    ones, zeros = np.ones((len(y), 1)), np.zeros(len(y))
    found = linear_coefficients(products(ones, y, zeros, 0.0), ones.T @ ones)
    assert_allclose(found.beta, y[:50].mean())
    of_mean = (1 - 50 / len(y)) * y[:50].var(ddof=1) / 50
    assert of_mean < found.variance[0, 0] < 1.03 * of_mean  # HC3 is a little larger than HC2


def test_rows_unlike_all_labels_make_a_coefficient_less_certain(regression):
    """Few rows decide it, which no label is like."""
    Z, y, f = regression
    far = Z.copy()
    far[-3:, 1] += 200
    plain, uncertain = (
        np.sqrt(linear_coefficients(products(one, y, f, 0.0), one.T @ one).variance[1, 1])
        for one in (Z, far)
    )
    error = np.sqrt(np.mean(np.square(y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0])))
    by_those_rows = error / np.linalg.norm(far[:, 1] - far[:, 1].mean())
    assert uncertain > 3 * by_those_rows
    assert uncertain == pytest.approx(plain, rel=0.35)  # labels tell the slope, and not those rows


def test_perfect_predictions_give_the_regression_of_all_rows(regression):
    Z, y, _ = regression
    found = linear_coefficients(products(Z, y, y, 1.0), Z.T @ Z)
    assert_allclose(found.beta, np.linalg.lstsq(Z, y, rcond=None)[0])
    assert_allclose(found.variance, 0, atol=1e-20)


def test_labels_alone_give_nearly_their_own_regression(regression):
    Z, y, f = regression
    found = linear_coefficients(products(Z, y, f, 0.0), Z.T @ Z)
    assert_allclose(found.beta, np.linalg.lstsq(Z[:50], y[:50], rcond=None)[0])


def test_predictions_make_coefficients_more_certain(regression):
    Z, y, f = regression
    alone, powered = (linear_coefficients(products(Z, y, f, one), Z.T @ Z) for one in (0.0, 1.0))
    assert (np.diag(powered.variance) < 0.5 * np.diag(alone.variance)).all()
    assert (powered.degrees < 49).all()
    assert (powered.degrees > 8).all()


def test_logistic_coefficients_solve_their_equation(regression, rng):
    Z, y, _ = regression
    label = (rng.uniform(size=200) < expit(y)).astype(float)
    found = logistic_coefficients(
        products(Z, label, label, 1.0), lambda beta: logistic_curvature(Z, np.ones(200), beta)
    )
    assert_allclose(Z.T @ (label - expit(Z @ found.beta)), 0, atol=1e-8)


def test_columns_that_labels_do_not_tell_apart_are_refused(regression):
    Z, y, f = regression
    twice = np.column_stack([Z, Z[:, 1]])
    with pytest.raises(ValueError, match="do not tell 4 coefficients apart"):
        products(twice, y, f, 1.0)


def test_classes_without_an_overlap_have_no_logistic_coefficients(regression):
    Z, _, _ = regression
    label = (Z[:, 1] > 0).astype(float)
    with pytest.raises(ValueError, match="no finite coefficients"):
        logistic_coefficients(
            products(Z, label, label, 1.0), lambda beta: logistic_curvature(Z, np.ones(200), beta)
        )
