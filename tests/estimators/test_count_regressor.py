"""Counts: means, whole intervals, D2, and labels that are no counts."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import d2_tweedie_score

from twinviews import (
    DataWarning,
    OutsideWarning,
    XNVCountRegressor,
    XNVRegressor,
    estimate,
    export_onnx,
    forecast_error,
    load_model,
    save_model,
    suggest,
)
from twinviews.evaluation.told_error import told_error

N, LABELED = 700, 120


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    return X, rng.poisson(np.exp(0.5 + 0.8 * X[:, 0] + 0.4 * np.sin(2 * X[:, 1]))).astype(float)


def make(**parameters):
    return XNVCountRegressor(members=None, random_state=0, **parameters)


@cache
def fitted():
    X, y = table()
    return make().fit(X[:LABELED], y[:LABELED], X_unlabeled=X[LABELED:])


def test_means_are_positive_and_not_biased():
    X, y = table()
    predicted = fitted().predict(X)
    assert (predicted > 0).all()
    with pytest.warns(OutsideWarning):
        far = fitted().predict(50 * X)
    assert (far > 0).all()
    assert (far <= 2 * y[:LABELED].max() + 1e-9).all()
    assert_allclose(predicted[LABELED:].mean(), y[LABELED:].mean(), rtol=0.1)


def test_the_regression_inside_is_that_of_a_scale():
    X, y = table()
    assert fitted().count_scale_ == "square root"
    given = {name: getattr(fitted(), f"{name}_") for name in ("sigma", "correlation_ridge")}
    fixed = make(scale="standard", **given).fit(X[:LABELED], y[:LABELED])
    root = XNVRegressor(members=None, random_state=0, scale="standard", ridge=fixed.ridge_, **given)
    root.fit(X[:LABELED], np.sqrt(y[:LABELED]))
    assert_allclose(fixed._decision(fixed._prepared(X))[:, 0], root.predict(X), rtol=1e-9)


def test_intervals_have_whole_ends_and_hold():
    X, y = table()
    found = fitted().predict_interval(X[LABELED:])
    assert_array_equal(found, np.round(found))
    assert (found >= 0).all()
    low, high = found.T
    assert (low <= high).all()
    assert 0.85 < np.mean((low <= y[LABELED:]) & (y[LABELED:] <= high)) < 0.98
    few = make().fit(X[:8], y[:8], X_unlabeled=X[8:]).predict_interval(X, 0.95)
    assert np.isinf(few[:, 1]).all()
    assert_array_equal(few[:, 0], 0)


def test_intervals_of_rows_that_are_copies_hold_single_counts():
    """Columns with few values: a row has many labels, and the next one is as far off as they are."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(900, 2)).astype(float)
    y = rng.negative_binomial(1, 1 / (1 + np.exp(1 + X[:, 0]))).astype(float)
    model = make(n_components=2).fit(X[:200], y[:200])
    low, high = model.predict_interval(X[200:]).T
    assert np.mean((low <= y[200:]) & (y[200:] <= high)) > 0.85
    assert_allclose(model.predict(X).mean(), y.mean(), rtol=0.15)


def test_errors_are_those_of_new_rows():
    X, y = table()
    model, others = fitted(), slice(LABELED, None)
    predicted = model.predict(X[others])
    assert model.score(X[others], y[others]) == pytest.approx(
        d2_tweedie_score(y[others], predicted, power=1)
    )
    assert model.cv_d2_ == pytest.approx(model.score(X[others], y[others]), abs=0.15)
    low, high = model.cv_error_interval_
    assert low < np.sqrt(np.mean(np.square(predicted - y[others]))) < high
    assert "of the Poisson deviance" in told_error(model).words()
    assert told_error(model).as_dict()["d2"] == model.cv_d2_


