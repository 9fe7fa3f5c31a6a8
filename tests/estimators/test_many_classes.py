"""Many classes, some of them with a single label: folds go on, and what is told of them is right."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews import XNVClassifier


def groups(n_classes, n_each, seed=0, spread=0.3):
    """Groups of rows, each a class, of which the last has a single label."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(n_classes, 4))
    code = np.concatenate([np.repeat(np.arange(n_classes - 1), n_each), [n_classes - 1]])
    return centres[code] + spread * random.normal(size=(len(code), 4)), code


@pytest.mark.parametrize("members", ["auto", None])
def test_a_class_with_a_single_label_is_learned_and_counts_as_missed(members):
    X, code = groups(4, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = XNVClassifier(members=members, random_state=0, class_weight="balanced").fit(X, code)
    assert model.predict(X[-1:]) == [3]  # the fit of all labels knows it
    assert model.cv_recall_[3] == 0  # no fit without its label can
    assert_allclose(model.cv_recall_[:3], 1)
    assert model.cv_balanced_error_ == pytest.approx(0.25)
    assert model.cv_error_ == pytest.approx(1 / len(code))
    assert np.isfinite([model.cv_log_loss_, model.cv_auc_, model.cv_lift_]).all()
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_hundreds_of_classes_are_told_apart():
    X, code = groups(100, 3, spread=0.05)
    model = XNVClassifier(members=None, random_state=0).fit(X, code)
    assert len(model.cv_recall_) == 100
    assert model.threshold_ is None
    assert model.cv_balanced_error_ == pytest.approx(1 - model.cv_recall_.mean())
    wrong = np.average(1 - model.cv_recall_, weights=model.class_prior_)
    assert model.cv_error_ == pytest.approx(wrong)
    assert model.cv_auc_ > 0.9
    assert 1 < model.cv_lift_ <= 10
