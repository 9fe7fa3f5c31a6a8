"""Rare classes: costs of errors, what is told of them, and classes that are never predicted."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from twinviews import DataWarning, XNVClassifier, load_model, save_model


def rare(n=1500, seed=0):
    """A class of about 7% that is likelier for large x1, and hardly ever likelier than not."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    p = 1 / (1 + np.exp(3.4 - 1.3 * X[:, 0]))
    return X, np.where(random.random(n) < p, "yes", "no")


@cache
def _fitted_once(class_weight):
    return _fitted(class_weight, 300)


def fitted(class_weight=None, n=300, **options):
    """Models that tests only look at are fitted once."""
    if n == 300 and not options and not isinstance(class_weight, dict):
        return _fitted_once(class_weight)
    return _fitted(class_weight, n, **options)


def _fitted(class_weight, n, **options):
    X, y = rare()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = XNVClassifier(class_weight=class_weight, random_state=0, **options)
        return model.fit(X[:n], y[:n], X_unlabeled=X[n:]), X[n:], y[n:]


def test_costs_change_what_is_predicted_and_not_the_probabilities():
    plain, X, y = fitted()
    balanced, _, _ = fitted("balanced")
    assert_array_equal(balanced.predict_proba(X), plain.predict_proba(X))
    error = {m: 1 - balanced_accuracy_score(y, m.predict(X)) for m in (plain, balanced)}
    assert error[balanced] < 0.35 < error[plain]
    assert balanced.cv_balanced_error_ == pytest.approx(error[balanced], abs=0.1)
    # What is told is of what is predicted: with costs more rows are put in the wrong class.
    assert balanced.cv_error_ > plain.cv_error_
    assert balanced.cv_auc_ == plain.cv_auc_
    assert 0.07 < plain.cv_average_precision_ < 1
    assert plain.cv_lift_ == balanced.cv_lift_
    assert plain.cv_lift_interval_[0] <= plain.cv_lift_ <= plain.cv_lift_interval_[1]
    assert balanced.cv_balanced_error_ == pytest.approx(1 - balanced.cv_recall_.mean())
    assert (plain.threshold_, balanced.threshold_ < 0.2) == (0.5, True)
    assert plain.class_prior_.sum() == pytest.approx(1)


def test_costs_by_class_are_odds():
    X, _ = rare()
    model, _, _ = fitted({"yes": 9}, members=None)
    p = model.predict_proba(X)[:, 1]
    assert_array_equal(model.predict(X) == "yes", 9 * p > 1 - p)
    one, _, _ = fitted({"yes": 1, "no": 1}, members=None)
    assert_array_equal(one.predict(X), fitted(members=None)[0].predict(X))


@pytest.mark.parametrize("key", [1, 1.0, "1", np.int64(1)])
@pytest.mark.parametrize("one", [1, 1.0])
def test_classes_that_are_numbers_may_be_given_as_text(key, one):
    X, y = rare(600)
    codes = np.where(y == "yes", one, 0 * one)
    model = XNVClassifier(class_weight={key: 9}, members=None, random_state=0).fit(X, codes)
    assert_array_equal(model._class_cost, [1, 9])


def test_costs_are_kept_in_files_copies_and_predictions_of_tables(tmp_path):
    model, X, _ = fitted({"yes": 9, "no": 1.0}, members=None)
    assert clone(model).get_params()["class_weight"] == {"yes": 9, "no": 1.0}
    save_model(model, tmp_path / "m.twinviews")
    loaded = load_model(tmp_path / "m.twinviews")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.class_weight == model.class_weight
    for name in ("cv_balanced_error_", "cv_lift_", "threshold_"):
        assert getattr(loaded, name) == getattr(model, name)
    assert_array_equal(loaded.cv_lift_interval_, model.cv_lift_interval_)
    assert_array_equal(loaded.cv_recall_, model.cv_recall_)
    assert (loaded.predict(X) == "yes").sum() > (fitted(members=None)[0].predict(X) == "yes").sum()


def test_new_labels_make_new_balanced_costs():
    X, y = rare()
    model, _, _ = _fitted("balanced", 300, members=None)
    before = model._class_cost
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.relabel(X[:600], y[:600])
    assert (model._class_cost != before).all()


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", 'must be None, "balanced" or a dictionary'),
        ({"yes": 0}, "must be a number above 0"),
        ({"yes": True}, "must be a number above 0"),
        ({"maybe": 2}, "no class of y; there are 'no', 'yes'"),
    ],
)
def test_what_costs_may_not_be(class_weight, message):
    with pytest.raises(ValueError, match=message):
        fitted(class_weight, members=None)


def test_a_class_that_is_never_predicted_is_told():
    X, y = rare()
    model = XNVClassifier(random_state=0, members=None)
    with pytest.warns(DataWarning, match=r"No held-out label was predicted to be 'yes' \(\d.\d% of"):
        model.fit(X[:300], y[:300], X_unlabeled=X[300:])
    assert (model.predict(X) == "no").all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        XNVClassifier(random_state=0, members=None, class_weight="balanced").fit(X[:300], y[:300])
        # Classes that are found raise no question.
        XNVClassifier(random_state=0, members=None).fit(X[:300], X[:300, 0] + X[:300, 1] > 1.5)
