"""The difference estimator against brute force over all samples that there are."""

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.estimates.difference_estimator import (
    LabeledSample,
    UnlabeledRows,
    centred,
    difference_estimate,
    fits_variance,
    labels_worth,
)

N, n = 8, 4


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    return y, y + 0.3 * rng.normal(size=N)  # and predictions


def one_sample(y, f, chosen, stands_for=None, weight=None, stratum=None):
    chosen = np.array(chosen)
    others = np.setdiff1d(np.arange(len(y)), chosen)
    weight = np.ones(len(y)) if weight is None else weight
    w = weight[others]
    unlabeled = UnlabeledRows(w.sum(), np.square(w).sum(), float(np.average(f[others], weights=w)))
    a = np.ones(len(chosen)) if stands_for is None else stands_for[chosen]
    sample = LabeledSample(
        y[chosen],
        f[chosen],
        a,
        weight[chosen],
        np.arange(len(chosen)),
        None if stratum is None else stratum[chosen],
    )
    return sample, unlabeled


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_over_all_samples_the_estimate_and_its_variance_are_unbiased(rows, power):
    y, f = rows
    found = [
        difference_estimate(*one_sample(y, f, chosen), power) for chosen in combinations(range(N), n)
    ]
    values = np.array([one.value for one in found])
    assert_allclose(values.mean(), y.mean())
    assert_allclose(np.mean([one.variance for one in found]), values.var())


def test_over_all_stratified_samples_too(rows):
    y, f = rows
    stratum = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    stands_for = np.where(stratum == 0, 3 / 2, 1 / 2)  # 2 of 5 rows, and 2 of 3
    found = [
        difference_estimate(*one_sample(y, f, (*first, *second), stands_for, stratum=stratum), 1.0)
        for first in combinations(range(5), 2)
        for second in combinations(range(5, 8), 2)
    ]
    values = np.array([one.value for one in found])
    assert_allclose(values.mean(), y.mean())
    assert_allclose(np.mean([one.variance for one in found]), values.var())


def test_labels_alone_are_the_textbook_mean(rows):
    y, f = rows
    sample, others = one_sample(y, f, range(n))
    found = difference_estimate(sample, others, 0.0)
    assert_allclose(found.value, y[:n].mean())
    assert_allclose(found.variance, y[:n].var(ddof=1) / n * (1 - n / N))
    assert found.degrees == pytest.approx(n - 1)
    assert labels_worth(found.variance, sample, others) == pytest.approx(n)


def test_constant_predictions_change_nothing(rows):
    y, _ = rows
    sample, others = one_sample(y, np.full(N, 7.0), range(n))
    assert_allclose(
        difference_estimate(sample, others, 1.0), difference_estimate(sample, others, 0.0), rtol=1e-12
    )


def test_perfect_predictions_leave_no_doubt(rows):
    y, _ = rows
    found = difference_estimate(*one_sample(y, y, range(n)), 1.0)
    assert_allclose(found.value, y.mean())
    assert found.variance == pytest.approx(0, abs=1e-30)


def test_a_row_of_weight_two_is_two_rows(rows):
    y, f = rows
    weight = np.ones(N)
    weight[-1] = 2
    once = difference_estimate(*one_sample(y, f, range(n), weight=weight), 1.0)
    twice = difference_estimate(*one_sample(np.append(y, y[-1]), np.append(f, f[-1]), range(n)), 1.0)
    assert_allclose(once, twice)


def test_the_population_is_less_certain_than_the_rows(rows):
    y, f = rows
    sample, others = one_sample(y, f, range(n))
    alone = difference_estimate(sample, others, 0.0, population=True)
    assert_allclose(alone.variance, y[:n].var(ddof=1) / n)  # without the finite-population correction
    assert labels_worth(alone.variance, sample, others, population=True) == pytest.approx(n)


def test_labels_that_are_all_alike_do_not_prove_that_all_rows_are():
    y = np.zeros(40)
    sample, others = one_sample(y, y, range(20))
    assert difference_estimate(sample, others, 1.0).variance == 0
    assert difference_estimate(sample, others, 1.0, is_share=True).variance > 0.01**2


def moving(rows, at_labels, at_others, fold):
    y, f = rows
    sample, others = one_sample(y, f, range(n))
    return sample._replace(moved=at_labels, fold=fold), others._replace(moved=at_others)


def test_fits_that_move_alike_at_labels_and_at_other_rows_add_no_variance(rows):
    moves = np.array([0.1, -0.2, 0.3, 0.0])
    assert fits_variance(*moving(rows, np.tile(moves, (n, 1)), moves, np.arange(n) % 4)) < 1e-30


def test_the_variance_of_fits_bounds_the_covariance_of_folds(rows):
    rng, fold = np.random.default_rng(1), np.arange(n) % 4
    at_labels, at_others = rng.normal(size=(n, 4)), rng.normal(size=4)
    sizes, c = np.bincount(fold) / n, np.zeros((4, 4))
    for k, j in permutations(range(4), 2):
        c[k, j] = sizes[k] * (at_labels[fold == k, j].mean() - at_others[j])
    found = fits_variance(*moving(rows, at_labels, at_others, fold))
    assert_allclose(found, np.square(c).sum())
    assert found >= np.sum(c * c.T)


def test_squares_are_unbiased_where_labels_count_differently():
    """Distances are linear in labels, so each label's share of their squares can be added up."""
    stands_for = np.array([1.0, 2.0, 3.0, 5.0, 20.0, 1.0, 4.0, 9.0])
    zeros = np.zeros(8)
    for stratum in (None, np.array([0, 0, 0, 1, 1, 1, 1, 1])):
        sample = LabeledSample(zeros, zeros, stands_for, np.ones(8), np.zeros(8, int), stratum)
        expected = sum(np.square(centred(sample, one)) for one in np.eye(8))
        assert_allclose(expected, 1)
