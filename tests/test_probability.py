import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from twinviews.probability import calibrated_scale, class_log_probabilities


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


def test_no_decision_at_all_has_a_scale():
    assert calibrated_scale(np.full((3, 1), np.nan), np.ones((3, 1)), np.full(3, 1 / 3)) == 1.0
