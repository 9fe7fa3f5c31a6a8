"""From an estimate and its variance to an interval that holds with few labels."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student


def critical_value(coverage: float, degrees: float) -> float:
    """Of Student's t; infinite without a degree of freedom."""
    if degrees <= 0:
        return np.inf
    return float(student.ppf((1 + coverage) / 2, degrees))


def mean_ends(value: float, variance: float, degrees: float, coverage: float) -> tuple[float, float]:
    """Symmetric, by Student's t."""
    half = critical_value(coverage, degrees) * np.sqrt(variance) if variance > 0 else 0.0
    return float(value - half), float(value + half)


def share_ends(value: float, labels: float, degrees: float, coverage: float) -> tuple[float, float]:
    """Of a share: Wilson's interval of so many labels, within 0 and 1."""
    p = min(max(value, 0.0), 1.0)
    if np.isinf(labels):
        return p, p
    z = critical_value(coverage, degrees)
    if not np.isfinite(z):
        return 0.0, 1.0
    middle = (p + z**2 / (2 * labels)) / (1 + z**2 / labels)
    half = z / (1 + z**2 / labels) * np.sqrt(p * (1 - p) / labels + z**2 / (4 * labels**2))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
