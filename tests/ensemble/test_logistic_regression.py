"""Logistic regression as a member: scikit-learn's probabilities, also where a class has no label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from twinviews.ensemble.blending import two_sided
from twinviews.ensemble.logistic_regression import _STRENGTHS, Logistic
from twinviews.ensemble.member import CLASS_UNIT, TWO_CLASS_UNIT, Labeled
from twinviews.passes.targets import one_against_rest


def iris(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)
    return (X[rows] - X.mean(axis=0)) / X.std(axis=0), y[rows]


def labeled(X: np.ndarray, y: np.ndarray, n_classes: int) -> Labeled:
    return Labeled(X, one_against_rest(y, n_classes), np.full(len(y), 1 / len(y)))


@pytest.mark.parametrize(("n_classes", "unit"), [(2, TWO_CLASS_UNIT), (3, CLASS_UNIT)])
def test_probabilities_are_those_of_scikit_learn(n_classes, unit):
    X, y = iris(n_classes)
    fits = Logistic(n_classes).fit(labeled(X, y, n_classes), X)
    for strength, fit in zip(_STRENGTHS, fits, strict=True):
        p = LogisticRegression(C=strength, max_iter=200).fit(X, y).predict_proba(X)
        decision = unit * fit(X) if n_classes == 3 else unit * np.column_stack([0 * fit(X), fit(X)])
        ours = np.exp(decision) / np.exp(decision).sum(axis=1, keepdims=True)
        assert_allclose(ours, p, atol=1e-9)


@pytest.mark.parametrize("known", [[0, 1], [0, 2], [1]])
def test_a_class_without_a_label_is_the_least_likely(known):
    X, y = iris(3)
    some = np.isin(y, known)
    for fit in Logistic(3).fit(labeled(X[some], y[some], 3), X):
        decision = fit(X[some])
        assert np.isin(decision.argmax(axis=1), known).all()


@pytest.mark.parametrize("only", [0, 1])
def test_labels_of_one_of_two_classes(only):
    X, y = iris(2)
    for fit in Logistic(2).fit(labeled(X[y == only], y[y == only], 2), X):
        assert (two_sided(fit(X)).argmax(axis=1) == only).all()
