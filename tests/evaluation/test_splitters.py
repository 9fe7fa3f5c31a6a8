import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
)

from conftest import make
from twinviews import LabeledKFold, LabeledStratifiedKFold

SPLITTERS = [LabeledKFold, LabeledStratifiedKFold]


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("shuffle", [True, False])
def test_folds_partition_the_labeled_rows_and_all_others_train(splitter, shuffle, digits):
    folds = splitter(4, shuffle=shuffle, random_state=0 if shuffle else None)
    labeled = np.array([label is not None for label in digits.few])
    seen = []
    for train, test in folds.split(digits.X, digits.few):
        assert labeled[test].all()
        assert np.isin(np.flatnonzero(~labeled), train).all()
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) + len(test) == len(digits.y)
        seen.append(test)
    assert_array_equal(np.sort(np.concatenate(seen)), np.flatnonzero(labeled))
    assert folds.get_n_splits() == 4


def test_strata_have_equal_shares():
    y = np.array(["a"] * 40 + ["b"] * 8 + [None] * 100, dtype=object)
    for _, test in LabeledStratifiedKFold(4, random_state=0).split(y, y):
        assert (y[test] == "b").sum() == 2


def test_cross_validation_search_and_learning_curve_work(table, digits):
    model, folds = make("XNVRegressor", n_components=30), LabeledKFold(3, random_state=0)
    scores = cross_val_score(model, table.X, table.few, cv=folds)
    assert scores.shape == (3,)
    assert (scores > 0.7).all()
    squared = cross_validate(
        model, table.X, table.few, cv=folds, scoring=["r2", "neg_mean_squared_error"]
    )
    np.testing.assert_allclose(squared["test_r2"], scores)
    search = GridSearchCV(model, {"sigma": [0.1, 2.0]}, cv=folds).fit(table.X, table.few)
    assert search.best_params_ == {"sigma": 2.0}
    assert search.best_estimator_.n_labeled_ == 120
    labels_last = np.argsort(~np.isnan(table.few), kind="stable")
    _, _, curve = learning_curve(
        model, table.X[labels_last], table.few[labels_last], cv=folds, train_sizes=[0.3, 1.0]
    )
    assert curve[0].mean() < curve[1].mean()
    assert (curve > 0).all()
    accuracy = cross_val_score(
        make("SSSLClassifier", n_components=50),
        digits.X,
        digits.few,
        cv=LabeledStratifiedKFold(3, random_state=0),
    )
    assert (accuracy > 0.6).all()


def test_missing_label_is_respected():
    y = np.array([0, 1, -1, -1, 0, 1, -1])
    for train, test in LabeledKFold(2, missing_label=-1, random_state=0).split(y, y):
        assert (y[test] != -1).all()
        assert np.isin([2, 3, 6], train).all()


def test_several_targets_count_a_row_with_any_label():
    y = np.array([[1, np.nan], [np.nan, np.nan], [np.nan, 2], [3, 4]])
    tested = np.concatenate([test for _, test in LabeledKFold(3, random_state=0).split(y, y)])
    assert_array_equal(np.sort(tested), [0, 2, 3])


def test_too_few_labels_are_named():
    y = [1.0, None, 2.0]
    with pytest.raises(ValueError, match="n_splits=5 needs that many labeled rows, but y has 2"):
        next(LabeledKFold().split(y, y))
    with pytest.raises(ValueError, match="y is needed"):
        next(LabeledKFold().split(y, None))
