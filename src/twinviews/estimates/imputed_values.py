"""What a prediction says of a quantity: of a number itself, or of the probability of a condition.

Predictions of numbers are kept as weights on a grid, each shared between its two neighbours, so that a
mean over millions of rows is a product with the quantity at the points of the grid. The mean of the
predictions is exact, and everything else follows the same grid at labeled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Points of the grid, which spans three times the range of the labels.
_POINTS = 2049

Quantity = Callable[[np.ndarray], np.ndarray]  # of values, elementwise


@dataclass(frozen=True)
class Grid:
    """Points from low to high at equal distances."""

    low: float
    high: float

    @property
    def points(self) -> np.ndarray:
        return np.linspace(self.low, self.high, _POINTS)

    def totals(self, values: np.ndarray, weight: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
        """(n, points) weight of the values of each group at each point."""
        place, beyond = self._places(values)
        at = group * _POINTS + place
        found = np.bincount(at, weight * (1 - beyond), n * _POINTS)
        found += np.bincount(at + (beyond > 0), weight * beyond, n * _POINTS)
        return np.asarray(found.reshape(n, _POINTS))

    def at(self, quantity: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The quantity, known at the points, at these values."""
        place, beyond = self._places(values)
        following = np.minimum(place + 1, _POINTS - 1)
        return np.asarray(quantity[place] * (1 - beyond) + quantity[following] * beyond)

    def _places(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.high <= self.low:
            return np.zeros(values.shape, np.intp), np.zeros(values.shape)
        exact = (np.clip(values, self.low, self.high) - self.low) * (
            (_POINTS - 1) / (self.high - self.low)
        )
        place = np.minimum(exact.astype(np.intp), _POINTS - 1)
        return place, np.where(place == _POINTS - 1, 0.0, exact - place)


def share_below(points: np.ndarray, threshold: float, residual: np.ndarray) -> np.ndarray:
    """(points,) how often a prediction there plus a residual is at most the threshold.

    ``residual`` are those of held-out labels. A residual counts as spread evenly to its neighbours, or
    a share would jump where a row passes a residual.
    """
    ordered = np.sort(residual)
    n = len(ordered)
    ranks = (np.arange(n) + 0.5) / n
    return np.asarray(np.interp(threshold - points, ordered, ranks, left=0.0, right=1.0))
