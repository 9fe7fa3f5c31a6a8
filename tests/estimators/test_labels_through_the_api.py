"""Several targets, classes, probabilities, scores and relabel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import log_loss

from conftest import CLASSIFIERS, REGRESSORS, make


@pytest.mark.parametrize("name", REGRESSORS)
def test_several_targets_are_each_fitted_as_if_alone(name, table):
    X = table.X[:400]
    given = {"sigma": 1.5} | ({} if name.startswith("Exact") else {"ridge": 1e-2})
    if "correlation_ridge" in make(name).get_params():
        given["correlation_ridge"] = 1e-4
    if name.startswith("Exact"):
        given["n_eigenfunctions"] = 12
    if name.startswith("LapRLS"):
        given["manifold_ridge"] = 1.0
    other = np.where(np.arange(400) % 7 == 0, X[:, 3] ** 2, np.nan)  # known on other rows
    both = np.column_stack([table.few[:400], other])
    together = make(name, **given).fit(X, both)
    for column, target in enumerate(both.T):
        alone = make(name, **given).fit(X, target)
        assert_allclose(together.predict(X)[:, column], alone.predict(X), rtol=1e-6, atol=1e-7)
        assert_allclose(together.loo_error_[column], alone.loo_error_, rtol=1e-6)
    assert together.n_labeled_ == (~np.isnan(both)).any(axis=1).sum()


def test_several_targets_keep_their_shape(table):
    model = make("XNVRegressor").fit(table.X, np.column_stack([table.few, table.few * 2]))
    assert model.predict(table.X[:5]).shape == (5, 2)
    assert model.coef_.shape == (2, len(model.correlations_))
    assert_allclose(model.predict(table.X)[:, 1], 2 * model.predict(table.X)[:, 0], rtol=1e-6)
    column = make("XNVRegressor").fit(table.X, table.few[:, None])
    assert column.predict(table.X[:5]).shape == (5, 1)


def test_score_ignores_unlabeled_rows(table, digits):
    labeled = ~np.isnan(table.few)
    model = make("XNVRegressor").fit(table.X, table.few)
    assert model.score(table.X, table.few) == model.score(table.X[labeled], table.y[labeled])
    known = np.array([label is not None for label in digits.few])
    classifier = make("SSSLClassifier").fit(digits.X, digits.few)
    assert classifier.score(digits.X, digits.few) == classifier.score(digits.X[known], digits.y[known])
    with pytest.raises(ValueError, match="nothing to score"):
        model.score(table.X, np.full(1200, np.nan))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_digits(name, digits):
    X, few, y = digits.X[:900], digits.few[:900], digits.y[:900]
    model = make(name).fit(X, few)
    unlabeled = np.array([label is None for label in few])
    accuracy = model.score(X[unlabeled], y[unlabeled])
    assert accuracy > 0.7
    assert abs(1 - accuracy - model.loo_error_) < 0.15  # an honest guess of the error, from 90 labels
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert_allclose(np.log(p), model.predict_log_proba(X), atol=1e-12)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert model.decision_function(X).shape == (900, 10)
    assert_array_equal(model.classes_, np.arange(10))
    assert log_loss(y[unlabeled], p[unlabeled]) < 0.6 * np.log(10)


CLASSES = {
    "words": (["red", "blue"], None),
    "numbers": ([10, 20], None),
    "booleans": ([False, True], None),
    "whole floats": ([0.0, 1.0], None),
    "-1 for a missing label": ([0, 1], -1),
    "a word for a missing label": (["yes", "no"], "unknown"),
}


@pytest.mark.parametrize(("classes", "missing"), CLASSES.values(), ids=CLASSES)
def test_classes_of_any_type(classes, missing, table):
    truth = [classes[int(v > 0)] for v in table.y]
    few = [label if i % 10 == 0 else missing for i, label in enumerate(truth)]
    model = make("XNVClassifier", missing_label=missing).fit(table.X, few)
    assert sorted(model.classes_.tolist()) == sorted(classes)
    assert model.n_labeled_ == 120
    assert model.score(table.X, few) > 0.8
    positive = model.predict(table.X) == model.classes_[1]
    assert_array_equal(positive, model.decision_function(table.X) > 0)


def test_numbers_that_are_no_classes_are_refused(table):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        make("XNVClassifier").fit(table.X, table.few)


def test_probabilities_are_as_sure_as_the_model_is_right(table):
    """Among rows given a probability near p, a share near p is of that class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    y = (X[:, 0] + rng.normal(size=6000) > 0).astype(float)
    few = np.where(np.arange(6000) < 300, y, np.nan)
    p = make("XNVClassifier").fit(X, few).predict_proba(X)[300:, 1]
    truth = y[300:]
    for low in (0.1, 0.3, 0.5, 0.7):
        among = (p >= low) & (p < low + 0.2)
        assert abs(truth[among].mean() - p[among].mean()) < 0.08


@pytest.mark.parametrize("name", REGRESSORS)
def test_relabel_with_the_same_labels_changes_nothing(name, table):
    X, few = table.X[:400], table.few[:400]
    model = make(name).fit(X, few)
    before = model.predict(X)
    labeled = ~np.isnan(few)
    assert_array_equal(model.relabel(X[labeled], few[labeled]).predict(X), before)
    assert_array_equal(model.relabel(X, few).predict(X), before)  # rows without a label are passed over


