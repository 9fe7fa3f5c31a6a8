"""What a member is fitted on, and what comes of it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Labeled(NamedTuple):
    """Labeled rows on one scale."""

    X: np.ndarray  # (m, D)
    Y: np.ndarray  # (m, t) numbers, or 1 and -1 for classes
    weight: np.ndarray  # (m,) sums to one

    def take(self, rows: np.ndarray) -> Labeled:
        weight = self.weight[rows]
        return Labeled(self.X[rows], self.Y[rows], weight / weight.sum())


class Predictor(Protocol):
    """Rows on the scale of the fit -> (rows, t)."""

    def __call__(self, X: np.ndarray) -> np.ndarray: ...


class Recipe(Protocol):
    """How one member, or several that share work, are made of labeled rows and of unlabeled ones."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]: ...
