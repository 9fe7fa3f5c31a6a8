r"""The error to expect on rows without a label, as an interval, from held-out labels.

Each labeled row is predicted by a fit that has not seen it. The mean loss of m such rows differs from
that of the rows to come because of chance: by :math:`s \sqrt{1/m + 1/N}` for losses of deviation s,
where N rows are to come. Squared errors are skewed and their tails are heavy: the interval is one of
the logarithm, s is shrunk towards what is usual, and with few labels, among which the largest errors
are rarely found, it is taken as larger. To this comes the difference between the fits that were
judged and the one that predicts. The largest errors being rare, the mean of a few is more often below
the true one than above it: the interval reaches further up than down.

The constants were chosen on 17 draws of the contest's regression sets and 5 of its class sets, so that
90% intervals hold the true error in 90% of the fits; ``benchmarks/honesty.py`` measures how often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit  # scipy.stats takes long to import

CONFIDENCE = 0.9
# What the error of a model is called: of numbers, of classes, and of classes in their order.
ROOT_MEAN_SQUARE, ERROR_RATE = "root mean squared error", "error rate"
STEPS = "mean absolute error in steps"
# Squared errors: their variance over their squared mean is 2 for normal errors, and usually more.
_USUAL_VARIANCE, _USUAL_LABELS = 8.0, 20
_LEAST_VARIANCE = 0.3
# With so many labels half of the variance is not to be seen.
_HALF_UNSEEN = 60
# Between the fits judged and the one that predicts: the deviation of the logarithm of squared errors,
# and that of an error rate p in units of p (1 - p).
_BETWEEN_FITS, _BETWEEN_FITS_OF_CLASSES = 0.12, 0.22
# By how much more the interval reaches up, and less down, than half of its width.
_SKEW = 0.1
# An error is told as a number if its interval ends within this factor of it, an error rate if its
# interval is not wider than this.
_NEAR, _WIDE_RATE = 1.22, 0.2


class ErrorEstimate(NamedTuple):
    """A cross-validated error, and the ends of its 90% confidence interval; NaN where unknown."""

    value: float
    low: float
    high: float


def is_rough(error: ErrorEstimate, *, rate: bool) -> bool:
    """Whether labels are too few to tell the error as one number: then its interval is told."""
    return error.high - error.low > _WIDE_RATE if rate else error.high > _NEAR * error.value


UNKNOWN = ErrorEstimate(np.nan, np.nan, np.nan)


def root_mean_squared_error(squared: np.ndarray, weight: np.ndarray, n_other: int) -> ErrorEstimate:
    """From (m,) squared errors of held-out rows and their weights, which sum to one."""
    mean = float(weight @ squared)
    m = effective_number(weight)
    if not np.isfinite(mean) or m < 2:
        return UNKNOWN
    if mean == 0:  # nothing tells how large an error may be
        return UNKNOWN._replace(value=0.0)
    seen = max(float(weight @ np.square(squared / mean - 1)) * m / (m - 1), _LEAST_VARIANCE)
    logs = m * np.log(seen) + _USUAL_LABELS * np.log(_USUAL_VARIANCE)
    variance = np.exp(logs / (m + _USUAL_LABELS)) * (1 + _HALF_UNSEEN / m)
    deviation = np.sqrt(variance * _chance(m, n_other) + _BETWEEN_FITS**2)
    half = stdtrit(m - 1, (1 + CONFIDENCE) / 2) * deviation / 2
    down, up = np.exp(-(1 - _SKEW) * half), np.exp((1 + _SKEW) * half)
    return ErrorEstimate(*(float(np.sqrt(mean) * factor) for factor in (1.0, down, up)))


def error_rate(wrong: np.ndarray, weight: np.ndarray, n_other: int) -> ErrorEstimate:
    """From (m,) shares of each held-out row that are in a wrong class.

    The ends are quantiles of beta distributions (Clopper and Pearson 1934), which are valid also where
    no row was wrong.
    """
    rate = float(np.clip(weight @ wrong, 0, 1))  # rounding leaves 0 to 1
    return _share_in_the_worst_case(rate, rate, effective_number(weight), n_other)


def mean_steps(steps: np.ndarray, n_classes: int, weight: np.ndarray, n_other: int) -> ErrorEstimate:
    """From (m,) distances, in steps, between the predicted and the true class of held-out rows.

    In units of the largest distance they are shares, and their mean is as certain as an error rate from
    as many rows as give it the same variance: more than there are, up to one for each step. Of two
    classes it is the error rate.
    """
    most = n_classes - 1
    mean = float(np.clip(weight @ steps, 0, most))
    share, variance = mean / most, float(weight @ np.square(steps - mean)) / most**2
    worth = float(np.clip(share * (1 - share) / variance, 1, most)) if variance > 0 else float(most)
    wrong = float(np.clip(weight @ (steps > 0), 0, 1))
    found = _share_in_the_worst_case(share, wrong, effective_number(weight), n_other, worth)
    return ErrorEstimate(*(most * end for end in found))


def _share_in_the_worst_case(
    share: float, wrong: float, m: float, n_other: int, worth: float = 1.0
) -> ErrorEstimate:
    """A share of the worst case, in which all of m rows are wrong; a row counts as ``worth`` rows."""
    if not np.isfinite(share):
        return UNKNOWN
    between = _BETWEEN_FITS_OF_CLASSES**2 * wrong * (1 - wrong)
    m = worth / (_chance(m, n_other) + between)  # the rows to come are a sample too, and fits differ
    tail = (1 - CONFIDENCE) / 2
    errors = m * share
    low = float(betaincinv(errors, m - errors + 1, tail)) if errors > 0 else 0.0
    high = float(betaincinv(errors + 1, m - errors, 1 - tail)) if errors < m else 1.0
    if low * n_other * worth < 1 and n_other:  # less than one row
        low = 0.0
    return ErrorEstimate(share, low, high)


def effective_number(weight: np.ndarray) -> float:
    """Of rows with these weights, which sum to one: m if they are equal."""
    return float(1 / np.square(weight).sum())


def _chance(m: float, n_other: int) -> float:
    """Of both samples, where the rows to come are as many as the labels or more: others follow them."""
    return 1 / m + (1 / max(n_other, m) if n_other else 0.0)
