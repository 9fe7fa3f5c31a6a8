"""XNV and XKS through the public API: the laws of Algorithms 1 and 2."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from conftest import make
from twinviews import KRRRegressor, XNVRegressor
from twinviews.method.kernels import find_kernel, known_kernels

BOTH = ["XNVRegressor", "XKSRegressor"]
LITERAL = {"n_components": 20, "sigma": 2.0, "ridge": 1e-3, "correlation_ridge": 0.0}


@pytest.mark.parametrize("name", BOTH)
def test_projections_are_orthonormal_with_diagonal_cross_moments(name, table):
    model = make(name, **LITERAL).fit(table.X, table.few)
    first, second = model.transform_pair(table.X)
    N, k = first.shape
    assert_allclose(first, model.transform(table.X))
    assert_allclose(first.mean(axis=0), 0, atol=1e-8)
    assert_allclose(first.T @ first / N, np.eye(k), atol=1e-7)
    assert_allclose(second.T @ second / N, np.eye(k), atol=1e-7)
    assert_allclose(first.T @ second / N, np.diag(model.correlations_), atol=1e-7)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("parameters", [LITERAL, {}, {"cca": "randomized"}])
def test_correlations_are_sorted_and_between_0_and_1(name, parameters, table):
    model = make(name, **parameters).fit(table.X, table.few)
    assert ((model.correlations_ >= 0) & (model.correlations_ <= 1)).all()
    assert (np.diff(model.correlations_) <= 0).all()
    assert_allclose(model.effective_dimension_, np.square(model.correlations_).sum())


@pytest.mark.parametrize("name", BOTH)
def test_with_whitened_labels_it_is_the_canonical_shrinkage_estimator(name, table):
    """All rows labeled and no ridge: beta_j = lambda_j / n sum_i z_ij y_i (equation 4)."""
    model = make(name, **{**LITERAL, "ridge": 0.0}).fit(table.X, table.y)
    Z = model.transform(table.X)
    shrunk = model.correlations_ * (Z.T @ (table.y - table.y.mean())) / len(Z)
    assert_allclose(model.coef_, shrunk, atol=1e-7)


def test_coefficients_minimise_the_objective_of_step_3(table):
    """The gradient of mean loss + canonical norm + ridge vanishes at coef_."""
    model = make("XNVRegressor", **{**LITERAL, "canonical_weight": 3.0}).fit(table.X, table.few)
    labeled = ~np.isnan(table.few)
    Z, y = model.transform(table.X[labeled]), table.few[labeled]
    residual = y - model.predict(table.X[labeled])
    penalty = 3.0 * (1 - model.correlations_) / model.correlations_ + 1e-3
    assert_allclose(Z.T @ residual / len(y), penalty * model.coef_, atol=1e-7)
    assert_allclose(residual.mean(), 0, atol=1e-9)


@pytest.mark.parametrize("rho", [1e-3, 0.1, 2.0])
def test_identical_views_give_kernel_ridge(rho, table):
    """With the linear kernel both views span all of x: the canonical norm is rho |w|^2."""
    model = make(
        "XNVRegressor", n_components=8, sigma=1.0, kernel="linear", ridge=0.0, correlation_ridge=rho
    ).fit(table.X, table.few)
    labeled = ~np.isnan(table.few)
    X, y = table.X[labeled], table.few[labeled]
    ridge = Ridge(alpha=rho * len(y)).fit(X, y)
    assert_allclose(model.predict(table.X), ridge.predict(table.X), atol=1e-8)
    krr = KRRRegressor(sigma=1.0, kernel="linear", ridge=rho).fit(table.X, table.few)
    assert_allclose(model.predict(table.X), krr.predict(table.X), atol=1e-8)


def test_leave_one_out_equals_brute_force_through_the_api(table):
    labeled = np.flatnonzero(~np.isnan(table.few))[:40]
    few = np.full(len(table.y), np.nan)
    few[labeled] = table.y[labeled]
    model = XNVRegressor(
        n_components=30, sigma=2.0, ridge=1e-2, correlation_ridge=1e-3, random_state=0
    ).fit(table.X, few)
    squares = []
    for i in labeled:
        rest = np.setdiff1d(labeled, i)  # views and correlations of all rows stay
        prediction = model.relabel(table.X[rest], table.y[rest]).predict(table.X[[i]])
        squares.append((table.y[i] - prediction[0]) ** 2)
    error = model.relabel(table.X[labeled], table.y[labeled]).loo_error_
    assert_allclose(error, np.mean(squares), rtol=1e-8)


@pytest.mark.parametrize("name", BOTH)
def test_automatic_choices_are_what_numbers_would_have_given(name, table):
    alone = {} if name == "XKSRegressor" else {"committee": False}
    auto = make(name, canonical_weight="auto", **alone).fit(table.X, table.few)
    chosen = {
        parameter: getattr(auto, f"{parameter}_")
        for parameter in ("n_components", "sigma", "ridge", "correlation_ridge", "canonical_weight")
    }
    given = make(name, **chosen).fit(table.X, table.few)
    assert_allclose(given.predict(table.X), auto.predict(table.X), rtol=1e-7, atol=1e-9)
    assert_allclose(given.loo_error_, auto.loo_error_, rtol=1e-7)


@pytest.mark.parametrize("name", BOTH)
def test_automatic_choice_beats_a_poor_one(name, table):
    auto = make(name).fit(table.X, table.few)
    poor = make(name, sigma=0.1, ridge=1e-4).fit(table.X, table.few)
    unlabeled = np.isnan(table.few)
    truth = table.X[unlabeled], table.y[unlabeled]
    assert auto.score(*truth) > max(0.8, poor.score(*truth))
    assert auto.loo_error_ < poor.loo_error_


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # ten near copies of each labeled row
def test_randomised_cca_approaches_the_exact_one(table):
    X = np.tile(table.X, (10, 1)) + 0.01 * np.random.default_rng(0).normal(size=(12_000, 4))
    y = np.tile(table.few, 10)
    given = {"n_components": 20, "sigma": 2.0, "ridge": 1e-2, "correlation_ridge": 1e-3}
    exact = make("XNVRegressor", **given).fit(X, y)
    errors = []
    for ratio in (0.05, 0.5):
        sketched = make("XNVRegressor", **given, cca="randomized", sketch_ratio=ratio).fit(X, y)
        k = min(len(exact.correlations_), len(sketched.correlations_))
        errors.append(np.abs(exact.correlations_[:k] - sketched.correlations_[:k]).max())
        assert_allclose(sketched.landmarks_, exact.landmarks_)
    assert errors[1] < errors[0] < 0.2
    whole = make("XNVRegressor", **given, cca="randomized", sketch_ratio=1.0).fit(X, y)
    assert np.abs(whole.correlations_ - exact.correlations_).max() < 0.05


def test_without_intercept_nothing_is_centred(table):
    model = make("XNVRegressor", **LITERAL, fit_intercept=False).fit(table.X, table.few)
    Z = model.transform(table.X)
    assert model.intercept_ == 0
    assert_allclose(Z.T @ Z / len(Z), np.eye(Z.shape[1]), atol=1e-7)  # second moments about zero
    assert_allclose(model.predict(table.X), Z @ model.coef_, atol=1e-9)


def test_more_unlabeled_rows_change_the_views_only(table):
    X, y, few = (part[:300] for part in table)
    labeled = ~np.isnan(few)
    stacked = XNVRegressor(random_state=0).fit(X, few)
    apart = XNVRegressor(random_state=0).fit(X[labeled], y[labeled], X_unlabeled=X[~labeled])
    assert_allclose(apart.landmarks_, stacked.landmarks_)
    assert_allclose(apart.predict(X), stacked.predict(X), rtol=1e-7, atol=1e-9)
    assert (apart.n_labeled_, apart.n_unlabeled_) == (stacked.n_labeled_, stacked.n_unlabeled_)
    assert stacked.n_labeled_ == labeled.sum()


def test_landmarks_are_rows_of_the_table_and_distinct(table):
    model = make("XNVRegressor", n_components=30, scale=None).fit(table.X, table.few)
    rows = {tuple(row) for row in table.X}
    assert model.landmarks_.shape == (60, 4)
    assert len({tuple(row) for row in model.landmarks_}) == 60
    assert all(tuple(row) in rows for row in model.landmarks_)


def test_unlabeled_rows_help_on_digits(digits):
    """On clustered classes the views of all rows beat those of the labeled rows alone."""
    labeled = np.array([label is not None for label in digits.few])
    X, y = digits.X[labeled], digits.y[labeled]
    all_rows = [make("XNVClassifier", random_state=s).fit(digits.X, digits.few) for s in range(3)]
    alone = [make("XNVClassifier", random_state=s).fit(X, y) for s in range(3)]
    rest = digits.X[~labeled], digits.y[~labeled]
    assert np.mean([m.score(*rest) for m in all_rows]) > np.mean([m.score(*rest) for m in alone])


@pytest.mark.parametrize("kernel", known_kernels())
def test_a_callable_kernel_gives_the_model_of_the_kernel_it_computes(kernel, table):
    """For every kernel: the user's function sees inputs over sigma, so it needs no width itself."""

    def by_hand(U, V):
        return find_kernel(kernel, degree=2).against(V, 1.0)(U)

    given = {"n_components": 30, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-3}
    named = make("XNVRegressor", kernel=kernel, degree=2, **given).fit(table.X, table.few)
    called = make("XNVRegressor", kernel=by_hand, **given).fit(table.X, table.few)
    assert_allclose(called.correlations_, named.correlations_, rtol=1e-7)
    assert_allclose(called.predict(table.X), named.predict(table.X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kernel", known_kernels())
def test_every_kernel_chooses_its_own_numbers(kernel, table):
    """No worse by leave-one-out than the mean of the labels, which is always within reach."""
    model = make("XNVRegressor", kernel=kernel, degree=2).fit(table.X, table.few)
    labels = table.few[~np.isnan(table.few)]
    n = len(labels)
    mean_left_out = np.var(labels) * (n / (n - 1)) ** 2
    assert model.loo_error_ <= mean_left_out
