"""Questions about data that a fit asks in Python."""

import warnings

import numpy as np
import pytest

from twinviews import DataWarning, KRRClassifier, KRRRegressor, XNVClassifier
from twinviews.plots import LabelCurveDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=80)


def questions_of(action):
    """What is asked on the way; filters of the tests do not hide any."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        action()
    return [str(one.message) for one in caught if issubclass(one.category, DataWarning)]


def asked(model, *arguments, **options):
    return questions_of(lambda: model.fit(*arguments, **options))


def test_a_clean_table_is_not_asked_about():
    assert asked(KRRRegressor(), X, np.where(np.arange(80) < 60, Y, np.nan)) == []
    assert asked(KRRClassifier(), X, np.where(Y > 0, "up", "down")) == []


def test_rows_are_named_by_their_place():
    y = np.where(np.arange(80) % 2, Y, np.nan)
    y[41] = 1e7
    (question,) = asked(KRRRegressor(), X, y)
    assert question.startswith("y[41] is 10,000,000")


def test_minus_one_for_unlabeled_rows_is_asked_about():
    codes = np.where(np.arange(80) < 30, np.digitize(Y, [-0.5, 0.5]), -1)
    questions = asked(XNVClassifier(members=None, random_state=0), X, codes)
    assert any("missing_label=-1" in question for question in questions)


@pytest.mark.parametrize("label", [np.inf, 1e9, "bad"])
def test_labels_of_rows_without_weight_are_absent(label):
    y, weight = Y.astype(object), np.ones(80)
    y[5], weight[5] = label, 0
    assert asked(KRRRegressor(), X, y, sample_weight=weight) == []


def test_a_class_that_one_column_decides_is_named():
    names = np.where(X[:, 0] > 0.4, "apple", np.where(X[:, 1] + X[:, 2] > 0, "pear", "plum"))
    (question,) = asked(KRRClassifier(), X, names)
    assert "alone nearly decides class 'apple'" in question


def test_draws_of_a_display_do_not_ask_again():
    y = np.where(X[:, 0] > 0, "a", "b")
    assert len(asked(KRRClassifier(), X, y)) == 1
    options = {"n_labels": [20, 40], "n_draws": 2, "random_state": 0}
    assert (
        questions_of(lambda: LabelCurveDisplay.from_estimator(KRRClassifier(), X, y, **options)) == []
    )
