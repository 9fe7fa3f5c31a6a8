"""Sparse rows as a few dense columns: the leading singular directions of a sample of all rows.

Most members compare rows by distance. Of thousands of columns that are mostly zero, such as the words
of a text, no one matters much, and words that go together make one direction: that is learned from
rows with and without labels. A linear member sees all columns beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from twinviews.ensemble.member import Predictor
from twinviews.passes.scaling import ColumnMoments, Scaling, standard_scaling

DIRECTIONS, UNSCALED_DIRECTIONS = "directions", "unscaled directions"
# As many as columns that have a width of their own.
_MOST_DIRECTIONS = 64
# Directions with less than this share of the largest singular value are rounding.
_ROUNDING = 1e-8


@dataclass(frozen=True)
class LeadingDirections:
    """Products of rows and directions, scaled."""

    directions: Annotated[np.ndarray, "D d"]
    scaling: Annotated[Scaling, "d=D"]

    def __call__(self, X: Any) -> np.ndarray:
        """(rows, d) dense, of sparse or dense rows."""
        return self.scaling(np.asarray(X @ self.directions))


@dataclass(frozen=True)
class OnDirections:
    """A fit to rows on directions, for rows as they are."""

    leading: Annotated[LeadingDirections, "D d"]
    fit: Annotated[Predictor, "d=D t"]

    def __call__(self, X: Any) -> np.ndarray:
        return self.fit(self.leading(X))


def directions_of(rows: Any) -> dict[str, LeadingDirections]:
    """Of a sample of sparse rows: directions of equal variance, and as long as they are.

    A table of few columns has its columns instead.
    """
    n, width = rows.shape
    if width <= _MOST_DIRECTIONS:
        V = np.eye(width)
    else:
        _, values, Vt = randomized_svd(rows, min(_MOST_DIRECTIONS, n), random_state=0)
        V = np.ascontiguousarray(Vt[values > _ROUNDING * values[0]].T)
    equal = standard_scaling(ColumnMoments.of(np.asarray(rows @ V), None))
    longest = np.full_like(equal.spread, equal.spread.max())
    return {
        DIRECTIONS: LeadingDirections(V, equal),
        UNSCALED_DIRECTIONS: LeadingDirections(V, Scaling(equal.centre, longest, None)),
    }
