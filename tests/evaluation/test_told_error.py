"""What is told of a model's error: the same for persons and machines, and no more than is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from twinviews import XNVClassifier, XNVRegressor
from twinviews.evaluation.told_error import readable, told_error
from twinviews.evaluation.told_rarity import probability
from twinviews.method.error_estimate import ERROR_RATE, ROOT_MEAN_SQUARE


def numbers(error=55.3, ends=(48.0, 64.0), r2=0.46, n=150):
    return SimpleNamespace(
        _measure=ROOT_MEAN_SQUARE,
        cv_error_=error,
        cv_error_interval_=np.array(ends),
        cv_r2_=r2,
        n_labeled_=n,
    )


def classes(error=0.12, ends=(0.08, 0.17), auc=0.9, log_loss=0.31, balanced=0.13, n=150):
    return SimpleNamespace(
        _measure=ERROR_RATE,
        classes_=np.array(["a", "b"]),
        cv_error_=error,
        cv_error_interval_=np.array(ends),
        cv_auc_=auc,
        cv_log_loss_=log_loss,
        cv_balanced_error_=balanced,
        cv_average_precision_=0.5,
        n_labeled_=n,
    )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            numbers(),
            "55.3 (root mean squared error, cross-validated; 90% interval 48 to 64); R² 0.46",
        ),
        (
            numbers(ends=(40.0, 76.0), n=60),
            "between 40 and 76 (root mean squared error, 90% interval; 60 labels are too few for one "
            "number); R² between -0.02 and 0.72",
        ),
        (numbers(ends=(10.0, 300.0), n=9), "unknown: 9 labels are too few to judge"),
        (
            numbers(ends=(10.0, 300.0), n=81),
            "unknown: the errors on a few of the 81 labels outweigh all others",
        ),
        (
            numbers(r2=-0.1),
            "55.3 (root mean squared error, cross-validated; 90% interval 48 to 64); R² -0.10: no "
            "better than always saying the mean",
        ),
        (numbers(np.nan, (np.nan, np.nan)), "unknown, as some label alone decides what is learned"),
        (
            numbers(0.0, (np.nan, np.nan), np.nan),
            "unknown, as all labels are the same",
        ),
        (
            classes(),
            "12.0% (of rows, cross-validated; 90% interval 8.0% to 17.0%); AUC 0.90; log loss 0.31",
        ),
        (
            classes(balanced=0.5),
            "12.0% (of rows, cross-validated; 90% interval 8.0% to 17.0%); mean error rate of a class "
            "50%; AUC 0.90; log loss 0.31",
        ),
        (
            classes(ends=(0.02, 0.31), n=20),
            "between 2% and 31% (of rows, 90% interval; 20 labels are too few for one number); AUC "
            "0.90; log loss 0.31",
        ),
    ],
)
def test_words(model, words):
    assert told_error(model).words() == words


def test_a_model_of_an_earlier_version_has_no_interval():
    unknown = {"cv_error_interval_": None, "cv_r2_": np.nan}
    old = SimpleNamespace(_measure=ROOT_MEAN_SQUARE, cv_error_=2.0, n_labeled_=50, **unknown)
    told = told_error(old)
    assert told.words() == "2 (root mean squared error, cross-validated)"
    assert told.as_dict()["low"] is None
    assert not told.too_few_labels


def test_each_target_has_its_own():
    model = SimpleNamespace(
        _measure=ROOT_MEAN_SQUARE,
        cv_error_=np.array([1.0, 20.0]),
        cv_error_interval_=np.array([[0.9, 1.1], [18.0, 22.0]]),
        cv_r2_=np.array([0.5, 0.7]),
        n_labeled_=400,
    )
    assert told_error(model, 1).as_dict() == {
        "root_mean_squared_error": 20.0,
        "low": 18.0,
        "high": 22.0,
        "r2": 0.7,
        "confidence": 0.9,
        "too_few_labels": False,
    }


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_a_fitted_model_tells_its_attributes(task):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] + 0.3 * X[:, 1]
    if task == "numbers":
        model = XNVRegressor(members=None, random_state=0).fit(
            X, np.where(np.arange(300) < 80, y, np.nan)
        )
    else:
        labels = np.where(np.arange(300) < 80, np.where(y > 0, "a", "b"), None)
        model = XNVClassifier(members=None, random_state=0).fit(X, labels)
    told = told_error(model)
    assert told.error.value == model.cv_error_
    assert [told.error.low, told.error.high] == list(model.cv_error_interval_)
    assert told.n_labels == 80


@pytest.mark.parametrize(
    ("number", "text"), [(58.1634, "58.16"), (1234567.0, "1,235,000"), (2.5e-7, "2.5e-07"), (0.0, "0")]
)
def test_numbers_are_readable(number, text):
    assert readable(number) == text


def rare(lift=4.2, ends=(2.0, 7.1), recall=0.4, cost=3.0):
    model = classes(balanced=0.3)
    model.class_prior_, model.cv_recall_ = np.array([0.94, 0.06]), np.array([0.97, recall])
    model.cv_lift_, model.cv_lift_interval_ = lift, np.array(ends)
    model.threshold_, model.class_weight = 1 / (1 + cost), {"b": cost}
    return model


def test_how_well_a_rare_class_is_found():
    told = told_error(rare())
    words = (
        "average precision 0.50 (of 'b', 6.0% of the labels); lift of the likeliest tenth 4.2 (90% "
        "interval 2.0 to 7.1); 'b' is predicted from a probability of 0.25 on, which finds 40% of them"
    )
    assert told.words().endswith(words)
    assert (
        told.as_dict() | {"lift": 4.2, "lift_low": 2.0, "rarer_class": "b", "recall": 0.4}
        == told.as_dict()
    )


def test_a_rare_class_that_is_never_predicted_is_told_to_be():
    assert "which no held-out label of it reaches" in told_error(rare(recall=0.0)).words()


def test_of_classes_about_equal_the_threshold_is_told_with_costs_alone():
    model = rare()
    model.class_prior_ = np.array([0.55, 0.45])
    words = told_error(model).words()
    assert "'b' is predicted from a probability of 0.25 on" in words
    assert "lift" not in words
    model.class_weight = None
    assert "probability" not in told_error(model).words()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.123, "0.12"), (0.0312, "0.031"), (0.997, "0.9970"), (0.5, "0.50"), (0.0, "0.00")],
)
def test_probabilities_have_two_digits_that_count(number, text):
    assert probability(number) == text
