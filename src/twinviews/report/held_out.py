"""What was said of the rows whose labels were hidden, and what they turned out to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twinviews.evaluation.confidence import Interval, share_interval
from twinviews.evaluation.measures import calibration_error

COVERAGES = (0.5, 0.8, 0.9, 0.95)
_BINS = 10


class Coverage(NamedTuple):
    promised: float
    inside: Interval  # share of the rows whose true value is in their interval
    width: float  # mean over the rows


@dataclass(frozen=True)
class HeldOutNumbers:
    number: np.ndarray  # (n,) of each row in the table, from 1
    truth: np.ndarray  # (n,)
    predicted: np.ndarray  # (n,)
    intervals: np.ndarray  # (coverages, n, 2)

    @property
    def residuals(self) -> np.ndarray:
        """Truth less prediction: above zero where the prediction was too low."""
        return self.truth - self.predicted

    @property
    def mean_absolute_error(self) -> float:
        return float(np.abs(self.residuals).mean())

    def coverage(self) -> tuple[Coverage, ...]:
        found = []
        for promised, ends in zip(COVERAGES, self.intervals, strict=True):
            low, high = ends.T
            inside = (low <= self.truth) & (self.truth <= high)
            share = share_interval(inside.sum(), len(inside))
            found.append(Coverage(promised, share, float(np.mean(high - low))))
        return tuple(found)


class Bin(NamedTuple):
    n_rows: int
    sureness: float  # mean probability of the most likely class
    right: Interval  # share of the rows that are of it


@dataclass(frozen=True)
class HeldOutClasses:
    number: np.ndarray  # (n,) of each row in the table, from 1
    truth: np.ndarray  # (n,) position of the class
    p: np.ndarray  # (n, classes)

    @property
    def predicted(self) -> np.ndarray:
        return np.asarray(self.p.argmax(axis=1))

    def confusion(self) -> np.ndarray:
        """(classes, classes) rows of each true class by the class that was said."""
        n_classes = self.p.shape[1]
        cell = self.truth * n_classes + self.predicted
        return np.bincount(cell, minlength=n_classes**2).reshape(n_classes, n_classes)

    @property
    def calibration_error(self) -> float:
        return calibration_error(self.truth, self.p, _BINS)

    def reliability(self) -> tuple[Bin, ...]:
        """Rows in bins of equal width by the probability of their most likely class; none is empty."""
        sure, right = self.p.max(axis=1), self.predicted == self.truth
        bin_of = np.minimum((sure * _BINS).astype(int), _BINS - 1)
        found = []
        for number in np.unique(bin_of):
            rows = bin_of == number
            count = int(rows.sum())
            found.append(Bin(count, float(sure[rows].mean()), share_interval(right[rows].sum(), count)))
        return tuple(found)
