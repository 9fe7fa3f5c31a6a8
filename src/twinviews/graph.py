"""The neighbour graph of all rows, and the kernel it bends (Belkin 2006, Sindhwani 2005)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from sklearn.neighbors import kneighbors_graph

Rows = Any  # (rows, D) ndarray or CSR matrix


def graph_laplacian(X: Rows, n_neighbors: int, weight: np.ndarray) -> sparse.csr_array:
    """Normalised Laplacian of the symmetric graph of nearest neighbours.

    Edges weigh exp(-d^2 / 2) with d in units of the mean distance to a neighbour, times the weights of
    the two rows, so that a row of weight 2 pulls like a row given twice.
    """
    distances = kneighbors_graph(X, n_neighbors, mode="distance")
    unit = distances.data.mean() or 1.0
    distances.data = np.exp(-0.5 * np.square(distances.data / unit))
    edges = sparse.csr_array(distances)
    edges = edges.maximum(edges.T)
    scale = sparse.diags_array(weight)
    return sparse.csr_array(laplacian(scale @ edges @ scale, normed=True))


def kernel_deformation(K: np.ndarray, penalty: sparse.csr_array) -> np.ndarray:
    """(N, N) A such that k~(x, z) = k(x, z) - k_x^T A k_z is the kernel of |f|^2 + f^T penalty f.

    A = (I + penalty K)^(-1) penalty, with k_x the kernel of x against all N rows.
    """
    system = penalty @ K
    system[np.diag_indices_from(system)] += 1
    return np.linalg.solve(system, penalty.toarray())
