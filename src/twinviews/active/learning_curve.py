r"""How the error falls as labels are added, and what more of them would buy.

The errors of fits with fewer labels follow a power law, :math:`e(n) = a + b\,n^{-c}`, well enough to
look a little ahead. How far the forecast can be trusted, resampling the judged rows tells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import beta, t

CONFIDENCE = 0.9
# How fast errors fall: slower than with noise alone to learn away, and as fast as for a smooth truth.
EXPONENTS = np.array([0.25, 0.5, 0.75, 1.0, 1.5])
_RESAMPLED = 400
# Left-out rows are predicted by fits that share labels, so they err together, and squared errors have
# long tails: j of them tell as much as j over these numbers would if they were independent. Chosen on
# the contest's development half, where intervals without them held the true error of 62% of the fits.
_TOGETHER, _TOGETHER_SQUARED = 2, 4
# Fewer judged rows say nothing that a person should act on.
LEAST_JUDGED = 5


class Estimate(NamedTuple):
    """A mean loss and the ends of its interval."""

    value: float
    lower: float
    upper: float

    def root(self) -> Estimate:
        """Of a mean square: the same of its root."""
        return Estimate(*(float(np.sqrt(part)) for part in self))


def mean_loss(losses: np.ndarray, *, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of squared errors of rows drawn at random.

    Student's interval of the logarithm, so that its lower end is above zero.
    """
    j, mean = len(losses), float(losses.mean())
    if j < 2 or mean == 0:
        return Estimate(mean, 0.0, np.inf if j < 2 else 0.0)
    error = losses.std(ddof=1) * np.sqrt(_TOGETHER_SQUARED / j)
    reach = float(t.ppf((1 + confidence) / 2, j - 1)) * error / mean
    return Estimate(mean, mean * float(np.exp(-reach)), mean * float(np.exp(reach)))


def share_wrong(losses: np.ndarray, *, confidence: float = CONFIDENCE) -> Estimate:
    """The share of ones among zeros and ones: Jeffreys' interval, wide even if there is no one."""
    share, j = float(losses.mean()), len(losses) / _TOGETHER
    tail = (1 - confidence) / 2
    lower, upper = beta.ppf([tail, 1 - tail], share * j + 0.5, (1 - share) * j + 0.5)
    return Estimate(share, min(share, float(lower)), max(share, float(upper)))


def power_law(n: np.ndarray, errors: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """(curves, ahead) what a + b n^(-c) says further on, for each row of errors (curves, sizes).

    a and b are not negative, so that an error never falls below zero nor rises; c is the one of
    EXPONENTS that fits best. An error counts by its number of labels: that of many is surer, and nearer
    to what is asked for.
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
    *,
    squared: bool,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """The mean loss with more labels than the last fit had.

    n (sizes,) are the labels that the fits had and losses (sizes, j) what they lost on j rows drawn at
    random: squared errors, or zeros and ones. What is shown is the last mean loss times the fall that
    the power law promises from there.
    """
    rng = np.random.default_rng(0)  # the same losses, the same forecast
    j = losses.shape[1]
    independent = max(2, j // (_TOGETHER_SQUARED if squared else _TOGETHER))
    drawn = rng.multinomial(independent, np.full(j, 1 / j), size=_RESAMPLED) / independent
    curves = np.vstack([losses.mean(axis=1), drawn @ losses.T])
    said = power_law(n, curves, np.concatenate([n[-1:], n[-1] + more]))
    start = np.where(said[:, :1] > 0, said[:, :1], 1.0)
    fall = np.where(said[:, :1] > 0, said[:, 1:] / start, 1.0)
    values = curves[:, -1:] * fall
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(values[1:], [tail, 1 - tail], axis=0)
    if not squared:  # where none is wrong, none is in any resample either, and that may be luck
        now = share_wrong(losses[-1], confidence=confidence)
        lower, upper = np.minimum(lower, fall[0] * now.lower), np.maximum(upper, fall[0] * now.upper)
    return [
        Estimate(float(value), min(float(value), float(low)), max(float(value), float(high)))
        for value, low, high in zip(values[0], lower, upper, strict=True)
    ]