@pytest.mark.parametrize("name", REGRESSORS)
def test_relabel_takes_other_labels_and_rows_never_seen(name, table):
    model = make(name, sigma=2.0).fit(table.X[:300], table.few[:300])
    kept = getattr(model, "correlations_", None)
    model.relabel(table.X[300:700], -5 * table.y[300:700])
    assert model.n_labeled_ == 400
    assert model.score(table.X[700:], -5 * table.y[700:]) > 0.85
    if kept is not None:
        assert_array_equal(model.correlations_, kept)


def test_relabel_is_a_fit_with_the_views_kept(table):
    """Views come from all rows, and labels only enter the solve: fit on the new labels agrees."""
    given = {"n_components": 40, "sigma": 1.5, "correlation_ridge": 1e-4}
    model = make("XNVRegressor", **given).fit(table.X, table.few)
    model.relabel(table.X[:250], table.y[:250])
    afresh = make("XNVRegressor", **given).fit(
        table.X, np.where(np.arange(1200) < 250, table.y, np.nan)
    )
    assert_allclose(model.predict(table.X), afresh.predict(table.X), rtol=1e-9, atol=1e-10)
    assert model.ridge_ == afresh.ridge_
    assert_allclose(model.loo_error_, afresh.loo_error_, rtol=1e-9)


def test_relabel_may_bring_other_classes(digits):
    model = make("XNVClassifier").fit(digits.X, np.where(digits.y < 5, "low", "high"))
    model.relabel(digits.X[:300], digits.y[:300])
    assert_array_equal(model.classes_, np.arange(10))
    assert model.score(digits.X[300:], digits.y[300:]) > 0.8


def test_unlabeled_rows_by_a_named_number_in_regression(table):
    marked = np.where(np.isnan(table.few), -999, table.few)
    model = make("XNVRegressor", missing_label=-999).fit(table.X, marked)
    plain = make("XNVRegressor").fit(table.X, table.few)
    assert_array_equal(model.predict(table.X), plain.predict(table.X))
    assert model.score(table.X, marked) == plain.score(table.X, table.few)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_failed_relabel_leaves_the_model_as_it_was(name, digits):
    model = make(name).fit(digits.X[:300], digits.y[:300])
    before = model.predict(digits.X)
    for X, y in (
        (digits.X[:10], ["c", "d"] * 4),
        (digits.X[:10], [None] * 10),
        (digits.X[:10], ["c"] * 10),
        (digits.X[:10, :5], ["c", "d"] * 5),
    ):
        with pytest.raises(ValueError, match=r"inconsistent|no label|one class|features"):
            model.relabel(X, y)
        assert_array_equal(model.predict(digits.X), before)


def test_score_does_not_bend_the_truth(table):
    truth = np.where(table.y > 0, "a", "b")
    model = make("XNVClassifier").fit(table.X, truth)
    assert model.score(table.X, [label + "xyz" for label in truth]) == 0
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(table.X, truth[:50])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make("XNVRegressor").fit(table.X, table.y).score(table.X, table.y[:50])


def test_a_class_on_rows_of_weight_zero_is_absent(table):
    labels = np.where(table.y > 0, "a", "b")
    labels[:20] = "c"
    weight = np.where(np.arange(1200) < 20, 0.0, 1.0)
    model = make("XNVClassifier").fit(table.X, labels, sample_weight=weight)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.n_labeled_ == 1180
    weight = np.where(labels == "a", 1.0, 0.0)
    with pytest.raises(ValueError, match="one class only"):
        make("XNVClassifier").fit(table.X, labels, sample_weight=weight)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_model_of_dense_rows_predicts_sparse_ones(name, table):
    X, few = table.X[:300] + 2, table.few[:300]
    model = make(name).fit(X, few)
    rows = csr_array(X)
    assert_allclose(model.predict(rows), model.predict(X), rtol=1e-8, atol=1e-8)
    expected = make(name).fit(X, few).relabel(X[:100], table.y[:100]).predict(X)
    assert_allclose(model.relabel(rows[:100], table.y[:100]).predict(X), expected, rtol=1e-7, atol=1e-7)


def test_exact_sssl_uses_more_eigenfunctions_for_more_labels(table):
    X, y = table.X[:400], table.y[:400]
    few = np.where(np.arange(400) < 8, y, np.nan)
    model = make("ExactSSSLRegressor", sigma=2.0).fit(X, few).relabel(X[:150], y[:150])
    fresh = make("ExactSSSLRegressor", sigma=2.0).fit(X, np.where(np.arange(400) < 150, y, np.nan))
    assert model.n_eigenfunctions_ == fresh.n_eigenfunctions_ > 8
    assert_allclose(model.predict(X), fresh.predict(X), atol=1e-8)


@pytest.mark.parametrize("manifold_ridge", [0.1, 10.0])
def test_laprls_with_one_of_its_ridges_given(manifold_ridge, table):
    X, few = table.X[:300], table.few[:300]
    model = make("LapRLSRegressor", manifold_ridge=manifold_ridge).fit(X, few)
    assert model.manifold_ridge_ == pytest.approx(manifold_ridge)
    again = make("LapRLSRegressor", manifold_ridge=manifold_ridge, ridge=model.ridge_)
    again.set_params(sigma=model.sigma_).fit(X, few)
    assert_allclose(model.predict(X), again.predict(X), rtol=1e-8)
    fixed = make("LapRLSRegressor", ridge=1e-3).fit(X, few)
    assert fixed.ridge_ == 1e-3
    tiny = make("LapRLSRegressor", ridge=1e-15, manifold_ridge=0.0, sigma=0.01).fit(X, few)
    assert np.isfinite(tiny.predict(X)).all()
