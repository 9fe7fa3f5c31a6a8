"""Costs of classes, balanced error, AUC and average precision, against scikit-learn and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.utils.class_weight import compute_class_weight

from twinviews.method.class_costs import (
    balanced_costs,
    balanced_error,
    least_expected_cost,
    mean_auc,
    mean_average_precision,
)


def equal(m):
    return np.full(m, 1 / m)


def test_balanced_costs_are_those_of_scikit_learn():
    code = np.random.default_rng(0).choice(3, 200, p=[0.7, 0.25, 0.05])
    expected = compute_class_weight("balanced", classes=np.arange(3), y=code)
    assert_allclose(balanced_costs(np.eye(3)[code], equal(200)), expected)


def test_the_class_of_least_expected_cost_is_chosen():
    rng = np.random.default_rng(1)
    p, costs = rng.dirichlet(np.ones(3), size=50), np.array([1.0, 2.0, 5.0])
    expected = [
        [sum(row[k] * costs[k] for k in range(3) if k != said) for said in range(3)] for row in p
    ]
    assert_array_equal(least_expected_cost(np.log(p), costs), np.argmin(expected, axis=1))


def test_no_rule_has_a_lower_balanced_error_than_balanced_costs():
    """With true probabilities: thresholds on a grid, on a class of 6%."""
    rng = np.random.default_rng(2)
    p = rng.beta(0.3, 4.7, 200_000)
    share = np.column_stack([1 - p, p])  # its labels in expectation
    weight = equal(len(p))
    chosen = least_expected_cost(np.log(share), balanced_costs(share, weight))
    found = balanced_error(share, chosen, weight)
    for threshold in np.linspace(0.01, 0.5, 30):
        assert found <= balanced_error(share, (p > threshold).astype(int), weight) + 1e-9


def test_balanced_error_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    code, chosen, weight = rng.integers(0, 4, 90), rng.integers(0, 4, 90), rng.random(90)
    expected = 1 - balanced_accuracy_score(code, chosen, sample_weight=weight)
    assert balanced_error(np.eye(4)[code], chosen, weight / weight.sum()) == pytest.approx(expected)


def test_average_precision_is_that_of_scikit_learn():
    rng = np.random.default_rng(4)
    code = (rng.random(120) < 0.15).astype(int)
    scores, weight = rng.normal(size=(120, 2)).round(1), rng.random(120)
    expected = average_precision_score(code, scores[:, 1], sample_weight=weight)
    found = mean_average_precision(np.eye(2)[code], scores, weight / weight.sum())
    assert found == pytest.approx(expected)
    code = rng.integers(0, 3, 120)
    scores = rng.normal(size=(120, 3)).round(1)
    each = [average_precision_score(code == k, scores[:, k], sample_weight=weight) for k in range(3)]
    found = mean_average_precision(np.eye(3)[code], scores, weight / weight.sum())
    assert found == pytest.approx(np.mean(each))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_area_is_that_of_scikit_learn(n_classes):
    rng = np.random.default_rng(3)
    code = rng.integers(0, n_classes, 80)
    scores = rng.normal(size=(80, n_classes)).round(1)  # with ties
    weight = rng.random(80)
    expected = np.mean(
        [roc_auc_score(code == k, scores[:, k], sample_weight=weight) for k in range(n_classes)]
    )
    assert mean_auc(np.eye(n_classes)[code], scores, weight / weight.sum()) == pytest.approx(expected)


def test_without_a_second_class_there_is_no_area():
    assert np.isnan(mean_auc(np.array([[1.0, 0.0]] * 3), np.zeros((3, 2)), equal(3)))
