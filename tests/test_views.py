import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.kernels import SHIFT_INVARIANT, find_kernel, find_shift_invariant_kernel
from twinviews.views import (
    eigenfunctions,
    fourier_columns,
    fourier_view,
    fourier_views,
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


def test_twin_views_share_one_evaluation(X):
    views = nystroem_views(find_kernel("gaussian"), X[:20], 1.0, rcond=1e-13)
    columns = views.columns(X)
    assert_allclose(columns[:, :10] @ views.first.W, views.first(X), atol=1e-12)
    assert_allclose(columns[:, 10:] @ views.second.W, views.second(X), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIFT_INVARIANT)
def test_fourier_features_approach_the_kernel_at_the_stated_rate(name, X):
    """The error falls like 1/sqrt(M): a hundred times the features, a tenth of the error."""
    kernel = find_shift_invariant_kernel(name)
    K = kernel.against(X, 1.0)(X)

    def error(M):
        squares = []
        for seed in range(20):
            Z = fourier_view(fourier_columns(kernel, 3, M, M, seed), 1.0)(X)
            squares.append(np.square(Z @ Z.T - K).mean())
        return np.sqrt(np.mean(squares))

    few, many = error(100), error(10_000)
    assert 7 < few / many < 14
    assert many < 1 / np.sqrt(10_000)  # the variance of 2 cos cos is at most 1 about the kernel


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
