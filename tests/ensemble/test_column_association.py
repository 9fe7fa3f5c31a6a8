"""Which of many columns members look at, and that a default fit finds the few that matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import XNVClassifier, XNVRegressor, load_model, save_model
from twinviews.ensemble.column_association import associated_columns
from twinviews.ensemble.learned_metric import MOST_COLUMNS_FOR_DISTANCES, Metric


def wide_table(n=200, N=500, D=120, seed=0):
    """Two columns matter by their product alone, and one by itself."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + N, D))
    signal = np.sin(X[:, 70]) + X[:, 80] * X[:, 90]
    return X, signal + 0.1 * random.normal(size=n + N), signal


def test_few_columns_are_all_taken_and_of_many_those_that_matter():
    X, y, _ = wide_table(n=400, N=0, D=600)
    assert_array_equal(associated_columns(X[:, :64], y[:, None], 64), np.arange(64))
    chosen = associated_columns(X, y[:, None], 64)
    assert len(chosen) == 64
    assert (np.diff(chosen) > 0).all()
    assert {70, 80, 90} <= set(chosen)


def test_the_choice_does_not_depend_on_units_or_on_other_orders_of_rows():
    X, y, _ = wide_table(n=100, N=0)
    chosen = associated_columns(X, y[:, None], 20)
    order = np.random.default_rng(1).permutation(100)
    units = 2.0 ** np.arange(120).clip(0, 30)
    assert_array_equal(associated_columns((X * units)[order], 8 * y[order, None], 20), chosen)


def test_a_metric_leaves_out_columns_of_factor_zero():
    X = np.random.default_rng(2).normal(size=(5, 4))
    L = np.array([0.0, 2.0, 0.0, 3.0])
    assert_array_equal(Metric(L)(X), X[:, [1, 3]] * [2.0, 3.0])
    stretched = Metric(L).stretched(np.array([1.0, 16.0]))
    assert_array_equal(stretched.L != 0, L != 0)
    assert_allclose(stretched.L[3] / stretched.L[1], 3.0, rtol=1e-5)


def test_a_wide_table_with_few_columns_that_matter_is_learned(tmp_path):
    """Above 64 columns there was no width for each: the error was that of the mean.

    Above 512, classes are below, and numbers in trust/test_claims.py.
    """
    X, y, signal = wide_table(n=300)
    model = XNVRegressor(random_state=0).fit(X[:300], y[:300], X_unlabeled=X[300:])
    error = np.sqrt(np.mean((model.predict(X[300:]) - signal[300:]) ** 2))
    assert error < 0.3 * signal.std()
    weights = model.learned_metric_
    assert set(np.argsort(weights)[-3:]) == {70, 80, 90}
    save_model(model, tmp_path / "wide.twinviews")
    assert_array_equal(load_model(tmp_path / "wide.twinviews").predict(X), model.predict(X))


@pytest.mark.long
def test_classes_of_a_wide_table_are_learned():
    random = np.random.default_rng(4)
    X = random.normal(size=(800, MOST_COLUMNS_FOR_DISTANCES + 100))
    y = X[:, 70] + X[:, 80] ** 2 > 1
    model = XNVClassifier(random_state=0).fit(X[:300], y[:300], X_unlabeled=X[300:])
    assert model.score(X[300:], y[300:]) > 0.9
