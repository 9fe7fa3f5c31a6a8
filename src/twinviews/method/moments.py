"""Sums over rows of the columns of two views: correlations need nothing else of the unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from twinviews.method.sketch import sketch_rows


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
        sketch: Sketch | None = None,
    ) -> Self:
        """The moments of one block; ``columns`` (rows, m) is used up."""
        count, root = float(len(columns)), np.ones(len(columns))
        columns -= shift
        if weight is not None:
            count, root = float(weight.sum()), np.sqrt(weight)
            columns *= root[:, None]
        total = root @ columns
        if sketch is not None:
            columns = sketch_rows(columns, sketch.priorities, sketch.ratio)
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
        if other.shift is not self.shift and not np.array_equal(other.shift, self.shift):
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


class Sketch(NamedTuple):
    """How a block's rows are to be sketched: the seeded numbers of its rows, and the share kept."""

    priorities: np.ndarray  # (rows,) uint64
    ratio: float


class ViewCovariances(NamedTuple):
    """Covariance blocks of two views."""

    C11: np.ndarray  # (r1, r1)
    C12: np.ndarray  # (r1, r2)
    C22: np.ndarray  # (r2, r2)


def view_covariances(covariance: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> ViewCovariances:
    """Covariance of the views z = W^T c, from that of the columns c of both."""
    m = len(W1)
    S11, S12, S22 = covariance[:m, :m], covariance[:m, m:], covariance[m:, m:]
    return ViewCovariances(W1.T @ S11 @ W1, W1.T @ S12 @ W2, W2.T @ S22 @ W2)
