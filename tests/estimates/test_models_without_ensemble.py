"""Estimates by a model that is one ridge regression: its folds are solved again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews import (
    KRRClassifier,
    KRRRegressor,
    XKSClassifier,
    XNVRegressor,
    estimate,
    load_model,
    save_model,
)
from twinviews.estimates.cross_predictions import CrossPredictions


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=400)
    return X, y, np.where(rng.permutation(400) < 60, y, np.nan)


def test_folds_are_fits_without_their_labels(rows):
    """Of kernel ridge regression with its width and ridge fixed, fitted by itself."""
    X, _, labels = rows
    fixed = {"sigma": 1.5, "ridge": 1e-2}
    model = KRRRegressor(**fixed).fit(X, labels)
    cross = CrossPredictions(model)
    known = np.flatnonzero(~np.isnan(labels))
    fold = 3
    out = cross.problem.X[cross.fold_of == fold]
    scaled = model._prepared(X[known])
    inside = known[~(scaled[:, None] == out).all(axis=2).any(axis=1)]
    apart = KRRRegressor(**fixed, scale=None).fit(model._prepared(X[inside]), labels[inside])
    at = model._prepared(X[:50])
    assert_allclose(cross.without_folds(at)[:, fold, 0], apart.predict(at), atol=0.02)
    assert_allclose(cross.shipped(at)[:, 0], model.predict(X[:50]))


@pytest.mark.parametrize("Model", [KRRRegressor, XNVRegressor])
def test_numbers(rows, Model, tmp_path):
    X, y, labels = rows
    quick = {} if Model is KRRRegressor else {"members": None, "random_state": 0}
    model = Model(**quick).fit(X, labels)
    (found,) = estimate(model, X, y=labels)
    assert found.low < y.mean() < found.high
    assert found.high - found.low < 0.6 * (found.labels_alone_high - found.labels_alone_low)
    save_model(model, tmp_path / "model")
    again = estimate(load_model(tmp_path / "model"), X, y=labels)[0]
    assert_allclose([again.low, again.high], [found.low, found.high])
    for question in ({"what": "quantile"}, {"above": 1.0}, {"what": "coefficients", "columns": ["0"]}):
        assert len(estimate(model, X, y=labels, **question)) >= 1


@pytest.mark.parametrize("model", [KRRClassifier(), XKSClassifier(random_state=0)])
def test_classes(rows, model):
    X, y, labels = rows
    names = np.select([np.isnan(labels), labels > 1, labels > -1], [None, "high", "middle"], "low")
    names[np.isnan(labels)] = None
    found = estimate(model.fit(X, names), X, y=names)
    assert [row.what for row in found] == ["share = high", "share = low", "share = middle"]
    assert sum(row.estimate for row in found) == pytest.approx(1, abs=0.02)
    for row, true in zip(found, (y > 1, y <= -1, (y > -1) & (y <= 1)), strict=True):
        assert abs(row.estimate - true.mean()) < row.labels_alone_high - row.labels_alone_low


def test_each_of_several_targets(rows):
    X, _, labels = rows
    both = np.column_stack([labels, np.where(np.arange(400) % 5, 3 * labels, np.nan)])
    model = XNVRegressor(members=None, random_state=0).fit(X, both)
    first, second = estimate(model, X, y=both)
    assert (first.n_labels, second.n_labels) == (60, int(np.isfinite(both[:, 1]).sum()))
    assert first.labels_alone == pytest.approx(np.nanmean(labels))
    assert second.labels_alone == pytest.approx(np.nanmean(both[:, 1]))
