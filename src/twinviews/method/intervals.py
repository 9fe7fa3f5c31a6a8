r"""Intervals from fits without some of the labels: jackknife+, and CV+ with folds.

For each labeled row i there is a fit without it (or without its fold) and the residual
:math:`r_i = |y_i - \hat f_{-i}(x_i)|`. The interval of a row x runs from a low quantile of the numbers
:math:`\hat f_{-i}(x) - r_i` to a high one of :math:`\hat f_{-i}(x) + r_i`. Whatever the distribution
and the method, a new row is inside with probability of at least 1 - 2 alpha, and in practice close
to 1 - alpha (Barber, Candes, Ramdas and Tibshirani 2021).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# Leave-one-out fits used for an interval; more would only smooth its ends.
MOST_LEFT_OUT = 2000


class LeftOut(NamedTuple):
    """The fits without some of the labels, for one target."""

    predict: Callable[[Any], np.ndarray]  # rows -> (rows, fits)
    fit_of: np.ndarray  # (m,) which fit has not seen this labeled row
    residual: np.ndarray  # (m,) of the labeled row by that fit
    weight: np.ndarray  # (m,) sums to one


def interval_ends(at: np.ndarray, left_out: LeftOut, coverage: float) -> np.ndarray:
    """(rows, 2) ends of the intervals, from the (rows, fits) predictions at those rows.

    The new row is one of m + 1 rows, and its residual may be the largest: with too few labels for the
    coverage an end is infinite.
    """
    size = np.abs(left_out.residual)
    guesses = at[:, left_out.fit_of]
    share = left_out.weight * (len(size) / (len(size) + 1))
    high = _upper_quantile(guesses + size, share, coverage)
    low = -_upper_quantile(size - guesses, share, coverage)
    return np.column_stack([low, high])


def _upper_quantile(values: np.ndarray, share: np.ndarray, level: float) -> np.ndarray:
    """(rows,) least value with that much of the share at or below it; infinite if there is none."""
    values = np.where(np.isnan(values), np.inf, values)  # without some row there is no fit
    order = np.argsort(values, axis=1)
    below = np.cumsum(share[order], axis=1)
    enough = below >= level - 1e-12
    place = enough.argmax(axis=1)
    rows = np.arange(len(values))
    found = values[rows, order[rows, place]]
    return np.where(enough[rows, place], found, np.inf)


def deviation(at: np.ndarray, left_out: LeftOut) -> np.ndarray:
    """(rows,) root of the mean squared residual plus the variance of the fits about their mean.

    Infinite if a fit without some row does not exist, since then its error is unknown.
    """
    noise = left_out.weight @ np.square(left_out.residual)
    mass = np.bincount(left_out.fit_of, left_out.weight, minlength=at.shape[1])
    variance = np.square(at - (at @ mass)[:, None]) @ mass
    return np.nan_to_num(np.sqrt(noise + variance), nan=np.inf)
