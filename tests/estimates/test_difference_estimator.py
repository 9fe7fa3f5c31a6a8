"""The difference estimator against brute force over all samples that there are."""

from itertools import combinations

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


def test_fits_that_move_all_rows_alike_add_no_variance(rows):
    y, f = rows
    sample, others = one_sample(y, f, range(n))
    moves = np.array([0.1, -0.2, 0.3, 0.0])
    alike = others._replace(moved=moves, moved_squares=np.square(moves))
    assert fits_variance(sample, alike) == pytest.approx(0, abs=1e-30)


def test_the_variance_of_fits_is_that_of_what_other_folds_move():
    """At labels drawn many times from rows where it is known."""
    rng, stands_for = np.random.default_rng(1), np.array([1.0, 2.0, 1.0, 4.0, 1.0, 1.0])
    delta, fold = rng.normal(size=(500, 3)), np.arange(6) % 3
    others = UnlabeledRows(500.0, 500.0, 0.0, 0.0, delta.mean(0), np.square(delta).mean(0))
    sample = LabeledSample(np.zeros(6), np.zeros(6), stands_for, np.ones(6), fold)
    share, squares = stands_for / stands_for.sum(), []
    for _ in range(3000):
        at = delta[rng.integers(500, size=6)] - delta.mean(0)
        c = np.array([(share * (fold == k)) @ at for k in range(3)])  # fold k, moved by fold j
        squares.append(np.square(c).sum() - np.square(np.diag(c)).sum())
    assert fits_variance(sample, others) == pytest.approx(np.mean(squares), rel=0.1)


def test_squares_are_unbiased_where_labels_count_differently():
    """Distances are linear in labels, so each label's share of their squares can be added up."""
    stands_for = np.array([1.0, 2.0, 3.0, 5.0, 20.0, 1.0, 4.0, 9.0])
    zeros = np.zeros(8)
    for stratum in (None, np.array([0, 0, 0, 1, 1, 1, 1, 1])):
        sample = LabeledSample(zeros, zeros, stands_for, np.ones(8), np.zeros(8, int), stratum)
        expected = sum(np.square(centred(sample, one)) for one in np.eye(8))
        assert_allclose(expected, 1)
