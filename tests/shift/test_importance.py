"""Importance weights: one where labels are random, and a step towards all rows where they are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.shift.importance import effective_labels, row_importance


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
    weights, others = importance.of_labeled(X[is_labeled]), importance(X[~is_labeled])
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
    assert importance.is_beyond(others).mean() > 0.3
    assert np.array_equal(importance(others) == np.inf, importance.is_beyond(others))


def test_weights_do_not_depend_on_the_scale_of_a_column():
    X, is_labeled = tilted(np.random.default_rng(0), 1.0, n=60, N=250)
    other = np.column_stack([np.exp(X[:, 0]), 1e6 * X[:, 1] - 3, X[:, 2] ** 3])
    ours, theirs = row_importance(X, is_labeled), row_importance(other, is_labeled)
    assert_allclose(theirs(other), ours(X), rtol=1e-6)


def test_a_labeled_row_has_no_say_in_its_own_weight():
    """The closed form against a fit without the row, all else the same."""
    X, is_labeled = tilted(np.random.default_rng(0), 1.0, N=600)
    importance = row_importance(X, is_labeled)
    Z = importance._features(X)
    penalty = np.diag(1 / importance.shrunk) - np.diag(np.square(Z).sum(axis=0))
    target = is_labeled - is_labeled.mean()
    row = int(np.flatnonzero(is_labeled)[7])
    rest = np.arange(600) != row
    A = np.column_stack([np.ones(599), Z[rest]])
    P = np.zeros((A.shape[1], A.shape[1]))
    P[1:, 1:] = penalty
    coef = np.linalg.solve(A.T @ A + P, A.T @ target[rest])
    by_hand = coef[0] + Z[row] @ coef[1:]
    assert_allclose(importance._left_out(X[[row]]), [by_hand], atol=1e-9)
