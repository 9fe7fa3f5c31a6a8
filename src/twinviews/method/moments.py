"""Sums over rows of the columns of two views: correlations need nothing else of the unlabeled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.linalg import hadamard


@dataclass(frozen=True)
class Moments:
    """Count, sum and second moments of the columns c(x), about a fixed ``shift`` near their mean.

    The shift is known before the pass (it comes from the landmarks), so merging is plain addition,
    and the mean, which can be far larger than what varies, is not squared into the sums.
    """

    shift: Annotated[np.ndarray, "m"]
    count: Annotated[float, "> 0"]  # sum of the weights
    total: Annotated[np.ndarray, "m"]  # sum of w (c - shift)
    scatter: Annotated[np.ndarray, "m m"]  # sum of w (c - shift)(c - shift)^T, or a sketch of it

    @classmethod
    def of(
        cls,
        columns: np.ndarray,
        shift: np.ndarray,
        weight: np.ndarray | None = None,
        sketch: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Self:
        """The moments of one block, whose scatter may be that of a sketch; ``columns`` is used up."""
        count, root = float(len(columns)), np.ones(len(columns))
        columns -= shift
        if weight is not None:
            count, root = float(weight.sum()), np.sqrt(weight)
            columns *= root[:, None]
        total = root @ columns
        if sketch is not None:
            columns = sketch(columns)
        # A.T @ A of one array goes to BLAS's symmetric product, half the work of a general one.
        return cls(shift, count, total, np.dot(columns.T, columns))

    def about(self, shift: np.ndarray) -> Self:
        """The same moments about another shift."""
        move = self.shift - shift
        cross = np.outer(self.total, move)
        return type(self)(
            shift,
            self.count,
            self.total + self.count * move,
            self.scatter + cross + cross.T + self.count * np.outer(move, move),
        )

    def merge(self, other: Self) -> Self:
        if not np.array_equal(other.shift, self.shift):
            other = other.about(self.shift)
        return type(self)(
            self.shift,
            self.count + other.count,
            self.total + other.total,
            self.scatter + other.scatter,
        )

    @property
    def mean(self) -> np.ndarray:
        """(m,) mean of the columns over all rows."""
        return self.shift + self.total / self.count

    def covariance(self, *, centred: bool) -> np.ndarray:
        """(m, m) second moments of the columns about their mean, or about zero."""
        about_shift = self.scatter / self.count
        offset = self.total / self.count
        covariance = about_shift - np.outer(offset, offset)
        return covariance if centred else covariance + np.outer(self.mean, self.mean)


def view_covariances(
    covariance: np.ndarray, W1: np.ndarray, W2: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C11, C12 and C22 of the views z = W^T c, from the covariance of the columns c of both."""
    m = len(W1)
    S11, S12, S22 = covariance[:m, :m], covariance[:m, m:], covariance[m:, m:]
    return W1.T @ S11 @ W1, W1.T @ S12 @ W2, W2.T @ S22 @ W2


def sketch_rows(A: np.ndarray, priorities: np.ndarray, ratio: float) -> np.ndarray:
    """About ``ratio`` times as many rows, by Avron, Boutsidis, Toledo and Zouzias (2013).

    The subsampled randomised Hadamard transform replaces b rows A by s < b rows S A with
    S = sqrt(b/s) P (H / sqrt(b)) D: random signs D, a Hadamard matrix H that spreads every row over all
    of them, and a uniform choice P of s rows. E[(S A)^T (S A)] = A^T A, and the canonical correlations
    of the sketch approximate those of the rows.

    What is random follows from the rows' seeded priorities. Signs go by position and not by row, so
    that copies of one row have signs of their own. Each block is sketched by itself, so that the sketch
    streams; it depends on the order of the rows in a block, and on the blocks of a table.
    """
    rng = np.random.default_rng(int(priorities.sum(dtype=np.uint64)))
    signs = rng.choice([-1.0, 1.0], size=len(A))
    mixed = hadamard_transform(A * signs[:, None])
    s = max(1, round(ratio * len(A)))
    kept = rng.choice(len(mixed), size=s, replace=False)
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
