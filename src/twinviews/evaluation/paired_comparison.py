"""Methods compared over the same draws or the same sets: ratios with intervals, wins and losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t

from twinviews.evaluation.confidence import CONFIDENCE


class Paired(NamedTuple):
    """One method against another over the same draws, or over the same sets."""

    ratio: float  # geometric mean of error / error
    low: float  # ends of the confidence interval
    high: float

    @property
    def verdict(self) -> str:
        if self.high < 1:
            return "win"
        return "loss" if self.low > 1 else "level"


def paired_ratio(ours: np.ndarray, theirs: np.ndarray) -> Paired:
    """The geometric mean of ratios of paired errors, with Student's interval of the log ratios.

    An error of zero counts as half of the least error above zero; with fewer than two pairs the
    interval is unbounded.
    """
    positive = np.concatenate([ours[ours > 0], theirs[theirs > 0]])
    floor = positive.min() / 2 if len(positive) else 1.0
    logs = np.log(np.maximum(ours, floor) / np.maximum(theirs, floor))
    mean = float(logs.mean())
    if len(logs) < 2:
        return Paired(float(np.exp(mean)), 0.0, np.inf)
    error = float(logs.std(ddof=1)) / np.sqrt(len(logs))
    reach = float(t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1)) * error
    return Paired(float(np.exp(mean)), float(np.exp(mean - reach)), float(np.exp(mean + reach)))
