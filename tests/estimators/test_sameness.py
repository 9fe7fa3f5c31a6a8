"""Row order, the form of the input and weights do not change a model; trust/ has blocks and threads."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import CLASSIFIERS, REGRESSORS, make

GIVEN = {"n_components": 40, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}


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


def test_a_rotation_of_the_rows_changes_nothing(table):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    model = make("KRRRegressor", ridge=1e-2, sigma=1.5)
    straight = model.fit(table.X, table.few).predict(table.X)
    turned = model.fit(table.X @ turn, table.few).predict(table.X @ turn)
    assert_allclose(turned, straight, atol=1e-8)
