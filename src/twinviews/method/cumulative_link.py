r"""Probabilities of ordered classes from one number: the cumulative link, or proportional odds, model.

A row of score s is of one of the first k of K classes with probability

.. math:: P(y \le k) = \frac{1}{1 + \exp(b s - c_k)}, \qquad c_1 < \dots < c_{K-1}, \quad b \ge 0

(McCullagh 1980). The cuts c and the slope b have the greatest likelihood on scores of held-out labels:
how far these are from their labels decides how sure the probabilities are. With few labels all may be
right, and the likelihood would grow without bound: the labels are taken together with one more, spread
evenly over the classes, at the mean score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

# Cuts are at least this far apart, or a class between them could never be likely.
_LEAST_GAP = 1e-6
# What the prior label counts, in labels.
_PRIOR_LABELS = 1.0
# Of more rows the first, which are any: more would only smooth a slope and a few cuts.
_MOST_ROWS = 2000


@dataclass(frozen=True)
class CumulativeLink:
    """Scores -> probabilities of classes in their order."""

    cuts: Annotated[np.ndarray, "_"]  # (K - 1,) rising
    slope: Annotated[float, ">= 0"]

    def log_probabilities(self, score: np.ndarray) -> np.ndarray:
        """(rows, K), from (rows,) scores."""
        return _log_probabilities(self.cuts - self.slope * score[:, None])


def _log_probabilities(odds: np.ndarray) -> np.ndarray:
    """(rows, K) from (rows, K - 1) log-odds of being in one of the first classes.

    The difference of two logistic functions at a > b is that at a, times one minus that at b, times
    1 - exp(b - a): nothing is lost to rounding.
    """
    log_p = np.zeros((len(odds), odds.shape[1] + 1))
    log_p[:, :-1] += log_expit(odds)
    log_p[:, 1:] += log_expit(-odds)
    log_p[:, 1:-1] += np.log(-np.expm1(-np.diff(odds, axis=1)))
    return log_p


def likeliest_link(score: np.ndarray, share: np.ndarray, weight: np.ndarray) -> CumulativeLink:
    """The link of greatest likelihood on (m,) scores of held-out rows.

    ``share`` (m, K) is the share of each class in a row's labels, ``weight`` (m,) sums to one.
    """
    known = np.flatnonzero(np.isfinite(score))[:_MOST_ROWS]
    score, share, weight = score[known], share[known], weight[known] / max(weight[known].sum(), 1e-300)
    m, K = share.shape
    centre = float(weight @ score)
    unit = float(np.sqrt(weight @ np.square(score - centre))) or 1.0
    s = np.append((score - centre) / unit, 0.0)
    P = np.vstack([share * (m * weight)[:, None], np.full(K, _PRIOR_LABELS / K)])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        slope, cuts, gaps = parameters[0], np.cumsum(parameters[1:]), parameters[2:]
        odds = cuts - slope * s[:, None]
        by_odds = P[:, :-1] * expit(-odds) - P[:, 1:] * expit(odds)
        with np.errstate(over="ignore"):  # far apart, cuts do not know of each other
            by_gap = P[:, 1:-1].sum(axis=0) / np.expm1(gaps)
        by_cut = by_odds.sum(axis=0)
        by_cut[1:] += by_gap
        by_cut[:-1] -= by_gap
        gradient = np.append(-(by_odds * s[:, None]).sum(), by_cut[::-1].cumsum()[::-1])
        return -float((P * _log_probabilities(odds)).sum()), -gradient

    below = P.sum(axis=0).cumsum()[:-1] / P.sum()
    cuts = np.log(below) - np.log1p(-below)
    start = np.concatenate([[1.0], cuts[:1], np.maximum(np.diff(cuts), _LEAST_GAP)])
    bounds = [(0, None), (None, None), *[(_LEAST_GAP, None)] * (K - 2)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slope = float(found[0]) / unit
    return CumulativeLink(np.cumsum(found[1:]) + slope * centre, slope)


def median_class(p: np.ndarray) -> np.ndarray:
    """(rows,) position of the class of least expected distance: the median of the probabilities."""
    return np.asarray((p.cumsum(axis=1)[:, :-1] < 0.5).sum(axis=1))


def expected_steps(p: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(rows,) expected distance, in steps, between the chosen class and the true one."""
    steps = np.abs(np.arange(p.shape[1]) - chosen[:, None])
    return np.asarray((p * steps).sum(axis=1))
