"""Hard inputs: each works, or gives one clear error naming the value, the limit and the way out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import CLASSIFIERS, REGRESSORS, make

ALL = REGRESSORS + CLASSIFIERS
NYSTROEM = ["XNVRegressor", "SSSLRegressor", "KRRRegressor", "LapRLSRegressor"]
VIEWS = ["XNVRegressor", "XKSRegressor", "SSSLRegressor", "RFFRegressor"]


def labels_for(name, numbers):
    if name.endswith("Regressor"):
        return numbers
    classes = np.where(numbers > np.nanmedian(numbers), "high", "low").astype(object)
    classes[np.isnan(numbers)] = None
    return classes


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, np.where(np.arange(80) < 40, X[:, 0] + 0.1 * rng.normal(size=80), np.nan)


@pytest.mark.parametrize("name", ALL)
def test_duplicate_rows(name, rows):
    X, y = rows
    model = make(name).fit(np.vstack([X] * 5), labels_for(name, np.tile(y, 5)))
    once = make(name).fit(X, labels_for(name, y))
    assert_allclose(model.loo_error_, once.loo_error_, rtol=1e-6)
    if name.endswith("Regressor"):
        assert_allclose(model.predict(X), once.predict(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_constant_columns(name, rows):
    X, y = rows
    wide = np.hstack([X, np.full((80, 2), 7.0)])
    assert np.isfinite(predict_numbers(make(name).fit(wide, labels_for(name, y)), wide)).all()


def predict_numbers(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("name", ["XNVRegressor", "SSSLRegressor"])
def test_landmarks_of_lower_rank(name, rows):
    """Rows on a line: the linear kernel has rank one, whatever the number of landmarks."""
    X, y = rows
    line = np.outer(X[:, 0], [1.0, -2.0])
    model = make(name, kernel="linear", sigma=1.0, n_components=20).fit(line, y)
    assert model.transform(line).shape[1] == 1
    assert model.score(line[:40], y[:40]) > 0.9


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("sigma", [1e-12, 1e12])
def test_tiny_and_huge_sigma(name, sigma, rows):
    """Hardly anything can be learned; the answer stays near the labels."""
    X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the views share nothing, tested below
        model = make(name, sigma=sigma).fit(X, labels_for(name, y))
        new = X + 0.5
        predictions = predict_numbers(model, new)
    assert np.isfinite(predictions).all()
    if sigma == 1e-12 and name in NYSTROEM:  # no row is near another, so none is like a landmark
        assert_allclose(predictions, predictions[0])
        assert abs(predictions[0] - np.nanmean(y)) < np.nanstd(y)


def test_views_that_share_nothing_are_told(rows):
    X, y = rows
    with pytest.warns(UserWarning, match=r"With sigma=1e\+12 the two views agree on nothing .*auto"):
        model = make("XNVRegressor", sigma=1e12).fit(X, y)
    assert_allclose(model.predict(X), np.nanmean(y))
    assert model.transform(X).shape == (80, 0)


@pytest.mark.parametrize("name", VIEWS)
def test_fewer_rows_than_landmarks(name, rows):
    X, y = rows
    auto = make(name).fit(X[:30], y[:30])
    assert auto.score(X[:30], y[:30]) > 0.5
    if hasattr(auto, "landmarks_"):
        views = 2 if name == "XNVRegressor" else 1
        assert auto.n_components_ == 30 // views
        message = (
            rf"n_components=200 needs {200 * views} landmarks, but the table has n_samples=30 "
            rf"distinct rows\. Use n_components={30 // views} or fewer\."
        )
        with pytest.raises(ValueError, match=message):
            make(name, n_components=200).fit(X[:30], y[:30])


@pytest.mark.parametrize("name", ALL)
def test_fewer_labels_than_features(name, table):
    few = np.where(np.arange(1200) < 12, table.y, np.nan)
    X, few = table.X[:600], few[:600]
    model = make(name).fit(X, labels_for(name, few))
    assert np.isfinite(predict_numbers(model, X)).all()
    assert model.n_labeled_ == 12


@pytest.mark.parametrize("name", ALL)
def test_two_labels(name, rows):
    X, _ = rows
    two = np.full(80, np.nan)
    two[[3, 9]] = [1.0, 2.0]
    with warnings.catch_warnings():
        if name.startswith("Exact"):  # least squares on one label has no constant and slope
            warnings.filterwarnings("ignore", "No sigma has a leave-one-out error")
        model = make(name).fit(X, labels_for(name, two))
    assert np.isfinite(predict_numbers(model, X)).all()


@pytest.mark.parametrize("name", REGRESSORS)
def test_equal_labels_are_predicted_everywhere(name, rows):
    X, y = rows
    model = make(name).fit(X, np.where(np.isnan(y), y, 5.0))
    assert_allclose(model.predict(X), 5.0)
    assert model.loo_error_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_is_refused(name, rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"y has one class only, .*'a'.* needs at least 2"):
        make(name).fit(X, np.where(np.isnan(y), None, "a"))


@pytest.mark.parametrize("name", ALL)
def test_no_label_at_all_is_refused(name, rows):
    with pytest.raises(ValueError, match="y has no label at all"):
        make(name).fit(rows[0], np.full(80, np.nan))


@pytest.mark.parametrize("name", ALL)
def test_one_label_is_refused(name, rows):
    X, _ = rows
    one = np.full(80, np.nan)
    one[5] = 1.0
    with pytest.raises(ValueError, match=r"n_samples=1 labeled row|one class only"):
        make(name).fit(X, one)


@pytest.mark.parametrize("name", ALL)
def test_wrong_width_is_refused_at_predict_relabel_and_for_unlabeled_rows(name, rows):
    X, y = rows
    y = labels_for(name, y)
    model = make(name).fit(X, y)
    for call in (
        lambda: model.predict(X[:, :2]),
        lambda: model.relabel(X[:, :2], y),
        lambda: make(name).fit(X, y, X_unlabeled=X[:, :2]),
    ):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            call()


@pytest.mark.parametrize("name", ALL)
def test_lengths_that_differ_are_refused(name, rows):
    X, y = rows
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make(name).fit(X, labels_for(name, y)[:-1])


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("XNVRegressor", {"sigma": 0}, r"sigma=0 must be a finite number above 0, or \"auto\""),
        ("XNVRegressor", {"sigma": "wide"}, "sigma='wide' must be a finite number"),
        ("XNVRegressor", {"ridge": -1.0}, "ridge=-1.0 must be a finite number of at least 0"),
        ("XNVRegressor", {"ridge": True}, "ridge=True must be a finite number"),
        ("XNVRegressor", {"correlation_ridge": np.nan}, "correlation_ridge=nan must be"),
        ("XNVRegressor", {"canonical_weight": np.inf}, "canonical_weight=inf must be"),
        ("XNVRegressor", {"n_components": 0}, "n_components=0 must be a whole number of at least 1"),
        ("XNVRegressor", {"n_components": 2.5}, "n_components=2.5 must be a whole number"),
        ("XNVRegressor", {"n_threads": 0}, "n_threads=0 must be a whole number .* or None"),
        ("XNVRegressor", {"cca": "fast"}, "cca='fast' must be one of 'exact', 'randomized'"),
        ("XNVRegressor", {"sketch_ratio": 0}, "sketch_ratio=0 must be above 0 and at most 1"),
        ("XNVRegressor", {"sketch_ratio": "a"}, "sketch_ratio='a' must be above 0 and at most 1"),
        ("XNVRegressor", {"degree": 2.5}, "degree=2.5 must be a whole number"),
        ("XNVRegressor", {"fit_intercept": 2}, "fit_intercept=2 must be True or False"),
        ("XNVRegressor", {"progress": "yes"}, "progress='yes' must be True or False"),
        ("XNVRegressor", {"missing_label": ["?"]}, "missing_label=.* must be one value"),
        ("XNVRegressor", {"kernel": ["gaussian"]}, "kernel=.* is not known"),
        ("XNVRegressor", {"kernel": "rbf"}, "kernel='rbf' is not known"),
        ("XKSRegressor", {"kernel": "cosine"}, "kernel='cosine' has no Fourier features"),
        ("RFFRegressor", {"kernel": "linear"}, "kernel='linear' has no Fourier features"),
        ("ExactSSSLRegressor", {"n_eigenfunctions": 500}, "n_eigenfunctions=500, but .* or fewer"),
        ("LapRLSRegressor", {"ridge": 0.0}, "ridge=0.0 must be a finite number above 0"),
        ("LapRLSRegressor", {"manifold_ridge": -1}, "manifold_ridge=-1 must be"),
        ("LapRLSRegressor", {"n_neighbors": 80}, "n_neighbors=80, but .* Use n_neighbors=79"),
    ],
)
def test_wrong_parameters_are_named_with_their_limit(name, parameters, message, rows):
    with pytest.raises(ValueError, match=message):
        make(name, **parameters).fit(*rows)


def test_labels_of_three_dimensions_are_refused(rows):
    with pytest.raises(ValueError, match="y has 3 dimensions"):
        make("XNVRegressor").fit(rows[0], np.zeros((80, 2, 2)))


def test_weights_that_are_wrong_are_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        make("XNVRegressor").fit(X, y, sample_weight=np.zeros(80))
    with pytest.raises(ValueError, match="Negative values"):
        make("XNVRegressor").fit(X, y, sample_weight=np.full(80, -1.0))


@pytest.mark.parametrize("name", ["SSSLRegressor", "RFFRegressor"])
def test_no_leave_one_out_error_at_all_is_told(name):
    """Without a ridge, 200 features go through 30 labels whatever they are."""
    X = np.random.default_rng(0).normal(size=(600, 8))
    y = np.where(np.arange(600) < 30, X[:, 0], np.nan)
    with pytest.warns(UserWarning, match=r"No sigma has a leave-one-out error .* natural one"):
        model = make(name, ridge=0.0).fit(X, y)
    assert np.isnan(model.loo_error_)


def test_leave_one_out_that_does_not_exist_is_nan_for_classes(rows):
    X, y = rows
    model = make("KRRClassifier", ridge=0.0, sigma=0.5).fit(X, labels_for("KRRClassifier", y))
    assert np.isnan(model.loo_error_)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_constant_target_decides_nothing(name, table):
    X, few = table.X[:400], table.few[:400]
    constant = np.where(np.isnan(few), np.nan, 0.1)
    alone = make(name).fit(X, few)
    beside = make(name).fit(X, np.column_stack([few, constant]))
    assert beside.sigma_ == alone.sigma_
    assert_allclose(beside.predict(X)[:, 0], alone.predict(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_inputs_of_extreme_scale(scale, rows):
    X, y = rows
    model = make("XNVRegressor").fit(X * scale, y)
    assert model.score(X[:40] * scale, y[:40]) > 0.9


def test_all_rows_labeled_and_many():
    """More labels than a block holds: the solution is still the minimum over all of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = make("XNVRegressor", n_components=50, committee=False).fit(X, y)
    residual = y - model.predict(X)
    penalty = (1 - model.correlations_) / model.correlations_ + model.ridge_
    gradient = model.transform(X).T @ residual / len(y) - penalty * model.coef_
    assert_allclose(gradient, 0, atol=1e-8)
    assert model.n_unlabeled_ == 0
    assert model.score(X, y) > 0.9
