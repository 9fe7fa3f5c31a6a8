"""scikit-learn's contract: its own checks without exceptions, and what users build on it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import twinviews
from conftest import CLASSIFIERS, OWN_LABELS, REGRESSORS, make

ALL = REGRESSORS + CLASSIFIERS
TRANSFORMERS = [name for name in ALL if hasattr(getattr(twinviews, name), "transform")]


# Two of these checks' 300 rows are between classes: no class has half of the probability.
_MEDIANS = {
    "check_classifiers_train": "predicts the median of the probabilities, which need not be the mode"
}


# Some checks pass labels as a column or leave a fit without a warning filter of their own. With their
# ensembles, whose fits take seconds, XNVRegressor and XNVClassifier are checked in trust/.
@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [make(name) for name in ALL + OWN_LABELS],
    expected_failed_checks=lambda estimator: _MEDIANS if "Ordinal" in type(estimator).__name__ else {},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ALL + OWN_LABELS)
def test_kind(name):
    estimator = make(name)
    assert is_regressor(estimator) == name.endswith("Regressor")
    assert is_classifier(estimator) == name.endswith("Classifier")


@pytest.mark.parametrize("name", ALL)
def test_pickle_and_clone_give_the_same_predictions(name, table):
    y = table.few if name.endswith("Regressor") else sign_labels(table)
    model = make(name).fit(table.X[:400], y[:400])
    expected = model.predict(table.X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(table.X), expected)
    assert_array_equal(clone(model).fit(table.X[:400], y[:400]).predict(table.X), expected)


def sign_labels(table):
    labels = np.where(table.y > 0, "up", "down").astype(object)
    labels[np.isnan(table.few)] = None
    return labels


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_set_output_names_the_features(name, table):
    y = table.few if name.endswith("Regressor") else sign_labels(table)
    model = make(name, n_components=5).set_output(transform="pandas").fit(table.X, y)
    frame = model.transform(table.X[:10])
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert frame.columns[0] == f"{name.lower()}0"
    assert len(frame) == 10


@pytest.mark.parametrize("name", REGRESSORS)
def test_pipeline_scales_by_all_rows(name, table):
    far = table.X * [1, 10, 0.1, 1000] + [0, 5, -3, 1e4]
    inside = make_pipeline(StandardScaler(), make(name)).fit(far, table.few).predict(far)
    scaled = StandardScaler().fit_transform(far)
    assert_allclose(inside, make(name).fit(scaled, table.few).predict(scaled), rtol=1e-12)


def test_unlabeled_rows_are_routed_through_a_search(table):
    labeled = ~np.isnan(table.few)
    with config_context(enable_metadata_routing=True):
        model = make("XNVRegressor", n_components=20).set_fit_request(X_unlabeled=True)
        search = GridSearchCV(model, {"sigma": [1.0, 2.0]}, cv=3)
        search.fit(table.X[labeled], table.y[labeled], X_unlabeled=table.X[~labeled])
    assert search.best_estimator_.n_unlabeled_ == (~labeled).sum()


def test_sample_weight_is_routed_through_a_search(table):
    labeled = ~np.isnan(table.few)
    weight = np.linspace(1, 2, labeled.sum())
    with config_context(enable_metadata_routing=True):
        model = make("SSSLRegressor", n_components=20).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"sigma": [1.0, 2.0]}, cv=3)
        search.fit(table.X[labeled], table.y[labeled], sample_weight=weight)
    assert search.best_score_ > 0.5
