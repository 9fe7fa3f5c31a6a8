"""Block size, row order, threads and the form of the input do not change a model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import XNVRegressor
from twinviews.tables import ArrayTable, Block

GIVEN = {"n_components": 40, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}


@pytest.mark.parametrize("block_rows", [1, 17, 1000])
def test_block_size_does_not_change_the_model(table, block_rows):
    whole = make("XNVRegressor", **GIVEN).fit(table.X, table.few)
    model = XNVRegressor(random_state=0, **GIVEN)
    model.n_features_in_ = 4
    model._one_column = True
    part = Block(table.X, table.few[:, None], None)
    model._fit_table(ArrayTable(part, block_rows=block_rows))
    assert_array_equal(model.landmarks_, whole.landmarks_)
    assert_allclose(model.correlations_, whole.correlations_, rtol=1e-8)
    assert_allclose(model.predict(table.X), whole.predict(table.X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("parameters", [{}, {"sigma": 1.5}])
def test_row_order_does_not_change_the_model(name, parameters, table):
    X, few = table.X[:600], table.few[:600]
    turn = np.random.default_rng(0).permutation(600)
    straight = make(name, **parameters).fit(X, few)
    turned = make(name, **parameters).fit(X[turn], few[turn])
    assert_allclose(turned.predict(X), straight.predict(X), rtol=1e-8, atol=1e-8)
    if hasattr(straight, "landmarks_"):
        assert_array_equal(turned.landmarks_, straight.landmarks_)


@pytest.mark.parametrize("parameters", [GIVEN, {}, {**GIVEN, "cca": "randomized"}])
def test_threads_do_not_change_the_model_by_a_single_bit(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 3))
    y = np.where(np.arange(30_000) < 100, X[:, 0], np.nan)
    one, two, five = (
        make("XNVRegressor", **parameters, n_threads=n).fit(X, y).predict(X) for n in (1, 2, 5)
    )
    assert_array_equal(one, two)
    assert_array_equal(one, five)


@pytest.mark.parametrize("name", ["XNVRegressor", "XKSRegressor", "SSSLRegressor", "KRRRegressor"])
def test_float32_and_sparse_rows_give_the_same_model(name, table):
    X = np.where(np.abs(table.X) < 0.5, 0, table.X).astype(np.float32)
    given = {k: v for k, v in GIVEN.items() if k in make(name).get_params()}
    dense = make(name, **given).fit(X.astype(float), table.few)
    expected = dense.predict(X.astype(float))
    assert_allclose(make(name, **given).fit(X, table.few).predict(X), expected, rtol=1e-7, atol=1e-8)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        rows = form(X.astype(float))
        model = make(name, **given).fit(rows, table.few)
        assert_allclose(model.predict(rows), expected, rtol=1e-7, atol=1e-8)
        assert_allclose(model.predict(X), expected, rtol=1e-7, atol=1e-8)


FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "pyarrow": lambda X, names: pa.table(dict(zip(names, X.T, strict=True))),
}
COLUMNS = {
    "pandas": lambda y: pd.Series(y),
    "polars": lambda y: pl.Series([None if np.isnan(v) else v for v in y]),
    "pyarrow": lambda y: pa.chunked_array([pa.array(y, from_pandas=True)]),
}


@pytest.mark.parametrize("library", FRAMES)
def test_data_frames_of_every_library(library, table):
    names = ["width", "height", "depth", "age"]
    frame, column = FRAMES[library](table.X, names), COLUMNS[library](table.few)
    model = make("XNVRegressor", **GIVEN).fit(frame, column)
    expected = make("XNVRegressor", **GIVEN).fit(table.X, table.few).predict(table.X)
    assert_array_equal(model.predict(frame), expected)
    assert list(model.feature_names_in_) == names
    assert model.score(frame, column) == pytest.approx(
        make("XNVRegressor", **GIVEN).fit(table.X, table.few).score(table.X, table.few)
    )


def test_frames_with_other_columns_are_refused(table):
    names = ["a", "b", "c", "d"]
    model = make("XNVRegressor", **GIVEN).fit(pd.DataFrame(table.X, columns=names), table.few)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(table.X, columns=["a", "b", "d", "c"]))


@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_fit_changes_none_of_its_inputs(name, table):
    X, weight = table.X[:300].copy(), np.linspace(0, 2, 300)
    y = table.few[:300].copy()
    if name.endswith("Classifier"):
        y = np.where(np.isnan(y), None, np.where(y > 0, "a", "b")).astype(object)
    before = X.copy(), y.copy(), weight.copy()
    make(name).fit(X, y, X_unlabeled=X, sample_weight=weight).predict(X)
    for now, then in zip((X, y, weight), before, strict=True):
        assert_array_equal(now, then)


@pytest.mark.parametrize("name", REGRESSORS)
def test_weight_is_repetition_and_its_scale_does_not_matter(name, table):
    X, few = table.X[:200], table.few[:200]
    weight = np.random.default_rng(0).integers(1, 4, 200)
    weighted = make(name).fit(X, few, sample_weight=weight)
    repeated = make(name).fit(np.repeat(X, weight, axis=0), np.repeat(few, weight))
    scaled = make(name).fit(X, few, sample_weight=weight * 1e-3)
    for other in (repeated, scaled):
        assert_allclose(other.predict(X), weighted.predict(X), rtol=1e-7, atol=1e-8)
        assert_allclose(other.loo_error_, weighted.loo_error_, rtol=1e-7)


def test_shifting_and_scaling_do_what_the_mathematics_says(table):
    """A shift of the inputs changes nothing; a scale is a scale of sigma; labels carry through."""
    base = make("XNVRegressor", **GIVEN).fit(table.X, table.few)
    expected = base.predict(table.X)
    rotated = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]

    def predictions(X, y, **parameters):
        # landmarks are chosen by content, so they are handed over through the same priorities
        model = make("KRRRegressor", ridge=1e-2, **{"sigma": 1.5, **parameters})
        return model.fit(X, y).predict(X)

    krr = predictions(table.X, table.few)
    assert_allclose(predictions(table.X + 100, table.few), krr, atol=1e-8)
    assert_allclose(predictions(table.X @ rotated, table.few), krr, atol=1e-8)
    assert_allclose(predictions(1000 * table.X, table.few, sigma=1500.0), krr, atol=1e-8)
    labels = make("XNVRegressor", **GIVEN).fit(table.X, 1e3 * table.few - 7)
    assert_allclose(labels.predict(table.X), 1e3 * expected - 7, rtol=1e-8)
