import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kstest, uniform

from twinviews.method.kernels import SHIFT_INVARIANT, find_kernel, find_shift_invariant_kernel
from twinviews.method.views import (
    Readout,
    TwinFeatures,
    eigenfunctions,
    fourier_columns,
    fourier_view,
    fourier_views,
    inverse_root,
    nystroem_view,
    nystroem_views,
)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


def test_nystroem_view_reproduces_the_kernel_on_its_landmarks(X):
    kernel = find_kernel("matern32")
    Z = nystroem_view(kernel, X, 1.0, rcond=1e-13)(X)
    assert_allclose(Z @ Z.T, kernel.against(X, 1.0)(X), atol=1e-12)


def test_nystroem_view_is_the_low_rank_approximation_of_the_paper(X):
    kernel = find_kernel("gaussian")
    K = kernel.against(X, 1.0)(X)
    Z = nystroem_view(kernel, X[:20], 1.0, rcond=1e-13)(X)
    assert_allclose(
        Z @ Z.T, K[:, :20] @ np.linalg.pinv(K[:20, :20], hermitian=True) @ K[:20], atol=1e-9
    )


def test_duplicate_landmarks_only_lower_the_rank(X):
    kernel = find_kernel("gaussian")
    once = nystroem_view(kernel, X[:10], 1.0, rcond=1e-12)(X)
    twice = nystroem_view(kernel, np.repeat(X[:10], 2, axis=0), 1.0, rcond=1e-12)(X)
    assert twice.shape[1] == once.shape[1]
    assert_allclose(twice @ twice.T, once @ once.T, atol=1e-8)


@pytest.mark.parametrize("sigma", [0.3, 3.0])
def test_twin_views_share_one_evaluation(sigma, X):
    """Of raw columns, or of features where the landmarks' kernel is ill conditioned."""
    views = nystroem_views(find_kernel("gaussian"), X[:20], sigma, rcond=1e-9)
    columns = views.columns(X)
    assert isinstance(views.columns, TwinFeatures) == (sigma == 3.0)
    W1, W2 = views.from_columns
    assert_allclose(columns[:, : len(W1)] @ W1, views.first(X), atol=1e-11)
    assert_allclose(columns[:, len(W1) :] @ W2, views.second(X), atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIFT_INVARIANT)
def test_fourier_features_approach_the_kernel_at_the_stated_rate(name, X):
    """The error falls like 1/sqrt(M): sixteen times the features, a quarter of the error."""
    kernel = find_shift_invariant_kernel(name)
    K = kernel.against(X, 1.0)(X)

    def error(M):
        squares = []
        for seed in range(200):
            Z = fourier_view(fourier_columns(kernel, 3, M, M, seed), 1.0)(X)
            squares.append(np.square(Z @ Z.T - K).mean())
        return np.sqrt(np.mean(squares))

    few, many = error(100), error(1_600)
    assert 3.8 < few / many < 4.2
    assert many < 1 / np.sqrt(1_600)  # the variance of 2 cos cos is at most 1 about the kernel


def test_fourier_views_are_two_halves_of_one_draw(X):
    columns = fourier_columns(find_shift_invariant_kernel("gaussian"), 3, 20, 10, 0)
    views = fourier_views(columns, 2.0)
    assert_allclose(np.hstack([views.first(X), views.second(X)]), views.columns(X))


def test_eigenfunctions_are_orthonormal_over_the_rows(X):
    share = np.random.default_rng(1).dirichlet(np.ones(60))
    view, mu = eigenfunctions(find_kernel("laplace"), X, share, 1.0, most=15)
    phi = view(X)
    assert_allclose(phi.T @ (share[:, None] * phi), np.eye(15), atol=1e-10)
    K = find_kernel("laplace").against(X, 1.0)(X)
    assert_allclose(K @ (share[:, None] * phi), phi * mu, atol=1e-10)  # L_N phi = mu phi
    assert (np.diff(mu) <= 0).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_fourier_features_are_the_formula(X, kind):
    columns = fourier_columns(find_shift_invariant_kernel("matern32"), 3, 8, 4, seed=2)
    assert columns.frequencies.shape == (3, 8)
    angles = X @ columns.frequencies / 2.5 + columns.phases
    assert_allclose(fourier_view(columns, 2.5)(kind(X)), np.sqrt(2 / 4) * np.cos(angles), atol=1e-12)
    views = fourier_views(columns, 2.5)
    assert views.first(X).shape == views.second(X).shape == (60, 4)


def test_phases_are_uniform_on_the_circle_and_seeded():
    kernel = find_shift_invariant_kernel("gaussian")
    columns = fourier_columns(kernel, 2, 3000, 1500, seed=0)
    assert kstest(columns.phases, uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3
    again = fourier_columns(kernel, 2, 3000, 1500, seed=0)
    assert_array_equal(again.phases, columns.phases)
    assert_array_equal(again.frequencies, columns.frequencies)
    assert not np.array_equal(fourier_columns(kernel, 2, 3000, 1500, seed=1).phases, columns.phases)


def test_an_inverse_root_drops_what_is_small_beside_the_largest():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for scale in (1e-6, 1.0, 1e6):
        K = scale * turn @ np.diag([4.0, 1.0, 1e-7]) @ turn.T
        W = inverse_root(K, rcond=1e-5)
        assert W.shape == (3, 2)
        expected = turn[:, :2] @ np.diag([0.25, 1.0]) @ turn[:, :2].T / scale
        assert_allclose(W @ W.T, expected, rtol=1e-6, atol=1e-9 / scale)


def test_the_scale_of_a_view_is_the_mean_of_the_kernel_with_itself(X):
    assert nystroem_view(find_kernel("laplace"), X, 1.0, rcond=1e-9).scale == pytest.approx(1)
    linear = nystroem_view(find_kernel("linear"), X, 2.0, rcond=1e-9)
    assert linear.scale == pytest.approx(np.square(X).sum(axis=1).mean() / 4)


def test_of_an_odd_number_of_landmarks_the_last_is_left_over(X):
    views = nystroem_views(find_kernel("gaussian"), X[:7], 1.0, rcond=1e-9)
    assert_allclose(views.first(X), nystroem_view(find_kernel("gaussian"), X[:3], 1.0, rcond=1e-9)(X))
    second = nystroem_view(find_kernel("gaussian"), X[3:6], 1.0, rcond=1e-9)
    assert_allclose(views.second(X), second(X))
    assert views.columns(X).shape == (60, 6)


def test_there_are_no_more_eigenfunctions_than_the_kernel_has(X):
    share = np.full(60, 1 / 60)
    for scale in (1e-3, 1.0, 1e3):  # sigma scales the eigenvalues of a linear kernel
        view, mu = eigenfunctions(find_kernel("linear"), X, share, scale, most=10)
        assert len(mu) == 3
        assert_allclose(view(X).T @ view(X) / 60, np.eye(3), atol=1e-9)
    assert len(eigenfunctions(find_kernel("laplace"), X, share, 1.0, most=1)[1]) == 1
    assert len(eigenfunctions(find_kernel("laplace"), X, share, 1.0, most=100)[1]) == 60


def test_a_readout_adds_its_constants(X):
    view = nystroem_view(find_kernel("gaussian"), X[:5], 1.0, rcond=1e-9)
    assert_allclose(Readout(view, np.arange(5.0))(X), view(X) + np.arange(5.0))
