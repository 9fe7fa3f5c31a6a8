"""Probabilities from decision values, calibrated on the leave-one-out decision values."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax


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
