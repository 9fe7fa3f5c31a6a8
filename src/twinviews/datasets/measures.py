"""How wrong predictions are: one number that can be set beside another set's."""

from __future__ import annotations

import numpy as np


def normalised_squared_error(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean squared error over the variance of the truth: 1 for the mean of the truth itself."""
    return float(np.mean(np.square(truth - predicted)) / np.var(truth))


def error_rate(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of rows in the wrong class."""
    return float(np.mean(predicted != truth))


def calibration_error(truth: np.ndarray, p: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: how far sureness is from being right, on average over the rows.

    Rows are put in bins of equal width by the probability of their most likely class (Guo et al. 2017).
    """
    sure, right = p.max(axis=1), p.argmax(axis=1) == truth
    bin_of = np.minimum((sure * bins).astype(int), bins - 1)
    excess = np.bincount(bin_of, weights=sure - right, minlength=bins)
    return float(np.abs(excess).sum() / len(truth))
