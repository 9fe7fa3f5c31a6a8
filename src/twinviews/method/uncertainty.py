"""How certain predictions are: intervals, probabilities of classes, and the variance of a ridge fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax

from twinviews.method.regression import triangle

# Leave-one-out fits used for an interval; more would only smooth its ends.
MOST_LEFT_OUT = 2000


class LeftOut(NamedTuple):
    r"""The fits without some of the labels, for one target: jackknife+, and CV+ with folds.

    For each labeled row i there is a fit without it (or without its fold) and the residual
    :math:`r_i = |y_i - \hat f_{-i}(x_i)|`. The interval of a row x runs from a low quantile of the
    numbers :math:`\hat f_{-i}(x) - r_i` to a high one of :math:`\hat f_{-i}(x) + r_i`. Whatever the
    distribution and the method, a new row is inside with probability of at least 1 - 2 alpha, and in
    practice close to 1 - alpha (Barber, Candes, Ramdas and Tibshirani 2021).
    """

    predict: Callable[[Any], np.ndarray]  # rows -> (rows, fits)
    fit_of: np.ndarray  # (m,) which fit has not seen this labeled row
    residual: np.ndarray  # (m,) of the labeled row by that fit
    weight: np.ndarray  # (m,) sums to one
    # How many rows more than the coverage asks for are to be inside. Coverage differs from fit to fit,
    # the more so the fewer labels there are, and too low is worse than too high. With a margin, each
    # end is a mean of the numbers around the quantile, which differs less from fit to fit.
    margin: float = 0.0


# How many numbers on either side of a quantile are averaged, with weights that fall off linearly.
_AROUND = 2.0
# Numbers above it count as at most this many times as far from it as the lowest that is averaged: the
# residual of a wild label may be any number.
_FARTHEST = 4.0


def interval_ends(at: np.ndarray, left_out: LeftOut, coverage: float) -> np.ndarray:
    """(rows, 2) ends of the intervals, from the (rows, fits) predictions at those rows.

    The new row is one of m + 1 rows, and its residual may be the largest: with too few labels for the
    coverage an end is infinite.
    """
    size = np.abs(left_out.residual)
    guesses, m = at[:, left_out.fit_of], len(size)
    share = left_out.weight * (m / (m + 1))
    level = max(coverage, min(coverage + left_out.margin / (m + 1), m / (m + 1)))
    quantile = _upper_quantile if left_out.margin == 0 else _smooth_upper_quantile
    high = quantile(guesses + size, share, level)
    low = -quantile(size - guesses, share, level)
    return np.column_stack([low, high])


def _upper_quantile(values: np.ndarray, share: np.ndarray, level: float) -> np.ndarray:
    """(rows,) least value with that much of the share at or below it; infinite if there is none."""
    ordered, below = _in_order(values, share)
    return _at(ordered, _first(below, level))


def _smooth_upper_quantile(values: np.ndarray, share: np.ndarray, level: float) -> np.ndarray:
    """(rows,) mean of the values around the quantile, as many above as below it."""
    ordered, below = _in_order(values, share)
    m = values.shape[1]
    place = _first(below, level)
    around = min(_AROUND, m - (m + 1) * level) + 1
    weight = np.maximum(around - np.abs((m + 1) * (below - level)), 0)
    middle, lowest = _at(ordered, place), _at(ordered, (weight > 0).argmax(axis=1))
    bound = middle + _FARTHEST * (middle - lowest)
    mean = np.sum(weight * np.minimum(ordered, bound[:, None]), axis=1) / weight.sum(axis=1)
    return np.where(place < m, mean, np.inf)


def _in_order(values: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows, m) the values of each row in ascending order, and the share at or below each."""
    values = np.where(np.isnan(values), np.inf, values)  # without some row there is no fit
    order = np.argsort(values, axis=1)
    return np.take_along_axis(values, order, axis=1), np.cumsum(share[order], axis=1)


def _first(below: np.ndarray, level: float) -> np.ndarray:
    """(rows,) the first place with that much of the share at or below it; m if there is none."""
    enough = below >= level - 1e-12
    return np.where(enough.any(axis=1), enough.argmax(axis=1), below.shape[1])


