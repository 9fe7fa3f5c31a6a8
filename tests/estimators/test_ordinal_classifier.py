"""Ordered classes: their order, probabilities, errors in steps, and the regression inside."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from twinviews import (
    DataWarning,
    XNVOrdinalClassifier,
    XNVRegressor,
    estimate,
    export_onnx,
    forecast_error,
    inspect_model,
    load_model,
    save_model,
)
from twinviews.evaluation.told_error import told_error

WORDS = ["poor", "fair", "good", "excellent"]
N, LABELED = 400, 90


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    level = X[:, 0] + np.sin(X[:, 1]) + 0.5 * rng.normal(size=N)
    return X, np.digitize(level, [-1, 0, 1])


def make(**parameters):
    return XNVOrdinalClassifier(members=None, random_state=0, **parameters)


@cache
def fitted():
    X, rank = table()
    return make().fit(X[:LABELED], rank[:LABELED], X_unlabeled=X[LABELED:])


def few(labels):
    found = np.array(labels, dtype=object)
    found[LABELED:] = None
    return found


def test_orders_are_read_from_numbers_parameters_and_categories():
    X, rank = table()
    p = make().fit(X, few(rank)).predict_proba(X)
    words = np.array(WORDS)[rank]
    named = make(classes=WORDS).fit(X, few(words))
    assert_array_equal(named.classes_, WORDS)
    assert_array_equal(named.predict_proba(X), p)
    categories = pd.Series(pd.Categorical(few(words), WORDS, ordered=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        ordered = make().fit(X, categories)
    assert_array_equal(ordered.classes_, WORDS)
    assert_array_equal(ordered.predict_proba(X), p)
    assert_array_equal(ordered.relabel(X, few(words)).predict_proba(X), p)  # words alone, by then
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=categories)
    assert_array_equal(make().fit_table(frame, target="y", encode=False).classes_, WORDS)


def test_words_without_an_order_are_told():
    X, rank = table()
    words = few(np.array(WORDS)[rank])
    with pytest.warns(DataWarning, match=r"alphabet.*'excellent' < 'fair' < 'good' < 'poor'"):
        model = make().fit(X, words)
    assert_array_equal(model.classes_, sorted(WORDS))


def test_labels_outside_the_order_and_orders_that_are_none():
    X, rank = table()
    with pytest.raises(ValueError, match="'fair', which is not among 3 in their order"):
        make(classes=["poor", "good", "excellent"]).fit(X, few(np.array(WORDS)[rank]))
    for wrong in ("poor", ["poor"], ["poor", "poor"]):
        with pytest.raises(ValueError, match=r"classes=.* must"):
            make(classes=wrong).fit(X, few(rank))
    with pytest.raises(ValueError, match="one class only"):
        make(classes=[0, 1]).fit(X, np.zeros(N))


def test_the_regression_inside_is_that_of_the_ranks():
    X, rank = table()
    regressor = XNVRegressor(members=None, random_state=0)
    regressor.fit(X[:LABELED], rank[:LABELED].astype(float), X_unlabeled=X[LABELED:])
    assert_array_equal(fitted()._decision(fitted()._prepared(X))[:, 0], regressor.predict(X))


def test_predictions_are_medians_and_errors_are_in_steps():
    X, rank = table()
    model, others = fitted(), slice(LABELED, None)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.predict(X), (p.cumsum(axis=1) < 0.5).sum(axis=1))
    steps = np.abs(model.predict(X) - rank)[others]
    low, high = model.cv_error_interval_
    assert low < steps.mean() < high
    assert low < model.cv_error_ < high
    assert model.cv_error_rate_ <= model.cv_error_
    log_loss = -np.log(p[np.arange(N), rank][others]).mean()
    assert model.cv_log_loss_ == pytest.approx(log_loss, abs=0.15)
    assert model.score(X[others], rank[others]) == np.mean(steps == 0)


def test_what_is_told():
    told = told_error(fitted())
    assert told.name == "mean absolute error in steps"
    assert told.as_dict()["mean_absolute_error_in_steps"] == fitted().cv_error_
    assert "mean absolute error in steps" in told.words()
    assert f"error rate {fitted().cv_error_rate_:.0%}" in told.words()


def test_a_class_without_a_label_has_its_place():
    X, rank = table()
    model = make(classes=[0, 1, 2, 3, 4]).fit(X, few(np.where(rank == 3, 4, rank)))
    p = model.predict_proba(X)
    assert p.shape == (N, 5)
    assert (p > 0).all()
    assert p[:, 3].mean() < 0.05
    assert np.mean(model.predict(X) == 3) < 0.05


def test_weight_two_is_the_row_twice():
    X, rank = table()
    X, rank = X[:60], rank[:60]
    twice = np.r_[np.arange(60), np.arange(10)]
    weight = np.where(np.arange(60) < 10, 2.0, 1.0)
    again, weighted = make().fit(X[twice], rank[twice]), make().fit(X, rank, sample_weight=weight)
    assert_allclose(again.predict_proba(X), weighted.predict_proba(X), atol=1e-7)
    assert again.cv_error_ == pytest.approx(weighted.cv_error_)


def test_two_classes_have_one_cut():
    X, rank = table()
    model = make().fit(X, few(rank > 1))
    assert model.cv_error_ == pytest.approx(model.cv_error_rate_)
    assert_array_equal(model.classes_, [False, True])


def test_parts_of_a_table_have_their_classes_named_first():
    X, rank = table()
    model = make(sigma=2.0).partial_fit(X[:50], np.array(WORDS)[rank[:50]], classes=WORDS)
    model.partial_fit(X[50:90], np.array(WORDS)[rank[50:90]])
    assert_array_equal(model.classes_, WORDS)
    with pytest.raises(ValueError, match="others in its own parameter"):
        make(classes=[1, 2]).partial_fit(X, rank, classes=[0, 1, 2, 3])


def test_files_keep_the_order(tmp_path):
    X, rank = table()
    words, path = few(np.array(WORDS)[rank]), tmp_path / "m.twinviews"
    model = make(classes=WORDS).fit(X, words)
    save_model(model, path)
    again = load_model(path)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert inspect_model(path).parameters["classes"] == WORDS
    assert again.cv_error_ == model.cv_error_
    assert_array_equal(again.relabel(X, words).predict_proba(X), model.predict_proba(X))
    assert clone(again).classes == WORDS


def test_what_follows_works_or_says_why_not(tmp_path):
    X, rank = table()
    shares = estimate(fitted(), X[:LABELED], y=rank[:LABELED])  # of rows that all have a label
    expected = [np.mean(rank[:LABELED] == one) for one in fitted().classes_]
    assert_allclose([one.estimate for one in shares], expected, atol=1e-9)
    with pytest.raises(ValueError, match="errors in steps"):
        forecast_error(fitted(), X, few(rank), more=[10])
    with pytest.raises(ValueError, match="no ONNX graph"):
        export_onnx(fitted(), tmp_path / "m.onnx")


def test_an_ensemble_has_regressors_and_leaves_out_no_label():
    X, rank = table()
    rare = np.where(np.arange(N) % 17 == 3, 9, 0)  # far from most, by no slip
    model = XNVOrdinalClassifier(random_state=0, members=["built-in"], n_threads=1)
    model.fit(X[:40], rare[:40], X_unlabeled=X[40:200])
    (ensemble,) = model._ensembles
    assert ensemble.outlying is None
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert rank.max() == 3
