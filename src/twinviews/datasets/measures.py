"""How wrong predictions are: one number that can be set beside another set's."""

from __future__ import annotations

import numpy as np


def normalised_squared_error(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean squared error over the variance of the truth: 1 for the mean of the truth itself."""
    return float(np.mean(np.square(truth - predicted)) / np.var(truth))


def error_rate(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of rows in the wrong class."""
    return float(np.mean(predicted != truth))
