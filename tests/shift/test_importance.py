"""Importance weights: one where labels are random, and a step towards all rows where they are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.passes.scaling import Scaling, rank_scaling
from twinviews.shift.importance import _left_out, _logistic, effective_labels, row_importance
from twinviews.shift.two_sample_test import kernel_features


def tilted(rng, strength, n=200, N=3000):
    """Rows in random order, and which have a label: more likely where the first column is large."""
    X = rng.normal(size=(N, 3))
    chance = np.exp(strength * X[:, 0])
    is_labeled = np.zeros(N, dtype=bool)
    is_labeled[rng.choice(N, n, replace=False, p=chance / chance.sum())] = True
    return X, is_labeled


def test_random_labels_have_equal_weights():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(10):
        X, is_labeled = tilted(rng, 0.0)
        weights = row_importance(X, is_labeled).of_labeled(X[is_labeled])
        shares.append(effective_labels(weights) / 200)
    assert np.median(shares) > 0.97
    assert min(shares) > 0.85


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_weights_bring_labeled_rows_closer_to_all_rows(strength):
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, strength)
    weights = row_importance(X, is_labeled).of_labeled(X[is_labeled])
    before = X[is_labeled].mean(axis=0)[0] - X[:, 0].mean()
    after = np.average(X[is_labeled, 0], weights=weights) - X[:, 0].mean()
    assert abs(after) < 0.5 * before
    assert effective_labels(weights) < 180
    true = np.exp(-strength * X[is_labeled, 0])
    assert np.corrcoef(np.log(weights), np.log(true))[0, 1] > 0.8


def test_weights_are_limited_and_have_mean_one():
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, 3.0)
    importance = row_importance(X, is_labeled, most=5.0)
    weights, others = importance.of_labeled(X[is_labeled]), importance.at(X[~is_labeled])
    assert_allclose(weights.mean(), 1, rtol=1e-6)
    assert weights.max() == 5.0
    assert others[np.isfinite(others)].max() == 5.0


def test_where_most_rows_have_a_label_weights_are_close_to_one():
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, 1.0)
    few, most = (
        effective_labels(row_importance(X, is_labeled, labeled_share=share).of_labeled(X[is_labeled]))
        for share in (0.0, 0.9)
    )
    assert most > few
    assert most > 190


def test_samples_that_do_not_overlap_have_finite_weights():
    X = np.random.default_rng(0).normal(size=(400, 2))
    importance = row_importance(X, X[:, 0] > 0.5)
    assert np.isfinite(importance.of_labeled(X[X[:, 0] > 0.5])).all()
    others = X[X[:, 0] <= 0.5]
    assert importance.at.is_beyond(others).mean() > 0.3
    assert np.array_equal(importance.at(others) == np.inf, importance.at.is_beyond(others))


def test_weights_do_not_depend_on_the_scale_of_a_column():
    X, is_labeled = tilted(np.random.default_rng(0), 1.0, n=60, N=250)
    other = np.column_stack([np.exp(X[:, 0]), 1e6 * X[:, 1] - 3, X[:, 2] ** 3])
    ours, theirs = row_importance(X, is_labeled), row_importance(other, is_labeled)
    assert_allclose(theirs.at(other), ours.at(X), rtol=1e-6)


def test_a_labeled_row_has_no_say_in_its_own_weight():
    """The closed form against the regression without the row, on the same features."""
    X, is_labeled = tilted(np.random.default_rng(0), 1.0, N=600)
    Z = kernel_features(rank_scaling(X)(X))(rank_scaling(X)(X))
    A, target = np.column_stack([np.ones(600), Z]), is_labeled.astype(float)
    weight = np.where(is_labeled, 1.0, 0.5)
    coef, covariance = _logistic(A, target, weight, 3.0, np.zeros(A.shape[1]))
    found = _left_out(A, coef, covariance, target, weight)
    for row in np.flatnonzero(is_labeled)[:5]:
        rest = np.arange(600) != row
        without, _ = _logistic(A[rest], target[rest], weight[rest], 3.0, coef)
        assert_allclose(found[row], A[row] @ without, atol=0.02)
        assert abs(found[row] - A[row] @ without) < 0.2 * abs(A[row] @ coef - A[row] @ without)


def test_weights_of_rows_on_another_scale():
    X, is_labeled = tilted(np.random.default_rng(0), 1.0)
    scale = Scaling(np.array([1.0, -2.0, 0.0]), np.array([2.0, 0.1, 30.0]), None)
    importance = row_importance(X, is_labeled)
    assert_allclose(importance.on(scale).at(scale(X)), importance.at(X), rtol=1e-6)
    assert importance.on(None) == importance


def test_weights_are_near_the_true_ones():
    rng = np.random.default_rng(1)
    for strength in (0.5, 1.0, 1.5):
        X, is_labeled = tilted(rng, strength, n=300)
        found = row_importance(X, is_labeled).of_labeled(X[is_labeled])
        true = np.exp(-strength * X[is_labeled, 0])
        ours, oracle = effective_labels(found), effective_labels(np.minimum(true / true.mean(), 20))
        assert 0.6 < ours / oracle < 1.6
