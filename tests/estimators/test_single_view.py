"""SSSL, RFF, KRR, exact SSSL and LapRLS through the public API."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

import twinviews
import twinviews._system.memory
import twinviews.method.kernels
import twinviews.method.neighbor_graph
from conftest import make
from twinviews import ExactSSSLRegressor, KRRRegressor, LapRLSRegressor, SSSLRegressor
from twinviews.estimators._method import features_of_landmarks
from twinviews.method.kernels import find_kernel
from twinviews.method.views import nystroem_view
from twinviews.passes.labeled_rows import LabeledRows

SIGMA = 2.0
GAMMA = 1 / (2 * SIGMA**2)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "matern32"])
def test_krr_is_scikit_learns_kernel_ridge(kernel, table):
    labeled = ~np.isnan(table.few)
    X, y = table.X[labeled], table.y[labeled]
    ours = KRRRegressor(sigma=SIGMA, ridge=1e-3, kernel=kernel, fit_intercept=False)
    ours.fit(table.X, table.few)
    K = twinviews.method.kernels.find_kernel(kernel).against(X, SIGMA)
    theirs = KernelRidge(alpha=1e-3 * len(y), kernel="precomputed").fit(K(X), y)
    assert_allclose(ours.predict(table.X), theirs.predict(K(table.X)), rtol=1e-7, atol=1e-8)


def test_krr_with_intercept_centres_the_labels_and_the_kernel(table):
    """Shifting the labels shifts the predictions: the constant is not penalised."""
    base = KRRRegressor(sigma=SIGMA, ridge=0.1).fit(table.X, table.few)
    shifted = KRRRegressor(sigma=SIGMA, ridge=0.1).fit(table.X, table.few + 1000)
    assert_allclose(shifted.predict(table.X), base.predict(table.X) + 1000, rtol=1e-10)


def test_one_view_with_every_row_a_landmark_is_exact_krr(table):
    """Proposition 1, with the labeled rows as the data set."""
    labeled = ~np.isnan(table.few)
    X, y = table.X[labeled], table.y[labeled]
    sssl = SSSLRegressor(n_components=len(y), sigma=1.0, ridge=1e-3).fit(X, y)
    krr = KRRRegressor(sigma=1.0, ridge=1e-3).fit(X, y)
    assert_allclose(sssl.predict(table.X), krr.predict(table.X), atol=1e-8)
    theirs = KernelRidge(alpha=1e-3 * len(y), kernel="rbf", gamma=0.5).fit(X, y)
    plain = SSSLRegressor(n_components=len(y), sigma=1.0, ridge=1e-3, fit_intercept=False).fit(X, y)
    assert_allclose(plain.predict(table.X), theirs.predict(table.X), atol=1e-8)


def test_with_every_row_a_landmark_unlabeled_rows_add_nothing(table):
    """The solution lies in the span of the labeled rows, so SSSL on all rows is KRR on the labeled."""
    X, few = table.X[:300], table.few[:300]
    sssl = SSSLRegressor(n_components=300, sigma=1.0, ridge=1e-2).fit(X, few)
    krr = KRRRegressor(sigma=1.0, ridge=1e-2).fit(X, few)
    assert_allclose(sssl.predict(table.X), krr.predict(table.X), atol=1e-7)


def test_sssl_features_are_nystroem_features(table):
    model = SSSLRegressor(n_components=50, sigma=SIGMA, ridge=1e-2, random_state=0)
    model.fit(table.X, table.few)
    Z = model.transform(table.X)
    K = twinviews.method.kernels.find_kernel("gaussian").against(model.landmarks_, SIGMA)
    low_rank = K(table.X) @ np.linalg.pinv(K(model.landmarks_), hermitian=True) @ K(table.X).T
    assert_allclose(Z @ Z.T, low_rank, atol=1e-6)


@pytest.mark.parametrize("name", ["SSSLRegressor", "RFFRegressor", "KRRRegressor"])
def test_leave_one_out_equals_brute_force_through_the_api(name, diabetes):
    X, y, few = (part[:150] for part in diabetes)
    labeled = np.flatnonzero(~np.isnan(few))
    model = make(name, sigma=5.0, ridge=1e-2).fit(X, few)
    squares = []
    for i in labeled:
        rest = np.setdiff1d(labeled, i)
        prediction = model.relabel(X[rest], y[rest]).predict(X[[i]])
        squares.append((y[i] - prediction[0]) ** 2)
    error = model.relabel(X[labeled], y[labeled]).loo_error_
    assert_allclose(error, np.mean(squares), rtol=1e-8)


def test_exact_sssl_is_least_squares_on_the_eigenvectors(table):
    X, few = table.X[:300], table.few[:300]
    model = ExactSSSLRegressor(n_eigenfunctions=10, sigma=SIGMA, fit_intercept=False).fit(X, few)
    K = twinviews.method.kernels.find_kernel("gaussian").against(X, SIGMA)(X)
    U = np.linalg.eigh(K)[1][:, -10:]
    labeled = ~np.isnan(few)
    coef = np.linalg.lstsq(U[labeled], few[labeled], rcond=None)[0]
    assert_allclose(model.predict(X), U @ coef, atol=1e-7)
    assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(K)[::-1][:10] / 300)


def test_exact_sssl_chooses_the_size_of_least_leave_one_out_error(table):
    X, few = table.X[:300], table.few[:300]
    auto = ExactSSSLRegressor(sigma=SIGMA).fit(X, few)
    errors = {
        s: ExactSSSLRegressor(n_eigenfunctions=s, sigma=SIGMA).fit(X, few).loo_error_
        for s in range(1, 26)
    }
    assert auto.n_eigenfunctions_ == min(errors, key=errors.get)


def test_laprls_solves_its_equation(table):
    """alpha = (J K + gamma_A n I + gamma_I n / N^2 L K)^(-1) Y, equation 8 of Belkin et al."""
    X, few = table.X[:200], table.few[:200]
    model = LapRLSRegressor(
        sigma=SIGMA, ridge=1e-3, manifold_ridge=5.0, n_neighbors=6, fit_intercept=False
    ).fit(X, few)
    rows = model.landmarks_  # the rows in the model's order
    K = twinviews.method.kernels.find_kernel("gaussian").against(rows, SIGMA)(rows)
    L = twinviews.method.neighbor_graph.graph_laplacian(rows, 6, np.ones(200)).toarray()
    y = np.array([few[np.flatnonzero((row == X).all(axis=1))[0]] for row in rows])
    labeled = ~np.isnan(y)
    n, N = labeled.sum(), 200
    system = np.diag(labeled.astype(float)) @ K + 1e-3 * n * np.eye(N) + 5.0 * n / N**2 * L @ K
    alpha = np.linalg.solve(system, np.where(labeled, y, 0))
    assert_allclose(model.predict(rows), K @ alpha, atol=1e-8)


def test_laprls_without_the_graph_is_krr(table):
    X, few = table.X[:300], table.few[:300]
    bent = LapRLSRegressor(sigma=SIGMA, ridge=1e-3, manifold_ridge=0.0).fit(X, few)
    plain = KRRRegressor(sigma=SIGMA, ridge=1e-3).fit(X, few)
    assert_allclose(bent.predict(table.X), plain.predict(table.X), atol=1e-8)


def test_laprls_with_a_strong_graph_is_flat_on_it(table):
    X, few = table.X[:300], table.few[:300]
    spread = [
        np.ptp(LapRLSRegressor(sigma=SIGMA, ridge=1e-3, manifold_ridge=g).fit(X, few).predict(X))
        for g in (1.0, 1e4, 1e8)
    ]
    assert spread[0] > spread[1] > spread[2]


@pytest.mark.parametrize("name", ["KRRRegressor", "LapRLSRegressor", "ExactSSSLRegressor"])
def test_automatic_choices_are_what_numbers_would_have_given(name, table):
    X, few = table.X[:400], table.few[:400]
    auto = make(name).fit(X, few)
    chosen = {p: getattr(auto, f"{p}_") for p in auto.get_params() if hasattr(auto, f"{p}_")}
    given = make(name, **chosen).fit(X, few)
    assert_allclose(given.predict(X), auto.predict(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["ExactSSSLRegressor", "LapRLSRegressor"])
def test_what_cannot_fit_in_memory_is_refused_with_its_size(name, table, monkeypatch):
    monkeypatch.setattr(twinviews._system.memory, "available_bytes", lambda: 20_000_000)
    message = r"on 1,200 distinct rows needs 0\.. GB \(. matrices .* Use SSSL or XNV"
    with pytest.raises(MemoryError, match=message):
        make(name).fit(table.X, table.few)


def test_available_memory_is_a_real_number_of_bytes():
    assert 2**20 < twinviews._system.memory.available_bytes() < 2**50


def test_the_features_of_landmarks_are_known_without_a_product():
    """V D^(1/2): what K times V D^(-1/2) is, but for the rounding of that product."""
    X = np.random.default_rng(5).uniform(-1, 1, size=(12, 2))
    X[1] = X[0] + 1e-5
    labeled = LabeledRows.of(X, np.ones((12, 1)))
    (problem,) = labeled.problems(labeled.labels)
    view = nystroem_view(find_kernel("gaussian"), problem.distinct, 0.2, rcond=1e-13)
    K, W = view.columns(problem.distinct), view.W
    Z = features_of_landmarks(view, problem)
    assert_allclose(Z, K @ W, atol=1e-9)
    assert_allclose(Z @ Z.T, K, atol=1e-14)
    assert_allclose(Z.T @ Z, np.diag(1 / np.square(W).sum(axis=0)), atol=1e-14)
