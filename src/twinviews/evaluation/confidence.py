"""Confidence intervals of errors and shares that were measured on few rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm, t

CONFIDENCE = 0.95
_RESAMPLES = 2000


class Interval(NamedTuple):
    """A measured number and its 95% confidence interval."""

    value: float
    low: float
    high: float


def resamples(n: int, seed: int) -> np.ndarray:
    """(resamples, n) weights of n rows in each resample: a product with losses gives mean losses."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES) / n


def bootstrap(of_means: Callable[..., np.ndarray], draws: np.ndarray, *losses: np.ndarray) -> Interval:
    """The bootstrap percentile interval of a function of mean losses, all over the same rows.

    Plain percentiles are too narrow for few rows. The tails used here give Student's interval where
    the function is the mean (Hesterberg 2015). scipy.stats.bootstrap offers no such correction, and
    would draw again for each of the many questions that share one set of resamples.
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
    """The share of hits among n rows, with Wilson's interval, which is valid also for 0 and n hits."""
    found = binomtest(int(hits), n).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(hits) / n, float(found.low), float(found.high))


def paired_share_interval(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """Their share of hits less ours, on the same rows, with its interval.

    Half a row is added to each of the four combinations of hits (Agresti and Min 2005), so that the
    interval is not empty where the two never differ.
    """
    n = len(ours)
    only_theirs = float(np.sum(theirs * (1 - ours))) + 0.5
    only_ours = float(np.sum(ours * (1 - theirs))) + 0.5
    centre = (only_theirs - only_ours) / (n + 2)
    variance = ((only_theirs + only_ours) / (n + 2) - centre**2) / (n + 2)
    reach = float(norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(variance))
    return Interval(float(theirs.mean() - ours.mean()), centre - reach, centre + reach)
