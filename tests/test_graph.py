import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist

from twinviews.graph import graph_laplacian, kernel_deformation
from twinviews.kernels import find_kernel


def laplacian_by_hand(X, k, weight):
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :k]
    unit = np.take_along_axis(distance, near, axis=1).mean()
    edges = np.zeros_like(distance)
    for i, neighbours in enumerate(near):
        for j in neighbours:  # an edge where either is a neighbour of the other
            edges[i, j] = edges[j, i] = np.exp(-((distance[i, j] / unit) ** 2) / 2)
    edges *= np.outer(weight, weight)
    root = np.sqrt(edges.sum(axis=1))
    return np.eye(len(X)) - edges / np.outer(root, root)


@pytest.mark.parametrize("k", [1, 4])
def test_the_laplacian_is_that_of_the_neighbours(k):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)), rng.uniform(0.5, 2, 40)
    L = graph_laplacian(X, k, weight)
    assert sparse.issparse(L)
    assert_allclose(L.toarray(), laplacian_by_hand(X, k, weight), atol=1e-12)


def test_units_do_not_matter_to_the_graph():
    X = np.random.default_rng(1).normal(size=(30, 2))
    there = graph_laplacian(1e3 * X, 3, np.full(30, 7.0)).toarray()
    assert_allclose(there, graph_laplacian(X, 3, np.ones(30)).toarray(), atol=1e-12)


def test_rows_that_are_all_equal_have_a_graph():
    L = graph_laplacian(np.ones((5, 2)), 4, np.ones(5)).toarray()
    assert_allclose(L, (5 * np.eye(5) - 1) / 4)


def test_the_bent_kernel_is_that_of_the_bent_norm():
    """Its matrix on the rows is the inverse of K^(-1) + penalty."""
    X = np.random.default_rng(2).normal(size=(12, 2))
    K = find_kernel("laplace").against(X, 1.0)(X)
    penalty = 0.3 * graph_laplacian(X, 3, np.ones(12))
    bent = K - K @ kernel_deformation(K, penalty) @ K
    assert_allclose(np.linalg.inv(bent), np.linalg.inv(K) + penalty.toarray(), atol=1e-9)
