"""Errors and calibration of predictions, comparable between data sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

# A class that is said to be impossible counts as this likely: one such row must not decide a mean.
_LEAST_PROBABILITY = 1e-6


def normalised_squared_error(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean squared error over the variance of the truth: 1 for predicting the mean of the truth."""
    return float(np.mean(np.square(truth - predicted)) / np.var(truth))


def error_rate(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of rows in the wrong class."""
    return float(np.mean(predicted != truth))


def share_inside(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Share of rows whose truth is between the ends of their interval, ends included."""
    return float(np.mean((low <= truth) & (truth <= high)))


def log_loss(truth: np.ndarray, p: np.ndarray) -> float:
    """Mean of -log of the probability of each row's class, from (rows, K) probabilities."""
    of_truth = p[np.arange(len(p)), truth]
    return float(-np.mean(np.log(np.clip(of_truth, _LEAST_PROBABILITY, 1.0))))


def weighted_auc(truth: np.ndarray, p: np.ndarray) -> float:
    """Area under the ROC curve of each class against the rest, weighted by the share of the class.

    The area is the probability that a row of the class has a higher (rows, K) probability than a row
    of another; equal ones count half. NaN if all rows are of one class.
    """
    counts = np.bincount(truth, minlength=p.shape[1])
    there = np.flatnonzero((counts > 0) & (counts < len(truth)))
    if len(there) == 0:
        return float("nan")
    inside = counts[there]
    ranks = rankdata(p[:, there], axis=0)
    of_class = (ranks * (truth[:, None] == there)).sum(axis=0) - inside * (inside + 1) / 2
    return float(np.average(of_class / (inside * (len(truth) - inside)), weights=inside))


class CalibrationBins(NamedTuple):
    """Rows in bins of equal width by the probability of their most likely class."""

    confidence: np.ndarray  # (bins,) mean of that probability, NaN in an empty bin
    accuracy: np.ndarray  # (bins,) share of the rows that are of that class
    counts: np.ndarray  # (bins,) rows

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of confidence and accuracy over the rows."""
        gap = np.abs(self.confidence - self.accuracy)
        return float(np.nansum(self.counts * gap) / self.counts.sum())


def calibration_bins(truth: np.ndarray, p: np.ndarray, bins: int = 10) -> CalibrationBins:
    """Bins of (rows, K) probabilities, given each row's true class as a position (Guo et al. 2017)."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
    bin_of = np.minimum((confidence * bins).astype(int), bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    filled = np.where(counts > 0, counts, np.nan)
    return CalibrationBins(
        np.bincount(bin_of, weights=confidence, minlength=bins) / filled,
        np.bincount(bin_of, weights=right, minlength=bins) / filled,
        counts,
    )
