"""What is told of classes where rows were chosen to be labeled."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from twinviews import XNVClassifier
from twinviews.method.uncertainty import class_log_probabilities, class_shares


def digits():
    """Rows in random order: the file has one writer after the other."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def test_the_told_error_is_that_of_rows_without_a_label():
    X, y = digits()
    known = np.arange(len(y)) < 150
    labels = np.where(known, y.astype(float), np.nan)
    # The first 60 at random, the others because they were asked for.
    p = np.where(np.arange(len(y)) < 60, 60 / len(y), 1.0)
    model = XNVClassifier(random_state=0).fit(X, labels, label_probability=p)
    (problem,), (ensemble,) = model._solution.problems, model._ensembles
    held_out = np.exp(class_log_probabilities(ensemble.held_out, 1.0))
    weight, chosen = problem.judging, held_out.argmax(axis=1)
    wrong = 1 - class_shares(problem.Y)[np.arange(len(chosen)), chosen]
    doubt_of_labels = weight @ (1 - held_out.max(axis=1))
    doubt_of_others = np.mean(1 - model.predict_proba(X[~known]).max(axis=1))
    one_label = np.square(weight).sum()
    ratio = (doubt_of_others + one_label) / (doubt_of_labels + one_label)
    assert ratio < 1
    assert_allclose(model.cv_error_, weight @ wrong * ratio, rtol=1e-6)


def test_random_labels_are_told_as_they_are():
    X, y = digits()
    model = XNVClassifier(random_state=0).fit(X, np.where(np.arange(len(y)) < 150, y, np.nan))
    (problem,), (ensemble,) = model._solution.problems, model._ensembles
    chosen = ensemble.held_out.argmax(axis=1)
    wrong = 1 - class_shares(problem.Y)[np.arange(len(chosen)), chosen]
    assert_allclose(model.cv_error_, problem.judging @ wrong)
