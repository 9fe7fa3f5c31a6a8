"""Columns are divided by their spread over all rows, or over labeled ones where labels say so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import XNVClassifier, XNVRegressor
from twinviews.ensemble.column_spread import scaling_by_evidence
from twinviews.method.labeled_problem import distinct_problem
from twinviews.passes.scaling import ColumnMoments, standard_scaling

N, LABELS = 600, 80


def wave(seed=0):
    """The first of three columns decides."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 3))
    return X, np.sin(3 * X[:, 0]) + 0.1 * random.normal(size=N)


def with_far_rows(X, far):
    """Three unlabeled rows whose first column is far from all others."""
    return np.vstack([X[:-3], X[-3:] * 0 + [far, 0, 0]])


def problem_of(X, y, copies=None):
    rows = np.repeat(np.arange(LABELS), 1 if copies is None else copies)
    return distinct_problem(X[:LABELS], rows, y[rows, None], np.ones(len(rows)), np.arange(1))


def spread_over(X):
    return standard_scaling(ColumnMoments.of(X, None))


def test_alike_spreads_leave_all_rows_in_charge():
    X, y = wave()
    assert scaling_by_evidence(spread_over(X), [problem_of(X, y)]).same_as(spread_over(X))


def test_far_rows_without_a_label_do_not_decide_the_spread():
    X, y = wave()
    of_all = spread_over(with_far_rows(X, 60.0))
    found = scaling_by_evidence(of_all, [problem_of(X, y)])
    assert_allclose(found.spread, X[:LABELS].std(axis=0))
    assert_array_equal(found.centre, of_all.centre)


def test_labels_that_depend_on_nothing_change_nothing():
    X, _ = wave()
    of_all = spread_over(with_far_rows(X, 60.0))
    noise = np.random.default_rng(1).normal(size=N)
    assert scaling_by_evidence(of_all, [problem_of(X, noise)]) is of_all


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_column_that_labeled_rows_tell_nothing_of_keeps_the_spread_of_all(value):
    X, y = wave()
    X[:LABELS, 2] = value
    of_all = spread_over(with_far_rows(X, 60.0))
    found = scaling_by_evidence(of_all, [problem_of(X, y)])
    assert found.spread[2] == of_all.spread[2]
    assert found.spread[0] < 2


def test_a_row_given_twice_is_a_row_of_weight_two():
    X, y = wave()
    copies = 1 + np.arange(LABELS) % 2
    weighted = distinct_problem(X[:LABELS], np.arange(LABELS), y[:LABELS, None], 1.0 * copies, [0])
    of_all = spread_over(with_far_rows(X, 60.0))
    found = scaling_by_evidence(of_all, [problem_of(X, y, copies)])
    assert found.same_as(scaling_by_evidence(of_all, [weighted]))


@pytest.mark.parametrize("kind", [XNVRegressor, XNVClassifier])
def test_the_order_of_the_rows_does_not_matter(kind):
    X, y = wave()
    far, few = with_far_rows(X, 60.0), np.where(np.arange(N) < LABELS, y, np.nan)
    if kind is XNVClassifier:
        few = np.where(np.isnan(few), None, np.where(few > 0, "up", "down"))
    order = np.random.default_rng(0).permutation(N)
    model = kind(members=["built-in"], random_state=0).fit(far, few)
    other = kind(members=["built-in"], random_state=0).fit(far[order], few[order])
    assert_array_equal(other.landmarks_, model.landmarks_)


def test_a_scale_that_was_asked_for_is_that_of_all_rows():
    X, y = wave()
    far, few = with_far_rows(X, 60.0), np.where(np.arange(N) < LABELS, y, np.nan)
    by_itself = XNVRegressor(random_state=0).fit(far, few)
    asked_for = XNVRegressor(random_state=0, scale="standard").fit(far, few)
    width = [np.ptp(model.landmarks_, axis=0) for model in (by_itself, asked_for)]
    of_all, of_labeled = far.std(axis=0), X[:LABELS].std(axis=0)
    assert_allclose(width[0] * of_labeled, width[1] * of_all, rtol=1e-6)
    assert width[0][0] > 3 * width[1][0]
