r"""Counts by least squares: a scale that suits them, and from it the mean count of a row.

Members are fitted to T(y), which is y, its square root or log(1 + y). Where they predict z, the mean
count is that of z and the residuals e of held-out labels (the smearing estimate, Duan 1983):

.. math:: \mu(z) = \sum_i w_i\, T^{-1}(z + e_i), \qquad T^{-1}(t) = 0 \text{ below } T(0).

It is never below 0, and it is not biased as :math:`T^{-1}(z)` is. The mean of a labeled row is judged
without its own residual, by the Poisson deviance. The negative binomial distribution of greatest
likelihood around these means gives probabilities of single counts.

The square root makes the variance of Poisson counts the same everywhere; another scale is taken where
its deviance is clearly lower. On the development half of ``benchmarks/ordinal_and_counts.py`` the scale
of least deviance was no better than the square root everywhere; the mean over three ensembles, one on
each scale, was better by 1% and took three times as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy

CountScale = Literal["identity", "square root", "logarithm"]
COUNT_SCALES: tuple[CountScale, ...] = get_args(CountScale)
# Residuals that a mean is made of: more would only smooth it.
_MOST_RESIDUALS = 300
# Means reach up to so many times the largest label.
_BEYOND = 2.0
# Another scale than the square root must have a deviance below this share of its own.
_CLEARLY_LOWER = 0.9
# Numbers so near to a count are that count.
_ROUNDING = 1e-7
# Logarithms of the dispersion to search; at the least of them it is a Poisson distribution.
_LOG_DISPERSION = (-8.0, 4.0)


def on_count_scale(y: np.ndarray, scale: CountScale) -> np.ndarray:
    """T(y)."""
    if scale == "identity":
        return np.asarray(y, dtype=np.float64)
    return np.sqrt(y) if scale == "square root" else np.log1p(y)


def counts_of_scale(t: np.ndarray, scale: CountScale) -> np.ndarray:
    """The inverse of T, 0 below T(0) = 0; infinity stays."""
    t = np.maximum(t, 0.0)
    if scale == "identity":
        return t
    return np.square(t) if scale == "square root" else np.expm1(t)


@dataclass(frozen=True)
class CountMean:
    """Predictions on a scale -> mean counts, and the distribution around them."""

    scale: CountScale
    residual: Annotated[np.ndarray, "s"]
    share: Annotated[np.ndarray, "s", ">= 0"]  # sums to one
    most: Annotated[float, ">= 0"]  # of the scale
    least: Annotated[float, ">= 0"]  # mean: of a mean of 0 any count would be impossible
    dispersion: Annotated[float, ">= 0"]  # the variance is mean + dispersion * mean squared

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Mean counts, in the shape of the predictions."""
        return np.maximum(self.smeared(z), self.least)

    def smeared(self, z: np.ndarray) -> np.ndarray:
        total = np.zeros(np.shape(z))
        for e, share in zip(self.residual, self.share, strict=True):
            total += share * counts_of_scale(np.minimum(z + e, self.most), self.scale)
        return total

    def deviation(self, mean: np.ndarray) -> np.ndarray:
        """Of counts around a mean."""
        return np.asarray(np.sqrt(mean + self.dispersion * np.square(mean)))

    def log_probabilities(self, z: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(rows, counts) of each count, from (rows,) predictions."""
        mean = self(z)[:, None]
        return log_probability(np.asarray(counts, dtype=np.float64), mean, self.dispersion)


class JudgedMean(NamedTuple):
    """A mean with what held-out labels say of it."""

    mean: CountMean
    held_out: np.ndarray  # (m,) mean count of each labeled row, without its own label
    deviance: float  # Poisson, over the labeled rows


def judged_mean(y: np.ndarray, z: np.ndarray, weight: np.ndarray, scale: CountScale) -> JudgedMean:
    """The mean count from (m,) labels and held-out predictions on a scale, and how good it is.

    ``weight`` sums to one. The order of the labels must not depend on them.
    """
    on_scale, share = on_count_scale(y, scale), weight[:_MOST_RESIDUALS]
    share = share / share.sum()
    most = float(on_count_scale(np.array(_BEYOND * y.max()), scale))
    least = float(weight @ y) / (len(y) + 1)
    mean = CountMean(scale, (on_scale - z)[: len(share)], share, most, least, 0.0)
    own = np.zeros(len(y))
    own[: len(share)] = share
    # The residual of a label gives the label back: without it the mean is that of the others.
    others = (mean.smeared(z) - own * y) / np.maximum(1 - own, np.finfo(float).tiny)
    held_out = np.maximum(others, least)
    mean = replace(mean, dispersion=_dispersion(y, held_out, weight))
    return JudgedMean(mean, held_out, poisson_deviance(y, held_out, weight))


def preferred_scale(deviances: Mapping[CountScale, float]) -> CountScale:
    """The square root, or the scale of least Poisson deviance if that is clearly lower."""
    best = min(deviances, key=lambda scale: deviances[scale])
    usual: CountScale = "square root"
    return best if deviances[best] < _CLEARLY_LOWER * deviances[usual] else usual


def poisson_deviance(y: np.ndarray, mean: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of twice the loss in log-likelihood against a mean that equals each label."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = xlogy(y, y / mean) - (y - mean)
    return float(2 * weight @ np.where(y == mean, 0.0, rows))


def log_probability(y: np.ndarray, mean: np.ndarray, dispersion: float) -> np.ndarray:
    """Logarithm of the negative binomial probability of y; without dispersion, of the Poisson's."""
    if dispersion == 0:
        return np.asarray(xlogy(y, mean) - mean - gammaln(y + 1))
    r = 1 / dispersion
    binomial = gammaln(y + r) - gammaln(r) - gammaln(y + 1)
    return np.asarray(binomial - r * np.log1p(mean / r) + xlogy(y, mean / (r + mean)))


def _dispersion(y: np.ndarray, mean: np.ndarray, weight: np.ndarray) -> float:
    """The dispersion of greatest likelihood; 0 where the labels do not ask for any."""

    def loss(log_dispersion: float) -> float:
        return -float(weight @ log_probability(y, mean, float(np.exp(log_dispersion))))

    if not (mean > 0).all():
        return 0.0
    found = minimize_scalar(loss, bounds=_LOG_DISPERSION, method="bounded")
    poisson = -float(weight @ log_probability(y, mean, 0.0))
    return float(np.exp(found.x)) if found.fun < poisson else 0.0


def whole_ends(ends: np.ndarray) -> np.ndarray:
    """(..., 2) the same intervals with whole ends: no whole number goes in or out.

    An interval without a whole number inside becomes the one between those around it. At labeled rows
    ends are counts, and rounding must not push these out.
    """
    with np.errstate(invalid="ignore"):  # of infinite ends
        is_count = np.abs(ends - np.round(ends)) <= _ROUNDING * np.maximum(np.abs(ends), 1)
    ends = np.where(is_count, np.round(ends), ends)
    low, high = np.ceil(ends[..., 0]), np.floor(ends[..., 1])
    empty = low > high
    low, high = np.where(empty, high, low), np.where(empty, low, high)
    return np.stack([low, high], axis=-1)
