r"""How much predictions count: power tuning (Angelopoulos, Duchi and Zrnic 2023).

The residual :math:`y - \lambda f` varies least with the slope of y on f as the power :math:`\lambda`.
With few labels that slope is noisy, and intervals from the same labels are too narrow (Eyre and Madras
2025). Held-out predictions of an ensemble are calibrated already, so the slope is drawn towards 1,
which counts as so many labels. It stays between 0, labels alone, and 1.
"""

from __future__ import annotations

import numpy as np

# What the slope of 1 counts, in labels.
_PRIOR_LABELS = 50.0


def tuned_power(y: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    """Between 0 and 1; ``weight`` says for how many rows each label stands."""
    if not weight.any():
        return 1.0
    share = weight / weight.sum()
    off = predicted - share @ predicted
    spread = float(share @ np.square(off))
    if spread <= np.square(1e-12 * np.abs(predicted).max(initial=0)):  # constant up to rounding
        return 0.0
    slope = float(share @ (off * y)) / spread
    n = 1 / float(np.square(share).sum())
    return float(np.clip((n * slope + _PRIOR_LABELS) / (n + _PRIOR_LABELS), 0, 1))
