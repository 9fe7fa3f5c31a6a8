"""The neighbour graph of all rows, and the kernel it bends (Belkin 2006, Sindhwani 2005)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import laplacian

from twinviews.columns import distance_columns

Rows = Any  # (rows, D) ndarray or CSR matrix

# Squared distances that differ by less, relative to their size, are equal but for rounding.
_EQUAL = 1e-6
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
    N = X.shape[0]
    half_squares = distance_columns(X, 1.0, np.negative, always_mend=True)
    parts = []
    for start in range(0, N, step := max(1, _VALUES_AT_ONCE // N)):
        apart = half_squares(X[start : start + step])
        itself = np.arange(len(apart))
        apart[itself, start + itself] = np.inf
        last = np.partition(apart, n_neighbors - 1, axis=1)[:, n_neighbors - 1]
        row, column = np.nonzero(apart <= (1 + _EQUAL) * last[:, None])
        distances = np.sqrt(2 * apart[row, column])
        parts.append(sparse.csr_array((distances, (row, column)), shape=apart.shape))
    return sparse.csr_array(sparse.vstack(parts))


def kernel_deformation(K: np.ndarray, penalty: sparse.csr_array) -> np.ndarray:
    """(N, N) A such that k~(x, z) = k(x, z) - k_x^T A k_z is the kernel of |f|^2 + f^T penalty f.

    A = (I + penalty K)^(-1) penalty, with k_x the kernel of x against all N rows.
    """
    system = penalty @ K
    system[np.diag_indices_from(system)] += 1
    return np.linalg.solve(system, penalty.toarray())
