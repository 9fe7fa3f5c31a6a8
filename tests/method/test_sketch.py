import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from twinviews.method.landmarks import row_priorities
from twinviews.method.moments import hadamard_transform, sketch_rows


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13, 64, 100])
def test_transform_is_the_product_with_the_hadamard_matrix(rows):
    A = np.random.default_rng(rows).normal(size=(rows, 3))
    size = 1 << (rows - 1).bit_length()
    padded = np.vstack([A, np.zeros((size - rows, 3))])
    assert_allclose(hadamard_transform(A), hadamard(size) @ padded, atol=1e-12)


def test_keeping_every_row_changes_no_second_moment():
    A = np.random.default_rng(0).normal(size=(64, 5))
    S = sketch_rows(A, row_priorities(A, 0), ratio=1.0)
    assert_allclose(S.T @ S, A.T @ A, atol=1e-12)


@pytest.mark.parametrize("rows", [100, 128])
def test_sketch_is_unbiased_and_narrows(rows):
    A = np.random.default_rng(0).normal(size=(rows, 4))
    moments = [
        (lambda S: S.T @ S)(sketch_rows(A, row_priorities(A, seed), ratio=0.25)) for seed in range(3000)
    ]
    spread = np.std(moments, axis=0) / np.sqrt(len(moments))
    assert (np.abs(np.mean(moments, axis=0) - A.T @ A) < 5 * spread).all()


def test_copies_of_a_row_are_spread_too():
    """Signs go by position: equal rows must not all add up in one row of the transform."""
    A = np.tile([[1.0, 2.0]], (256, 1))
    for seed in range(20):
        S = sketch_rows(A, row_priorities(A, seed), ratio=0.5)
        assert_allclose(S.T @ S, A.T @ A, rtol=0.6)


def test_one_heavy_row_is_not_lost():
    """Plain row sampling would miss it three times of four; the transform spreads it over all."""
    A = np.full((256, 1), 1e-3)
    A[17] = 100.0
    for seed in range(20):
        S = sketch_rows(A, row_priorities(A, seed), ratio=0.25)
        assert_allclose(S.T @ S, A.T @ A, rtol=0.05)
