"""Row sketch of Avron, Boutsidis, Toledo and Zouzias (2013), block by block.

The subsampled randomised Hadamard transform replaces b rows A by s < b rows S A with
S = sqrt(b/s) P (H / sqrt(b)) D: random signs D, a Hadamard matrix H that spreads every row over all of
them, and a uniform choice P of s rows. E[(S A)^T (S A)] = A^T A, and the canonical correlations of the
sketch approximate those of the rows. Each block is sketched by itself, so the sketch streams.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard


def sketch_rows(A: np.ndarray, priorities: np.ndarray, ratio: float) -> np.ndarray:
    """About ``ratio`` times as many rows; what is random follows from the rows' seeded priorities.

    Signs go by position and not by row, so that copies of one row have signs of their own. The sketch
    of a block therefore depends on the order of its rows, and that of a table on its blocks.
    """
    rng = np.random.default_rng(int(priorities.sum(dtype=np.uint64)))
    signs = rng.choice([-1.0, 1.0], size=len(A))
    mixed = hadamard_transform(A * signs[:, None])
    b = len(mixed)
    s = max(1, round(ratio * len(A)))
    kept = rng.choice(b, size=s, replace=False)
    return mixed[kept] / np.sqrt(s)


def hadamard_transform(A: np.ndarray) -> np.ndarray:
    """H A for the Hadamard matrix of the next power of two, the missing rows being zero.

    H of size 2^(i+j) is the Kronecker product of those of size 2^i and 2^j: two small matrix products
    instead of i + j passes over the rows.
    """
    size = 1 << max(0, len(A) - 1).bit_length()
    right = 1 << (size.bit_length() // 2)
    left = size // right
    padded = np.zeros((size, A.shape[1]))
    padded[: len(A)] = A
    inner = hadamard(right, dtype=float) @ padded.reshape(left, right, -1)
    outer = hadamard(left, dtype=float) @ inner.reshape(left, -1)
    return outer.reshape(size, -1)
