import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist

from twinviews.method.kernels import find_kernel
from twinviews.method.neighbor_graph import graph_laplacian, kernel_deformation, neighbour_distances


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


def test_neighbours_at_one_distance_are_neighbours_all():
    """So that neither the order of the rows, nor rounding, chooses among them."""
    rng = np.random.default_rng(3)
    X = rng.permutation(np.array([(i, j) for i in range(6) for j in range(5)], dtype=float))
    edges = neighbour_distances(X, 3)
    inner = ((X > 0) & (X < [5, 4])).all(axis=1)
    assert set(np.diff(edges.indptr)[inner]) == {4}
    turn = rng.permutation(30)
    there = graph_laplacian(X[turn] / 3 + 0.1, 3, np.ones(30)).toarray()
    assert_allclose(there, graph_laplacian(X, 3, np.ones(30)).toarray()[np.ix_(turn, turn)], atol=1e-12)


def test_many_rows_are_looked_at_some_at_a_time(monkeypatch):
    X = np.random.default_rng(4).normal(size=(50, 3))
    at_once = neighbour_distances(X, 4).toarray()
    monkeypatch.setattr("twinviews.method.neighbor_graph._VALUES_AT_ONCE", 350)
    assert_allclose(neighbour_distances(X, 4).toarray(), at_once, atol=1e-12)
    assert_allclose(neighbour_distances(sparse.csr_array(X), 4).toarray(), at_once, atol=1e-12)


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
