import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from twinviews.method.uncertainty import calibrated_scale, class_log_probabilities, class_shares


def test_two_classes_are_a_logistic_curve():
    decision = np.array([[-2.0], [0.0], [3.0]])
    p = np.exp(class_log_probabilities(decision, 1.5))
    assert_allclose(p[:, 1], 1 / (1 + np.exp(-1.5 * decision[:, 0])))
    assert_allclose(p.sum(axis=1), 1)


def test_more_classes_are_a_softmax_that_keeps_the_order():
    decision = np.random.default_rng(0).normal(size=(20, 4))
    p = np.exp(class_log_probabilities(decision, 3.0))
    assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == decision.argmax(axis=1)).all()


def test_scale_is_that_of_greatest_likelihood():
    """With many labels the pseudo-observations vanish and logistic regression finds the same slope."""
    rng = np.random.default_rng(0)
    decision = rng.normal(size=(20_000, 1))
    y = np.where(rng.random(20_000) < 1 / (1 + np.exp(-2.5 * decision[:, 0])), 1.0, -1.0)
    scale = calibrated_scale(decision, y[:, None], np.full(20_000, 1 / 20_000))
    theirs = LogisticRegression(C=np.inf, fit_intercept=False).fit(decision, y).coef_[0, 0]
    assert_allclose(scale, theirs, rtol=1e-2)


def test_all_right_is_sure_but_not_certain():
    y = np.array([[1.0], [-1.0]] * 5)
    scale = calibrated_scale(y, y, np.full(10, 0.1))
    p = np.exp(class_log_probabilities(np.array([[1.0]]), scale))[0, 1]
    assert_allclose(p, 6 / 7, rtol=1e-3)  # (5 + 1) / (5 + 2)


@pytest.mark.parametrize(("K", "each"), [(3, 1), (3, 4), (5, 2)])
def test_all_right_among_more_classes_is_as_sure_as_their_labels_are_many(K, each):
    """Of k labels a class counts as (k + 1) / (k + 2) right; softmax has log odds of 2 scale."""
    y = np.where(np.repeat(np.arange(K), each)[:, None] == np.arange(K), 1.0, -1.0)
    scale = calibrated_scale(y, y, np.full(len(y), 1 / len(y)))
    assert_allclose(2 * scale, np.log((each + 1) * (K - 1)), rtol=1e-3)


def test_classes_of_unequal_size_are_doubted_by_their_own_counts():
    """With decision values of 1 and -1 the target of all rows together is what the scale gives."""
    y = np.array([1.0] * 6 + [-1.0] * 2)[:, None]
    scale = calibrated_scale(y, y, np.full(8, 1 / 8))
    right = (6 * 7 / 8 + 2 * 3 / 4) / 8
    assert_allclose(1 / (1 + np.exp(-scale)), right, rtol=1e-4)


def test_rows_without_a_decision_do_not_count_and_weights_are_relative():
    rng = np.random.default_rng(3)
    decision, weight = rng.normal(size=(30, 3)), rng.uniform(1, 2, 30)
    y = np.where(rng.integers(0, 3, 30)[:, None] == np.arange(3), 1.0, -1.0)
    decision += 0.5 * y
    unknown = decision.copy()
    unknown[::5, 1] = np.nan
    kept = np.arange(30) % 5 != 0
    scale = calibrated_scale(unknown, y, weight)
    assert_allclose(scale, calibrated_scale(decision[kept], y[kept], 7 * weight[kept]), rtol=1e-6)
    assert abs(scale - calibrated_scale(decision, y, weight)) > 1e-3


def test_a_model_that_is_always_wrong_is_hardly_believed_and_never_turned_round():
    y = np.array([[1.0], [-1.0]] * 50)
    assert_allclose(calibrated_scale(-y, y, np.full(100, 0.01)), np.exp(-4), rtol=1e-3)
    sure = calibrated_scale(1e-4 * y, y, np.full(100, 0.01))
    assert_allclose(sure, np.exp(6), rtol=1e-3)


def test_shares_of_classes_from_means_of_codes():
    assert_array_equal(class_shares(np.array([[1.0], [-1.0], [0.0]])), [[0, 1], [1, 0], [0.5, 0.5]])
    coded = np.array([[1.0, -1.0, -1.0], [0.0, 0.0, -1.0]])
    assert_array_equal(class_shares(coded), [[1, 0, 0], [0.5, 0.5, 0]])


def test_no_decision_at_all_has_a_scale():
    assert calibrated_scale(np.full((3, 1), np.nan), np.ones((3, 1)), np.full(3, 1 / 3)) == 1.0
