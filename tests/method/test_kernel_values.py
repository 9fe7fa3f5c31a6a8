"""Columns of kernels: rounding, pairs that coincide, and every kind of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

import twinviews.method.kernel_values
from twinviews.method.kernel_values import (
    CallableColumns,
    distance_columns,
    mend_close,
    product_columns,
    row_squares,
)


def exponent(q):
    return q


def rows(seed=0, n=20, D=4):
    return np.random.default_rng(seed).normal(size=(n, D))


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_squares_of_rows_are_summed_in_double_precision(kind):
    X = kind(np.full((3, 1000), 0.1, np.float32))
    assert row_squares(X).dtype == np.float64
    assert_allclose(row_squares(X), 1000 * float(np.float32(0.1)) ** 2, rtol=1e-12)


def test_squares_of_sparse_small_numbers_do_not_overflow():
    X = sparse.csr_array(np.full((2, 3), 3e19, np.float32))
    assert_allclose(row_squares(X), 27e38, rtol=1e-6)


@pytest.mark.parametrize("always_mend", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("at", [np.asarray, sparse.csr_array])
def test_the_exponent_is_half_the_squared_distance(kind, at, always_mend):
    X, Y = rows(1), rows(2, n=7)
    q = distance_columns(kind(Y), 1.7, exponent, always_mend=always_mend)(at(X))
    assert_allclose(q, -0.5 * cdist(X, Y) ** 2 / 1.7**2, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_pairs_that_nearly_coincide_keep_their_digits(kind):
    """The squares are 1e6 and more, what is left of them 1e-8: all rounding, unless mended."""
    Y = 1e3 * rows(3)
    X = Y + 1e-4
    q = distance_columns(kind(Y), 1.0, exponent, always_mend=True)(kind(X))
    assert_allclose(np.diag(q), -0.5 * np.square(X - Y).sum(axis=1), rtol=1e-6)
    # So large squares are mended for every profile: here rounding moves the exponent itself.
    again = distance_columns(kind(Y), 1.0, exponent, always_mend=False)(kind(X))
    assert_array_equal(again, q)


def test_many_pairs_that_coincide_are_mended_in_parts(monkeypatch):
    monkeypatch.setattr(twinviews.method.kernel_values, "_VALUES_AT_ONCE", 12)
    X = 1e3 * rows(4)
    q = distance_columns(X, 1.0, exponent, always_mend=True)(np.vstack([X, X]))
    assert_array_equal(np.diag(q[:20]), np.zeros(20))
    assert_array_equal(np.diag(q[20:]), np.zeros(20))


def test_mending_leaves_what_is_apart_alone():
    q = np.array([[-1e-12, -3.0], [0.5, -2.0]])
    U, V = np.zeros((2, 2)), np.array([[0.25, 0.25], [7.0, 7.0]])
    mend_close(q, U, np.ones(2), V, np.ones(2), always=True)
    assert_array_equal(q, [[-0.0625, -3.0], [-0.0625, -2.0]])
    unharmed = np.array([[-1e-12, -3.0], [0.5, -2.0]])
    mend_close(unharmed, U, np.ones(2), V, np.ones(2), always=False)
    assert_array_equal(unharmed, [[-1e-12, -3.0], [0.5, -2.0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_zero_row_has_cosine_zero_with_all(kind):
    X = np.vstack([rows(5, n=3), np.zeros((1, 4))])
    cosine = product_columns(kind(X), 3.0, exponent, unit_length=True)(kind(X))
    assert_allclose(np.diag(cosine), [1, 1, 1, 0])
    assert_array_equal(cosine[3], np.zeros(4))
    assert isinstance(cosine, np.ndarray)


def test_columns_of_a_users_kernel_are_numbers_of_double_precision():
    X = rows(6, n=5)
    columns = CallableColumns(lambda U, V: U @ V.T > 0, 2.0, X)
    assert columns(X).dtype == np.float64
    assert_array_equal(columns(X), (X @ X.T > 0).astype(float))


@pytest.mark.parametrize("shape", [(5, 4), (4, 5)])
def test_a_users_kernel_of_the_wrong_shape_is_named(shape):
    X = rows(6, n=5)
    with pytest.raises(ValueError, match="for 5 rows against 5"):
        CallableColumns(lambda U, V: np.zeros(shape), 1.0, X)(X)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mended", [True, False])
def test_a_kink_at_zero_is_mended_where_rounding_would_not_show_otherwise(kind, mended):
    """A distance of 1e-7 between rows of length 10: its square is below the rounding of theirs."""
    X = rows()
    X *= 10 / np.linalg.norm(X, axis=1)[:, None]
    Y = X + 1e-7 * np.array([1, 0, 0, 0])
    columns = distance_columns(
        kind(Y), 1.0, lambda q: np.sqrt(np.maximum(-2 * q, 0)), always_mend=mended
    )
    apart = np.diag(columns(kind(X)))
    assert (np.abs(apart - 1e-7).max() < 1e-13) == mended
