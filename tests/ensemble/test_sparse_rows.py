"""Ensembles of sparse rows: directions learned from all rows, and a linear member on all columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from twinviews import XNVClassifier, XNVRegressor, load_model, save_model
from twinviews.ensemble import linear_ridge
from twinviews.ensemble.leading_directions import directions_of
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import Labeled


def words(n: int = 600, D: int = 400, seed: int = 0):
    """Rows like texts of four subjects, each with its own words, and the subject of each row."""
    rng = np.random.default_rng(seed)
    subject = rng.integers(0, 4, n)
    often = rng.gamma(0.3, size=(4, D))
    counts = rng.poisson(12 * often[subject] / often.sum(axis=1)[subject, None])
    return sparse.csr_array(np.log1p(counts).astype(float)), subject


def test_members_on_directions_and_on_all_columns_share_the_weight():
    X, subject = words()
    y = subject + 0.1 * np.random.default_rng(1).normal(size=len(subject))
    labels = np.where(np.arange(len(y)) < 80, y, np.nan)
    model = XNVRegressor(random_state=0).fit(X, labels)
    names = [name for name, _ in model.members_]
    assert any(name.endswith("directions") for name in names)
    assert not any(name.endswith("directions, standard") for name in names)
    views = XNVRegressor(random_state=0, members=None).fit(X, labels)
    assert model.score(X[80:], y[80:]) > views.score(X[80:], y[80:]) > 0


@pytest.fixture(scope="module")
def of_subjects():
    """A classifier of the rows, with an ensemble."""
    X, subject = words()
    labels = np.where(np.arange(len(subject)) < 60, subject.astype(float), np.nan)
    return XNVClassifier(random_state=0).fit(X, labels)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.asarray])
def test_rows_predict_the_same_in_every_form(form, of_subjects):
    X, subject = words()
    rows = form(X.toarray())
    assert_allclose(of_subjects.predict_proba(rows), of_subjects.predict_proba(X), atol=1e-9)
    assert np.mean(of_subjects.predict(X[60:]) == subject[60:]) > 0.8


def test_a_saved_model_predicts_the_same_and_takes_new_labels(tmp_path):
    X, subject = words()
    y = subject.astype(float)
    model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(len(y)) < 60, y, np.nan))
    save_model(model, tmp_path / "model.tv")
    again = load_model(tmp_path / "model.tv")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.predict_interval(X[:50]), model.predict_interval(X[:50]))


def test_few_columns_are_left_as_they_are():
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(50, 7)))
    leading = directions_of(X)["directions"]
    expected = (X.toarray() - X.toarray().mean(axis=0)) / X.toarray().std(axis=0)
    assert_allclose(leading(X), expected, atol=1e-9)


def test_directions_hold_what_rows_have_in_common():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 200))
    leading = directions_of(sparse.csr_array(rows))["directions"]
    V = leading.directions
    assert V.shape == (200, 5)  # the others are rounding
    assert_allclose(rows @ V @ V.T, rows, atol=1e-6)


@pytest.mark.parametrize("m", [40, 120])
def test_the_sparse_linear_member_is_the_dense_one(m):
    rng = np.random.default_rng(m)
    X, Y = rng.normal(size=(m, 60)) * (rng.random((m, 60)) < 0.2) + 0.3, rng.normal(size=(m, 2))
    weight = rng.random(m)
    weight /= weight.sum()
    (dense,) = LinearRidge().fit(Labeled(X, Y, weight), X)
    (thin,) = LinearRidge().fit(Labeled(sparse.csr_array(X), Y, weight), X)
    assert_allclose(thin(sparse.csr_array(X)), dense(X), atol=1e-6)


def test_the_linear_member_of_many_sparse_rows_is_a_ridge_regression():
    rng = np.random.default_rng(3)
    m = linear_ridge._MOST_PAIRED + 500
    X = sparse.random_array((m, 300), density=0.05, rng=rng, format="csr")
    y = X @ rng.normal(size=300) + 5 + 0.1 * rng.normal(size=m)
    (plane,) = LinearRidge().fit(Labeled(X, y[:, None], np.full(m, 1 / m)), X)
    alphas = m * linear_ridge._RIDGES
    fits = [Ridge(alpha).fit(X.toarray(), y).predict(X) for alpha in alphas]
    assert min(np.abs(plane(X)[:, 0] - fit).max() for fit in fits) < 1e-5


def test_scale_and_members_of_ones_own_with_sparse_rows():
    X, subject = words(200)
    labels = np.where(np.arange(200) < 60, subject.astype(float), np.nan)
    with pytest.raises(ValueError, match="would fill a sparse X"):
        XNVRegressor(scale="standard").fit(X, labels)
    model = XNVRegressor(random_state=0, members=["built-in", ("ridge", Ridge())]).fit(X, labels)
    assert np.isfinite(model.predict(X)).all()