def _at(ordered: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(rows,) the value at a place of each row; infinite beyond the last."""
    beyond = np.column_stack([ordered, np.full(len(ordered), np.inf)])
    return beyond[np.arange(len(ordered)), place]


def deviation(at: np.ndarray, left_out: LeftOut) -> np.ndarray:
    """(rows,) root of the mean squared residual plus the variance of the fits about their mean.

    Infinite if a fit without some row does not exist, since then its error is unknown.
    """
    noise = left_out.weight @ np.square(left_out.residual)
    mass = np.bincount(left_out.fit_of, left_out.weight, minlength=at.shape[1])
    variance = np.square(at - (at @ mass)[:, None]) @ mass
    return np.nan_to_num(np.sqrt(noise + variance), nan=np.inf)


def class_log_probabilities(decision: np.ndarray, scale: float) -> np.ndarray:
    """(rows, K) log-probabilities; a larger ``scale`` makes them more certain, with the same ranking.

    Two classes have one decision value f in (rows, 1): p = 1 / (1 + exp(-scale f)). More have one
    each: p = softmax(scale f).
    """
    if decision.shape[1] == 1:
        return np.column_stack([log_expit(-scale * decision), log_expit(scale * decision)])
    return log_softmax(scale * decision, axis=1)


def class_shares(coded: np.ndarray) -> np.ndarray:
    """(rows, K) share of each class, from labels coded 1 and -1 (means of them for merged rows)."""
    in_class = (coded + 1) / 2
    return in_class if coded.shape[1] > 1 else np.column_stack([1 - in_class, in_class])


def calibrated_scale(decision: np.ndarray, coded: np.ndarray, weight: np.ndarray) -> float:
    """The scale of greatest likelihood on leave-one-out decision values.

    With few labels all may be right, and the likelihood would grow without bound. As in Platt (1999) a
    row of a class with k labels counts as being of that class with probability (k + 1) / (k + 2) only,
    the rest going to the other classes.
    """
    share = class_shares(coded)
    known = ~np.isnan(decision).any(axis=1)
    if not known.any():
        return 1.0
    decision, share, weight = decision[known], share[known], weight[known]
    count = len(share) * (weight @ share) / weight.sum()
    smoothing = share / (count + 2)
    target = (
        share - smoothing + (smoothing.sum(axis=1, keepdims=True) - smoothing) / (share.shape[1] - 1)
    )

    def loss(log_scale: float) -> float:
        log_p = class_log_probabilities(decision, np.exp(log_scale))
        return -float(weight @ (target * log_p).sum(axis=1))

    return float(np.exp(minimize_scalar(loss, bounds=(-4, 6), method="bounded").x))


@dataclass(frozen=True)
class PredictiveVariance:
    r"""A root L of the covariance of the coefficients, given the labels so far.

    A ridge fit is a Gaussian belief about its coefficients: their covariance is
    :math:`\Sigma = (Z^\top W Z + P)^{-1}`, in units of the noise, with W the labels' weights and P the
    penalty. With :math:`\Sigma = L L^\top` and :math:`t = L^\top z`, the prediction at a row has the
    variance :math:`|t|^2`.
    """

    L: np.ndarray  # (p, p), or with one row more in front for the constant
    intercept: bool

    @classmethod
    def of(
        cls, Z: np.ndarray, weight: np.ndarray, penalty: np.ndarray, *, intercept: bool
    ) -> PredictiveVariance:
        """The variance of a fit to labeled rows with features Z (n, p); weights sum to n.

        The penalty belongs to a mean loss, as everywhere; the constant has none.
        """
        root_penalty = np.sqrt(weight.sum() * penalty)
        rows = np.sqrt(weight)[:, None] * Z
        if intercept:
            rows = np.hstack([np.sqrt(weight)[:, None], rows])
            root_penalty = np.concatenate([[0.0], root_penalty])
        R = triangle(np.vstack([rows, np.diag(root_penalty)]))
        diagonal = np.abs(np.diag(R))
        # A direction that neither labels nor penalty determine gets a large but finite variance.
        floor = 1e-8 * (diagonal.max(initial=0) or 1.0)
        R[np.diag_indices_from(R)] = np.where(diagonal < floor, floor, np.diag(R))
        return cls(solve_triangular(R, np.eye(len(R))), intercept)

    def directions(self, Z: np.ndarray) -> np.ndarray:
        """(rows, q) t of each row; its squared length is the variance there."""
        if not self.intercept:
            return Z @ self.L
        return self.L[0] + Z @ self.L[1:]

    def variance(self, Z: np.ndarray) -> np.ndarray:
        """(rows,) of the prediction, in units of the noise."""
        return np.square(self.directions(Z)).sum(axis=1)
