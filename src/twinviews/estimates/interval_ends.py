"""From an estimate and its variance to an interval that holds with few labels."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student


def critical_value(coverage: float, degrees: float) -> float:
    """Of Student's t; infinite without a degree of freedom."""
    if degrees <= 0:
        return np.inf
    return float(student.ppf((1 + coverage) / 2, degrees))


def mean_ends(
    value: float, variance: float, degrees: float, coverage: float, skewness: float = 0.0
) -> tuple[float, float]:
    """On either side the farther end of Student's t and of Hall's interval for a skewed error.

    Labels with few large values have a small mean and a small variance together where those are
    missed, so that Student's interval holds less often than it says. Hall (1992) corrects for the
    skewness of the error; that is estimated from the same labels and is rather too small, so the
    correction makes no side shorter.
    """
    if not variance > 0:
        return float(value), float(value)
    z, error = critical_value(coverage, degrees), float(np.sqrt(variance))
    below = max(z, skewed_critical_value(z, skewness))
    above = max(z, -skewed_critical_value(-z, skewness))
    return float(value - below * error), float(value + above * error)


def skewed_critical_value(z: float, skewness: float) -> float:
    """Hall's cubic transformation, inverted: what z becomes for errors of this skewness."""
    if abs(skewness) < 1e-6 or not np.isfinite(z):
        return z
    return float(3 / skewness * (np.cbrt(1 + skewness * (z - skewness / 6)) - 1))


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
