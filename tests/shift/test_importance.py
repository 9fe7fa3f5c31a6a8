"""Importance weights: one where labels are random, and a step towards all rows where they are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.shift.importance import importance_weights


def tilted(rng, strength, n=200, N=3000):
    """Rows in random order, and which have a label: more likely where the first column is large."""
    X = rng.normal(size=(N, 3))
    chance = np.exp(strength * X[:, 0])
    is_labeled = np.zeros(N, dtype=bool)
    is_labeled[rng.choice(N, n, replace=False, p=chance / chance.sum())] = True
    return X, is_labeled


def test_random_labels_have_equal_weights():
    rng = np.random.default_rng(0)
    shares = [importance_weights(*tilted(rng, 0.0)).n_effective / 200 for _ in range(10)]
    assert np.median(shares) > 0.97
    assert min(shares) > 0.85


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_weights_bring_labeled_rows_closer_to_all_rows(strength):
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, strength)
    weights = importance_weights(X, is_labeled)
    before = X[is_labeled].mean(axis=0)[0] - X[:, 0].mean()
    after = np.average(X[is_labeled, 0], weights=weights.labeled) - X[:, 0].mean()
    assert abs(after) < 0.5 * before
    assert weights.n_effective < 180
    true = np.exp(-strength * X[is_labeled, 0])
    assert np.corrcoef(np.log(weights.labeled), np.log(true))[0, 1] > 0.8


def test_weights_are_limited_and_have_mean_one():
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, 3.0)
    weights = importance_weights(X, is_labeled, most=5.0)
    assert_allclose(weights.labeled.mean(), 1, rtol=1e-6)
    assert weights.labeled.max() == 5.0
    assert weights.others.max() == 5.0


def test_where_most_rows_have_a_label_weights_are_close_to_one():
    rng = np.random.default_rng(0)
    X, is_labeled = tilted(rng, 1.0)
    few, most = (importance_weights(X, is_labeled, labeled_share=share) for share in (0.0, 0.9))
    assert most.n_effective > few.n_effective
    assert most.n_effective > 190


def test_samples_that_do_not_overlap_have_finite_weights():
    X = np.random.default_rng(0).normal(size=(400, 2))
    weights = importance_weights(X, X[:, 0] > 0.5)
    assert np.isfinite(weights.labeled).all()
    assert np.isfinite(weights.others).all()
    assert weights.is_beyond.mean() > 0.3
