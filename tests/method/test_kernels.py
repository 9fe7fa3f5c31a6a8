import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import f as fisher
from scipy.stats import kstest
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel

from twinviews.method.kernels import (
    SHIFT_INVARIANT,
    find_kernel,
    find_shift_invariant_kernel,
    known_kernels,
)

REFERENCE = {
    "gaussian": lambda X, Y, s: rbf_kernel(X, Y, gamma=1 / (2 * s**2)),
    "laplace": lambda X, Y, s: Matern(length_scale=s, nu=0.5)(X, Y),
    "matern32": lambda X, Y, s: Matern(length_scale=s, nu=1.5)(X, Y),
    "matern52": lambda X, Y, s: Matern(length_scale=s, nu=2.5)(X, Y),
    "linear": lambda X, Y, s: X @ Y.T / s**2,
    "polynomial": lambda X, Y, s: polynomial_kernel(X, Y, degree=3, gamma=1 / s**2, coef0=1),
    "cosine": lambda X, Y, s: cosine_similarity(X, Y),
}


def rows(n=60, D=3):
    return np.random.default_rng(0).normal(size=(n, D))


def test_every_kernel_has_a_reference():
    assert set(known_kernels()) == set(REFERENCE)


@pytest.mark.parametrize("name", known_kernels())
@given(seed=st.integers(0, 1000), sigma=st.floats(0.1, 30))
@settings(max_examples=20, deadline=None)
def test_columns_equal_the_formula(name, seed, sigma):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(13, 3)), rng.normal(size=(7, 3))
    columns = find_kernel(name).against(Y, sigma)
    assert_allclose(columns(X), REFERENCE[name](X, Y, sigma), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", known_kernels())
def test_sparse_and_float32_rows_give_the_same_columns(name):
    rng = np.random.default_rng(0)
    X = ((rng.normal(size=(30, 6)) + 2) * (rng.random((30, 6)) < 0.4)).astype(np.float32)
    kernel = find_kernel(name)
    dense = kernel.against(X[:9].astype(float), 1.5)(X.astype(float))
    assert_allclose(kernel.against(X[:9], 1.5)(X), dense, rtol=1e-12, atol=1e-14)
    rows = sparse.csr_array(X)
    assert_allclose(kernel.against(X[:9], 1.5)(rows), dense, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.against(rows[:9], 1.5)(X), dense, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.against(rows[:9], 1.5)(rows), dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
def test_rows_far_from_the_origin_keep_their_digits(name):
    X = np.random.default_rng(0).normal(size=(20, 3))
    kernel = find_kernel(name)
    near, far = kernel.against(X, 1.0)(X), kernel.against(X + 1e6, 1.0)(X + 1e6)
    assert_allclose(far, near, atol=1e-8)  # 1e6 leaves ten digits after the point


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
def test_a_row_has_kernel_one_with_itself(name):
    X = 100 * np.random.default_rng(0).normal(size=(50, 8))
    assert_allclose(np.diag(find_kernel(name).against(X, 0.7)(X)), 1, atol=1e-12)


def test_one_row_far_away_leaves_the_others_alone():
    """Its length must not make every other pair look like a coincidence."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    far = np.vstack([X, [1e9, 0, 0]])
    columns = find_kernel("gaussian").against(X[:20], 1.0)
    assert_allclose(columns(far)[:-1], columns(X), rtol=1e-12)
    assert (columns(far)[-1] == 0).all()


def test_natural_sigma_is_the_median_distance():
    X = np.random.default_rng(0).normal(size=(40, 3))
    distances = cdist(X, X)[np.triu_indices(40, 1)]
    assert_allclose(find_kernel("gaussian").natural_sigma(X), np.median(distances))


def test_copies_of_a_row_do_not_narrow_the_natural_sigma():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    for kernel in ("gaussian", lambda U, V: U @ V.T):
        assert find_kernel(kernel).natural_sigma(X) == pytest.approx(5)
        assert find_kernel(kernel).natural_sigma(np.ones((4, 2))) == 1


def test_every_row_given_three_times_leaves_the_natural_sigma():
    """Rounding leaves a little between copies of long rows, which must not count as a distance."""
    X = 100 * np.random.default_rng(0).normal(size=(30, 8))
    kernel = find_kernel("gaussian")
    assert_allclose(kernel.natural_sigma(np.repeat(X, 3, axis=0)), kernel.natural_sigma(X), rtol=1e-9)


@pytest.mark.parametrize("name", ["linear", "polynomial", "cosine"])
def test_natural_sigma_of_a_product_is_the_length_of_a_row(name):
    X = np.array([[3.0, 4.0], [0.0, 1.0]])
    assert find_kernel(name).natural_sigma(X) == pytest.approx(np.sqrt((25 + 1) / 2))
    assert find_kernel(name).natural_sigma(np.zeros((2, 2))) == 1


@pytest.mark.parametrize("name", [*known_kernels(), "of a user"])
def test_sigma_matters_unless_it_only_multiplies_the_kernel(name):
    kernel = find_kernel((lambda U, V: U @ V.T + 1) if name == "of a user" else name)
    X = np.random.default_rng(0).normal(size=(6, 2))
    ratio = kernel.against(X, 2.0)(X) / kernel.against(X, 1.0)(X)
    assert kernel.sigma_matters == (np.ptp(ratio) > 1e-9)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_a_polynomial_has_its_degree(degree):
    X = np.random.default_rng(0).normal(size=(6, 2))
    K = find_kernel("polynomial", degree).against(X, 2.0)(X)
    assert_allclose(K, (1 + X @ X.T / 4) ** degree)


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@pytest.mark.parametrize("D", [1, 3])
def test_frequencies_are_drawn_from_students_distribution(name, D):
    """The squared length of a draw of D columns, over D, is Fisher's F; each draw is on its own."""
    kernel = find_shift_invariant_kernel(name)
    W = kernel.frequencies(D, 4000, np.random.RandomState(0))
    assert W.shape == (D, 4000)
    degrees = 1e9 if name == "gaussian" else {"laplace": 1, "matern32": 3, "matern52": 5}[name]
    squares = np.square(W).sum(axis=0) / D
    assert kstest(squares, fisher(D, degrees).cdf).pvalue > 1e-3
    assert kstest(squares[::2], squares[1::2]).pvalue > 1e-3
    assert abs((W > 0).mean() - 0.5) < 0.03


def test_callable_kernel_sees_inputs_over_sigma():
    X = np.random.default_rng(0).normal(size=(10, 3))
    kernel = find_kernel(lambda U, V: U @ V.T)
    assert_allclose(kernel.against(X, 2.0)(X), X @ X.T / 4)


def test_callable_kernel_of_wrong_shape_is_named():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match=r"returned shape \(3, 3\) for 4 rows against 4"):
        find_kernel(lambda U, V: np.zeros((3, 3))).against(X, 1.0)(X)


def test_unknown_kernels_are_named():
    with pytest.raises(ValueError, match=r"kernel='rbf' is not known\. Use one of gaussian, laplace"):
        find_kernel("rbf")
    with pytest.raises(ValueError, match=r"kernel=\['linear'\] is not known"):
        find_kernel(["linear"])
    for kernel in ("linear", ["gaussian"]):
        with pytest.raises(ValueError, match="has no Fourier features"):
            find_shift_invariant_kernel(kernel)


@pytest.mark.parametrize("name", ["gaussian", "linear", "polynomial"])
@pytest.mark.parametrize("size", [1e-170, 1e-100, 1e-3, 1e100])
def test_natural_sigma_has_the_unit_of_the_rows(name, size):
    X = rows()
    expected = size * find_kernel(name).natural_sigma(X)
    assert_allclose(find_kernel(name).natural_sigma(size * X), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "polynomial", "cosine"])
def test_a_column_drowns_where_the_squared_mean_of_another_leaves_it_no_digits(name):
    kernel, X = find_kernel(name), rows()
    X[:, 0] *= 1e4
    X[:, 2] += 1e6
    assert kernel.drowned_column(X, 1e-9) == 1
    assert kernel.drowned_column(X[:, 1:], 1e-9) == 0
    assert kernel.drowned_column(X[:, [0]], 1e-9) is None
    assert kernel.drowned_column(X, 1e-14) is None
    X[:, 1:] = 1e6  # what does not vary has nothing to lose
    assert kernel.drowned_column(X, 1e-9) is None
    assert kernel.drowned_column(sparse.csr_array(X), 1e-9) is None
    assert find_kernel("gaussian").drowned_column(X, 1e-9) is None


@pytest.mark.parametrize("name", known_kernels())
def test_a_kernel_of_full_rank_tells_all_rows_apart(name):
    kernel, X = find_kernel(name), rows()[:40, :2]
    K = kernel.against(X, 0.05)(X)
    assert kernel.full_rank == (np.linalg.matrix_rank(K) == len(X))
