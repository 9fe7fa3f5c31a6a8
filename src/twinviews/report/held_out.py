"""Predictions for the rows whose labels were hidden, beside their true values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.metrics import confusion_matrix

from twinviews.evaluation.confidence import Interval, share_interval
from twinviews.evaluation.measures import calibration_bins

COVERAGES = (0.5, 0.8, 0.9, 0.95)


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
        """True values less predictions: positive where the prediction was too low."""
        return self.truth - self.predicted

    @property
    def mean_absolute_error(self) -> float:
        return float(np.abs(self.residuals).mean())

    def coverage(self) -> tuple[Coverage, ...]:
        """Promised and observed coverage of the intervals."""
        found = []
        for promised, ends in zip(COVERAGES, self.intervals, strict=True):
            low, high = ends.T
            inside = (low <= self.truth) & (self.truth <= high)
            share = share_interval(inside.sum(), len(inside))
            found.append(Coverage(promised, share, float(np.mean(high - low))))
        return tuple(found)


class ReliabilityBin(NamedTuple):
    n_rows: int
    confidence: float  # mean probability of the most likely class
    accuracy: Interval  # share of the rows that are of it


@dataclass(frozen=True)
class HeldOutClasses:
    number: np.ndarray  # (n,) of each row in the table, from 1
    truth: np.ndarray  # (n,) position of the class
    p: np.ndarray  # (n, classes)

    @property
    def predicted(self) -> np.ndarray:
        return np.asarray(self.p.argmax(axis=1))

    def confusion(self) -> np.ndarray:
        """(classes, classes) rows of each true class by predicted class."""
        every = np.arange(self.p.shape[1])
        return np.asarray(confusion_matrix(self.truth, self.predicted, labels=every))

    @property
    def calibration_error(self) -> float:
        return calibration_bins(self.truth, self.p).error

    def reliability(self) -> tuple[ReliabilityBin, ...]:
        """The calibration bins that are not empty, with intervals."""
        return tuple(
            ReliabilityBin(int(n), float(confidence), share_interval(round(n * accuracy), int(n)))
            for confidence, accuracy, n in zip(*calibration_bins(self.truth, self.p), strict=True)
            if n
        )
