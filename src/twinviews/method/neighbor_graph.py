"""The neighbour graph of all rows, and the kernel deformed by it (Belkin 2006, Sindhwani 2005)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import laplacian

from twinviews.method.kernel_values import Rows, row_squares, squared_distances

# Squared distances that differ by less, relative to their size, are equal but for rounding.
_EQUAL = 1e-12
_VALUES_AT_ONCE = 2_000_000


def graph_laplacian(X: Rows, n_neighbors: int, weight: np.ndarray) -> sparse.csr_array:
    """Normalised Laplacian of the symmetric graph of nearest neighbours.

    Edges weigh exp(-d^2 / 2) with d in units of the mean distance to a neighbour, times the weights of
    the two rows, so that a row of weight 2 pulls like a row given twice.
    """
    edges = neighbour_distances(X, n_neighbors)
    unit = edges.data.mean() or 1.0
    edges.data = np.exp(-0.5 * np.square(edges.data / unit))
    edges = edges.maximum(edges.T)
    scale = sparse.diags_array(weight)
    return sparse.csr_array(laplacian(scale @ edges @ scale, normed=True))


def neighbour_distances(X: Rows, n_neighbors: int) -> sparse.csr_array:
    """(N, N) distances of each row to its nearest, and to all others as near as the last of those.

    Otherwise the order of the rows, or rounding, would choose among neighbours at one distance, and
    tables of whole numbers have many of them.
    """
    if not sparse.issparse(X):  # far from zero, products would have no digits for what varies
        X = X - np.mean(X, axis=0, dtype=np.float64)
    N, D = X.shape
    squares = row_squares(X)
    parts = []
    for start in range(0, N, step := max(1, _VALUES_AT_ONCE // N)):
        some = slice(start, start + step)
        product = X[some] @ X.T
        size = squares[some, None] + squares
        apart = size - 2 * (product.toarray() if sparse.issparse(product) else product)
        itself = np.arange(len(apart))
        apart[itself, start + itself] = np.inf
        # That is known up to rounding; those that may be among the nearest are looked at again.
        size *= (D + 4) * np.finfo(float).eps
        row, column = np.nonzero(apart - size <= _kth(apart + size, n_neighbors))
        apart = np.full_like(apart, np.inf)
        apart[row, column] = squared_distances(X, X, start + row, column)
        row, column = np.nonzero(apart <= (1 + _EQUAL) * _kth(apart, n_neighbors))
        near = (np.sqrt(apart[row, column]), (row, column))
        parts.append(sparse.csr_array(near, shape=apart.shape))
    return sparse.csr_array(sparse.vstack(parts))


def _kth(values: np.ndarray, k: int) -> np.ndarray:
    """(rows, 1) the k-th smallest of each row."""
    return np.partition(values, k - 1, axis=1)[:, k - 1 : k]


def kernel_deformation(K: np.ndarray, penalty: sparse.csr_array) -> np.ndarray:
    """(N, N) A such that k~(x, z) = k(x, z) - k_x^T A k_z is the kernel of |f|^2 + f^T penalty f.

    A = (I + penalty K)^(-1) penalty, with k_x the kernel of x against all N rows.
    """
    system = penalty @ K
    system[np.diag_indices_from(system)] += 1
    return np.linalg.solve(system, penalty.toarray())
