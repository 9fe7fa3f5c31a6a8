"""Numbers with the interval that a few rows leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm, t

CONFIDENCE = 0.95
_RESAMPLES = 2000


class Interval(NamedTuple):
    value: float
    low: float
    high: float


def resamples(n: int, seed: int) -> np.ndarray:
    """(resamples, n) how often each of n rows is drawn, over n: times losses they are mean losses."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES) / n


def bootstrap(of_means: Callable[..., np.ndarray], draws: np.ndarray, *losses: np.ndarray) -> Interval:
    """The percentile interval of a function of mean losses, all over the same rows.

    Percentiles of so few rows are too narrow; the tails are those that give Student's interval where
    the function is the mean (Hesterberg 2015).
    """
    value = float(of_means(*(loss.mean() for loss in losses)))
    n = draws.shape[1]
    if n < 2:
        return Interval(value, -np.inf, np.inf)
    tail = norm.cdf(t.ppf((1 - CONFIDENCE) / 2, n - 1) * np.sqrt(n / (n - 1)))
    drawn = of_means(*(draws @ loss for loss in losses))
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def share_interval(hits: float, n: int) -> Interval:
    """Of a share of n rows, by Wilson's score; honest also where all or none are hits."""
    z = norm.ppf((1 + CONFIDENCE) / 2)
    share = float(hits) / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Interval(share, max(0.0, float(centre - reach)), min(1.0, float(centre + reach)))


def paired_share_interval(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """Of their share of hits less ours, on the same rows.

    Half a row is added to each of the four ways in which a row can fall out (Agresti and Min 2005), so
    that the interval has a width where the two never differ.
    """
    n = len(ours)
    only_theirs = float(np.sum(theirs * (1 - ours))) + 0.5
    only_ours = float(np.sum(ours * (1 - theirs))) + 0.5
    centre = (only_theirs - only_ours) / (n + 2)
    variance = ((only_theirs + only_ours) / (n + 2) - centre**2) / (n + 2)
    reach = float(norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(variance))
    return Interval(float(theirs.mean() - ours.mean()), centre - reach, centre + reach)