def test_probabilities_of_counts():
    X, y = table()
    p = fitted().predict_count_proba(X, np.arange(400))
    assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    assert_allclose(p @ np.arange(400), fitted().predict(X), rtol=1e-4)
    assert p[LABELED:, 0].mean() == pytest.approx(np.mean(y[LABELED:] == 0), abs=0.05)
    with pytest.raises(ValueError, match="whole numbers from 0 up"):
        fitted().predict_count_proba(X, [0.5])


def test_weight_two_is_the_row_twice():
    X, y = table()
    X, y = X[:60], y[:60]
    twice = np.r_[np.arange(60), np.arange(10)]
    weight = np.where(np.arange(60) < 10, 2.0, 1.0)
    again, weighted = make().fit(X[twice], y[twice]), make().fit(X, y, sample_weight=weight)
    assert_allclose(again.predict(X), weighted.predict(X), rtol=1e-7)
    assert_array_equal(again.predict_interval(X), weighted.predict_interval(X))
    assert again.cv_d2_ == pytest.approx(weighted.cv_d2_)


def test_amounts_are_told_and_not_rounded():
    X, y = table()
    with pytest.warns(DataWarning, match="labels are not whole numbers"):
        model = make().fit(X[:LABELED], y[:LABELED] / 4)
    ends = model.predict_interval(X)
    assert (ends != np.round(ends)).any()
    assert (ends >= 0).all()


def test_labels_below_zero_and_several_columns_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"y\[0\] is -1, and counts are never below 0"):
        make().fit(X, np.r_[-1, y[1:]])
    assert make(missing_label=-1).fit(X[:80], np.r_[-1, y[1:80]]).n_labeled_ == 79
    with pytest.raises(ValueError, match="y should be a 1d array"):
        make().fit(X, np.column_stack([y, y]))


def test_no_count_at_all():
    X, _ = table()
    model = make().fit(X[:40], np.zeros(40))
    assert_array_equal(model.predict(X), 0)
    assert_array_equal(model.predict_interval(X), 0)
    assert np.isnan(model.cv_d2_)


def test_files_and_new_labels(tmp_path):
    X, y = table()
    save_model(fitted(), tmp_path / "m.twinviews")
    again = load_model(tmp_path / "m.twinviews")
    assert_array_equal(again.predict(X), fitted().predict(X))
    assert_array_equal(again.predict_interval(X), fitted().predict_interval(X))
    assert again.cv_d2_ == fitted().cv_d2_
    assert again.relabel(X[:200], y[:200]).n_labeled_ == 200
    assert (again.predict(X) > 0).all()


def test_a_table_gets_whole_columns(tmp_path):
    import pyarrow as pa

    X, y = table()
    frame = pa.table({"a": X[:, 0], "b": X[:, 1], "y": np.where(np.arange(N) < LABELED, y, np.nan)})
    model = make().fit_table(frame, target="y")
    (found, *_) = model.predict_batches(frame, coverage=0.8)
    assert found.schema.names == ["prediction", "lower", "upper"]
    upper = np.asarray(found["upper"])
    assert_array_equal(upper, np.round(upper))


def test_what_follows_works_or_says_why_not(tmp_path):
    X, y = table()
    assert len(suggest(fitted(), X, 3).places) == 3
    (mean,) = estimate(fitted(), X[:LABELED], y=y[:LABELED])  # of rows that all have a label
    assert mean.estimate == pytest.approx(y[:LABELED].mean())
    labels = np.where(np.arange(N) < 60, y, np.nan)
    assert forecast_error(fitted(), X, labels, more=[30]).promised[0].value > 0
    with pytest.raises(ValueError, match="no ONNX graph"):
        export_onnx(fitted(), tmp_path / "m.onnx")


def test_an_ensemble_keeps_large_counts():
    X, y = table()
    model = XNVCountRegressor(random_state=0, n_threads=1)
    model.fit(X[:40], np.r_[500.0, y[1:40]], X_unlabeled=X[40:200])
    (ensemble,) = model._ensembles
    assert ensemble.outlying is None
    assert (model.predict(X) > 0).all()
