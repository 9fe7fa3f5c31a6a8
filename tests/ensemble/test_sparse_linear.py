"""The lasso as a member: scikit-learn's, and what the default gains by it on a wide table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import KFold

from twinviews import XNVRegressor
from twinviews.ensemble.member import Labeled
from twinviews.ensemble.sparse_linear import SparseLinear


def few_of_many(n: int, D: int, t: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and the signal in them, a plane of three columns for each target."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(n, D)), np.zeros((D, t))
    coef[:3] = rng.choice([-1.0, 1.0], size=(3, t)) * rng.uniform(1, 2, size=(3, t))
    signal = X @ coef
    return X, signal + 0.3 * rng.normal(size=(n, t)), signal


def plane_of(X, Y, weight=None):
    weight = np.full(len(Y), 1 / len(Y)) if weight is None else weight
    return SparseLinear().fit(Labeled(X, Y, weight / weight.sum()), X)[0]


def test_rows_that_count_the_same_have_scikit_learns_fit():
    X, Y, _ = few_of_many(60, 100)
    centred, target = X - X.mean(axis=0), Y[:, 0] - Y.mean()
    settings = {"fit_intercept": False, "max_iter": 10_000}
    penalty = LassoCV(cv=KFold(5), alphas=40, eps=1e-2, **settings).fit(centred, target).alpha_
    peer = Lasso(penalty, tol=1e-8, **settings).fit(centred, target)
    plane = plane_of(X, Y)
    assert_allclose(plane.coef[:, 0], peer.coef_, atol=1e-10)
    assert_allclose(plane(X)[:, 0], peer.predict(centred) + Y.mean(), atol=1e-10)


@pytest.mark.parametrize("t", [1, 3])
def test_columns_that_matter_are_kept_and_most_others_are_not(t):
    X, Y, signal = few_of_many(120, 300, t)
    plane = plane_of(X, Y)
    kept = (plane.coef != 0).any(axis=1)
    assert kept[:3].all()
    assert kept.mean() < 0.3
    assert np.square(plane(X) - signal).mean() < 0.1 * signal.var()


def test_units_of_the_target_and_the_order_of_columns_do_not_matter():
    X, Y, _ = few_of_many(60, 80)
    plane, order = plane_of(X, Y), np.random.default_rng(1).permutation(80)
    other = plane_of(X[:, order], 100 * Y + 7)
    assert_allclose(other(X[:, order]), 100 * plane(X) + 7, rtol=1e-6)


def test_rows_without_weight_do_not_count():
    X, Y, _ = few_of_many(60, 20)
    weight = np.where(np.arange(60) % 12 == 0, 1e-12, 1.0)
    spoiled = np.where(weight[:, None] < 1, 1e3, Y)
    assert_allclose(plane_of(X, spoiled, weight).coef, plane_of(X, Y, weight).coef, atol=1e-3)


def test_very_many_columns_and_a_constant_target():
    X, Y, _ = few_of_many(50, 2600)
    assert set(np.flatnonzero(plane_of(X, Y).coef[:, 0])) >= {0, 1, 2}
    constant = np.full((50, 1), 4.0)
    assert_array_equal(plane_of(X[:, :70], constant).coef, 0)
    assert_allclose(plane_of(X[:, :70], constant)(X[:, :70]), 4.0)


def test_the_default_finds_a_plane_of_few_columns_among_many():
    X, Y, signal = few_of_many(260, 150)
    model = XNVRegressor(random_state=0).fit(X[:60], Y[:60, 0], X_unlabeled=X[60:])
    assert model.members_[0][0] == "lasso, standard"
    error = np.sqrt(np.mean((model.predict(X[60:]) - signal[60:, 0]) ** 2))
    assert error < 0.2 * signal.std()  # without the lasso 0.5
