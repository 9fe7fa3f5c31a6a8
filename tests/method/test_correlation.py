import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import CCA

from twinviews.method.correlation import canonical_correlation, canonical_penalty, whitening_factors


@pytest.fixture
def blocks():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(2000, 3))
    Z1 = np.hstack([shared + 0.5 * rng.normal(size=(2000, 3)), rng.normal(size=(2000, 2))])
    Z2 = np.hstack([shared + 0.7 * rng.normal(size=(2000, 3)), rng.normal(size=(2000, 1))])
    joint = np.cov(np.hstack([Z1, Z2]).T, ddof=0)
    return Z1 - Z1.mean(0), Z2 - Z2.mean(0), joint[:5, :5], joint[:5, 5:], joint[5:, 5:]


def correlate(C11, C12, C22, rho=0.0):
    return canonical_correlation(
        whitening_factors(C11), C12, whitening_factors(C22), correlation_ridge=rho
    )


def test_projections_are_orthonormal_and_cross_moments_diagonal(blocks):
    _, _, C11, C12, C22 = blocks
    B1, B2, correlations = correlate(C11, C12, C22)
    assert_allclose(B1.T @ C11 @ B1, np.eye(4), atol=1e-12)
    assert_allclose(B2.T @ C22 @ B2, np.eye(4), atol=1e-12)
    assert_allclose(B1.T @ C12 @ B2, np.diag(correlations), atol=1e-12)
    assert (np.diff(correlations) <= 0).all()
    assert 0 <= correlations.min() <= correlations.max() <= 1


def test_correlations_are_those_of_scikit_learn(blocks):
    Z1, Z2, *C = blocks
    scores1, scores2 = CCA(n_components=3, tol=1e-12, max_iter=10_000).fit_transform(Z1, Z2)
    theirs = [np.corrcoef(a, b)[0, 1] for a, b in zip(scores1.T, scores2.T, strict=True)]
    assert_allclose(correlate(*C).correlations[:3], theirs, rtol=1e-6)


def test_correlations_do_not_depend_on_the_basis_of_a_view(blocks):
    _, _, C11, C12, C22 = blocks
    T = np.random.default_rng(1).normal(size=(5, 5))
    turned = correlate(T.T @ C11 @ T, T.T @ C12, C22)
    assert_allclose(turned.correlations, correlate(C11, C12, C22).correlations, rtol=1e-9)


@pytest.mark.parametrize("rho", [1e-3, 1.0])
def test_a_ridge_lowers_correlations_and_keeps_unit_variance(blocks, rho):
    _, _, C11, C12, C22 = blocks
    basis = correlate(C11, C12, C22, rho)
    assert (basis.correlations < correlate(C11, C12, C22).correlations).all()
    assert_allclose(np.diag(basis.B1.T @ C11 @ basis.B1), 1)
    assert_allclose(np.diag(basis.B2.T @ C22 @ basis.B2), 1)


@pytest.mark.parametrize("rho", [1e-4, 0.1])
def test_identical_views_have_the_penalty_of_kernel_ridge(blocks, rho):
    """In view coordinates w = B beta, sum_j (1 - lambda_j)/lambda_j beta_j^2 is rho |w|^2."""
    _, _, C11, _, _ = blocks
    B, _, correlations = correlate(C11, C11, C11, rho)
    s = np.sort(np.linalg.eigvalsh(C11))[::-1]
    assert_allclose(correlations, s / (s + rho))
    beta = np.random.default_rng(0).normal(size=5)
    assert_allclose(canonical_penalty(correlations) @ beta**2, rho * np.square(B @ beta).sum())


def test_unrelated_directions_are_dropped():
    C11, C22 = np.diag([1.0, 2.0]), np.diag([1.0, 3.0])
    C12 = np.diag([0.5, 0.0])
    assert_allclose(correlate(C11, C12, C22).correlations, [0.5])


def test_directions_of_no_variance_are_dropped():
    C = np.diag([1.0, 1e-15])
    basis = correlate(C, C, C)
    assert basis.B1.shape == (2, 1)
    assert_allclose(basis.correlations, [1.0])


def test_nothing_in_common_is_an_empty_basis():
    basis = correlate(np.eye(2), np.zeros((2, 2)), np.eye(2))
    assert basis.B1.shape == (2, 0)
    assert basis.effective_dimension == 0


def test_effective_dimension_is_the_sum_of_squares(blocks):
    basis = correlate(*blocks[2:])
    assert basis.effective_dimension == pytest.approx((basis.correlations**2).sum())


def test_canonical_penalty_is_the_canonical_norm():
    assert_allclose(canonical_penalty(np.array([1.0, 0.5, 0.1])), [0, 1, 9])
    assert_allclose(canonical_penalty(np.array([0.5]), 10.0), [10])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_variances_are_kept_relative_to_the_largest(scale):
    """Whatever the unit: one of 1e-7 of the largest is kept, one of 1e-9 is rounding."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    C = scale * turn @ np.diag([1e-9, 1e-7, 1.0]) @ turn.T
    factors = whitening_factors(C)
    assert_allclose(factors.s, scale * np.array([1e-7, 1.0]), rtol=1e-6)


def test_what_has_no_variance_has_no_directions():
    for C in (np.zeros((2, 2)), -np.eye(2), np.zeros((0, 0))):
        nothing = whitening_factors(C)
        assert nothing.U.shape == (len(C), 0)
        basis = canonical_correlation(nothing, np.zeros((len(C), 2)), whitening_factors(np.eye(2)))
        assert basis.B1.shape == (len(C), 0)
        assert basis.B2.shape == (2, 0)
        assert basis.effective_dimension == 0


def test_identical_views_agree_fully_and_no_more():
    for seed in range(20):
        A = np.random.default_rng(seed).normal(size=(30, 6))
        C = A.T @ A / 30
        correlations = correlate(C, C, C).correlations
        assert_allclose(correlations, 1)
        assert (correlations <= 1).all()


def test_directions_that_the_views_hardly_agree_on_are_dropped():
    correlations = np.array([0.9, 2e-4, 5e-5])
    eye = whitening_factors(np.eye(3))
    few = canonical_correlation(eye, np.diag(correlations), eye)
    assert_allclose(few.correlations, [0.9, 2e-4])
    assert_allclose(np.abs(few.B2), [[1, 0], [0, 1], [0, 0]], atol=1e-12)


def test_the_largest_entry_of_a_direction_is_positive(blocks):
    _, _, *C = blocks
    B1, B2, _ = correlate(*C)
    assert (B1[np.abs(B1).argmax(axis=0), np.arange(4)] > 0).all()
    turned, other, _ = correlate(C[0], -C[1], C[2])
    assert_allclose(turned, B1)
    assert_allclose(other, -B2)


def test_effective_dimension_is_the_sum_of_squared_correlations(blocks):
    _, _, *C = blocks
    basis = correlate(*C)
    assert basis.effective_dimension == pytest.approx(sum(c**2 for c in basis.correlations))
