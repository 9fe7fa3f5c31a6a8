r"""The learning curve: how the error falls as labels are added, and a forecast of its continuation.

The errors of fits with fewer labels follow a power law, :math:`e(n) = a + b\,n^{-c}`, well enough to
extrapolate a little. Resampling the evaluated rows gives the interval of the forecast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import beta, t

from twinviews.method.error_estimate import effective_number

CONFIDENCE = 0.9
# From slower than the rate for pure noise to the rate for a smooth truth.
EXPONENTS = np.array([0.25, 0.5, 0.75, 1.0, 1.5])
_RESAMPLED = 400
# Left-out rows are predicted by fits that share labels, so their losses are dependent, and squared
# errors have long tails. The effective sample size of j losses is j/2, of j squared errors j/4. Chosen
# on the contest's development half: without this, intervals covered the true error of 62% of the fits.
_DEPENDENCE, _DEPENDENCE_SQUARED = 2, 4
# The fewest evaluated rows that give an error worth acting on.
LEAST_JUDGED = 5


class Estimate(NamedTuple):
    """A mean loss and the ends of its interval."""

    value: float
    lower: float
    upper: float

    def root(self) -> Estimate:
        """The estimate of the root of a mean square."""
        return Estimate(*(float(np.sqrt(part)) for part in self))


def mean_loss(
    losses: np.ndarray, weight: np.ndarray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
    """The mean of squared errors of rows drawn at random, or with weights that make up for it.

    Weights sum to one. The interval is Student's, on the logarithm: its lower end is above zero.
    """
    j, mean = _effective(losses, weight), float(np.average(losses, weights=weight))
    if j < 2 or mean == 0:
        return Estimate(mean, 0.0, np.inf if j < 2 else 0.0)
    variance = float(np.average(np.square(losses - mean), weights=weight)) * j / (j - 1)
    error = np.sqrt(variance * _DEPENDENCE_SQUARED / j)
    reach = float(t.ppf((1 + confidence) / 2, j - 1)) * error / mean
    return Estimate(mean, mean * float(np.exp(-reach)), mean * float(np.exp(reach)))


def _effective(losses: np.ndarray, weight: np.ndarray | None) -> float:
    """How many losses of equal weight would tell as much."""
    return float(len(losses)) if weight is None else effective_number(weight)


def share_wrong(
    losses: np.ndarray, weight: np.ndarray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
    """The share of ones among zeros and ones, with Jeffreys' interval, which is wide even at zero."""
    share, j = float(np.average(losses, weights=weight)), _effective(losses, weight) / _DEPENDENCE
    share = min(share, 1.0)  # a sum of weights may round to more
    tail = (1 - confidence) / 2
    lower, upper = beta.ppf([tail, 1 - tail], share * j + 0.5, (1 - share) * j + 0.5)
    return Estimate(share, min(share, float(lower)), max(share, float(upper)))


def power_law(n: np.ndarray, errors: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(curves, ahead) values of a + b n^(-c), fitted to each row of errors (curves, sizes).

    a and b are not negative, so that an error neither falls below zero nor rises; c is the one of
    EXPONENTS that fits best. Errors are weighted by their number of labels: that of many labels is more
    certain, and nearer to the range of the forecast.
    """
    if len(n) < 2:
        return np.repeat(errors[:, -1:], len(ahead), axis=1)
    weight = n / n.sum()
    best = np.full(len(errors), np.inf)
    found = np.empty((len(errors), len(ahead)))
    for exponent in EXPONENTS:
        x = n.astype(float) ** -exponent
        x_mean, mean = weight @ x, errors @ weight
        slope = (errors - mean[:, None]) @ (weight * (x - x_mean)) / (weight @ np.square(x - x_mean))
        through_zero = errors @ (weight * x) / (weight @ np.square(x))
        b = np.maximum(slope, 0)
        a = mean - b * x_mean
        b, a = np.where(a < 0, through_zero, b), np.maximum(a, 0)
        misfit = np.square(errors - a[:, None] - np.outer(b, x)) @ weight
        better = misfit < best
        best[better] = misfit[better]
        found[better] = a[better, None] + np.outer(b[better], ahead.astype(float) ** -exponent)
    return found


def forecast(
    n: np.ndarray,
    losses: np.ndarray,
    more: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    squared: bool,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """The mean loss to expect with more labels than the last fit had.

    n (sizes,) are numbers of labels and losses (sizes, j) those of the fits on j rows drawn at random,
    or with weights (j,): squared errors, or zeros and ones. The forecast is the last mean loss times
    the relative fall of the power law from there.
    """
    rng = np.random.default_rng(0)  # the same losses, the same forecast
    j = losses.shape[1]
    dependence = _DEPENDENCE_SQUARED if squared else _DEPENDENCE
    independent = max(2, int(_effective(losses[0], weight) // dependence))
    chance = np.full(j, 1 / j) if weight is None else weight
    drawn = rng.multinomial(independent, chance, size=_RESAMPLED) / independent
    curves = np.vstack([np.average(losses, axis=1, weights=weight), drawn @ losses.T])
    fitted = power_law(n, curves, np.concatenate([n[-1:], n[-1] + more]))
    start = np.where(fitted[:, :1] > 0, fitted[:, :1], 1.0)
    fall = np.where(fitted[:, :1] > 0, fitted[:, 1:] / start, 1.0)
    values = curves[:, -1:] * fall
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(values[1:], [tail, 1 - tail], axis=0)
    if not squared:  # with no error in the data no resample has one, which may be luck
        now = share_wrong(losses[-1], weight, confidence=confidence)
        lower, upper = np.minimum(lower, fall[0] * now.lower), np.maximum(upper, fall[0] * now.upper)
    return [
        Estimate(float(value), min(float(value), float(low)), max(float(value), float(high)))
        for value, low, high in zip(values[0], lower, upper, strict=True)
    ]
