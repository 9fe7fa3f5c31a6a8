"""Weights of the members, from their predictions of rows that they were not fitted to."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar, nnls
from scipy.special import log_softmax

# Classification: starting weights fall by e for each third by which a loss exceeds the least one.
_SHARPNESS = 3.0
# How many labels the starting weights count as: of numbers, with the variance of the labels, and of
# classes.
_PRIOR_NUMBERS, _PRIOR_CLASSES = 15.0, 3.0
# One over the variance of the normal prior of a member's offsets.
_PRIOR_OFFSETS = 6.0
# Ends of the logarithm of a factor on decision values.
_LEAST_LOG_FACTOR, _MOST_LOG_FACTOR = -2.0, 5.0
_EM_STEPS = 200
# Members below this share of the largest weight are dropped: they predict as slowly as the others.
_LEAST_SHARE = 0.01
# Decision values are clipped here: beyond it they only say that the member is certain.
SUREST = 1.5
LEAST_PROBABILITY = 1e-9
_LEAST_MIXED = 1e-300


def weights_by_significance(errors: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(J,) weights by the certainty that a member is worse than the best, from (J, m) errors.

    They follow a normal density of the difference between mean errors, in standard errors: if a few
    rows cause the whole difference, the weights stay about equal.
    """
    mean = errors @ weight
    behind = errors - errors[mean.argmin()]
    by = behind @ weight
    variance = np.square(behind - by[:, None]) @ np.square(weight)
    never = np.where(by > 0, np.inf, 0.0)
    surely = np.divide(by, np.sqrt(variance), out=never, where=variance > 0)
    weights = np.exp(-0.5 * np.square(surely))
    return np.asarray(weights / weights.sum())


def weights_by_loss(losses: np.ndarray) -> np.ndarray:
    """(J,) weights by the losses alone; a loss of zero gets all the weight."""
    least = losses.min()
    excess = losses / least - 1 if least > 0 else np.where(losses > 0, np.inf, 0.0)
    weights = np.exp(-_SHARPNESS * excess)
    return np.asarray(weights / weights.sum())


def shared_in_groups(weights: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(J,) weights with those of a group sharing what its best member has.

    Otherwise the more members are alike, the more they would count against one that is not.
    """
    found = np.empty_like(weights)
    for one in np.unique(group):
        own = group == one
        total = weights[own].sum()
        found[own] = weights[own] * (weights[own].max() / total if total > 0 else 0.0)
    return np.asarray(found / found.sum())


def blend_numbers(
    held_out: np.ndarray, y: np.ndarray, weight: np.ndarray, group: np.ndarray | None = None
) -> np.ndarray:
    """(J,) weights of least squared error that are not negative, sum to one and stay near the start.

    ``held_out`` (J, m) holds the members' predictions; at the start groups of members count alike.
    """
    start = weights_by_significance(np.square(held_out - y), weight)
    start = start if group is None else shared_in_groups(start, group)
    spread = float(weight @ np.square(y - weight @ y))
    if spread <= np.square(1e-12 * np.abs(y).max()):  # constant up to rounding
        return start
    J, root = len(start), np.sqrt(weight)
    # Least squares with added rows: some pull towards the start, one makes the sum equal to one.
    pull, firm = np.sqrt(_PRIOR_NUMBERS / len(y) * spread), 1e3 * np.sqrt(spread)
    A = np.vstack([(root * held_out).T, pull * np.eye(J), np.full((1, J), firm)])
    b = np.concatenate([root * y, pull * start, [firm]])
    weights = nnls(A, b, maxiter=100 * J)[0]
    return np.asarray(weights / weights.sum())


class ClassBlend(NamedTuple):
    weights: Annotated[np.ndarray, "j", ">= 0"]
    sureness: Annotated[np.ndarray, "j"]  # factors on the members' decision values
    temper: float  # power of the blend's probabilities
    # Added for each class, after the factor; None in older files: zeros.
    offsets: Annotated[np.ndarray, "j k"] | None = None

    def scores(self, place: int, decision: np.ndarray) -> np.ndarray:
        """The scores of one member, whose softmax are its probabilities."""
        scaled = self.sureness[place] * decision
        return scaled if self.offsets is None else scaled + self.offsets[place]


def blend_classes(
    held_out: np.ndarray, share: np.ndarray, weight: np.ndarray, group: np.ndarray | None = None
) -> ClassBlend:
    """The mixture of the members' probabilities with the greatest likelihood, calibrated.

    ``held_out`` (J, m, K) holds decision values, ``share`` (m, K) the share of each class in a row's
    labels: 1 and 0, except where equal rows have different labels. A member's probabilities are the
    softmax of its decision values times a factor, plus an offset for each class.
    """
    _, m, K = held_out.shape
    # With few labels all may be right. So each label counts as wrong with some probability: neither
    # may the surest member take all, nor the mixture be certain.
    smoothed = in_doubt(share, (K - 1) / (m + K))
    doubt = 1 / (m + 2)  # of a further label, after m right ones
    fits = [_likeliest_scores(decision, smoothed, weight) for decision in held_out]
    start = weights_by_loss(np.array([fit.loss for fit in fits]))
    start = start if group is None else shared_in_groups(start, group)
    p = np.array([_probabilities(fit.scores) for fit in fits])
    of_label = np.einsum("jmk,mk->jm", p, share)
    events = np.hstack([of_label, 1 - of_label])  # right, or wrong
    counts = m * np.concatenate([(1 - doubt) * weight, doubt * weight])
    weights = start
    for _ in range(_EM_STEPS):
        mixed = np.maximum(weights @ events, _LEAST_MIXED)
        weights = weights * (events @ (counts / mixed)) + _PRIOR_CLASSES * start
        weights /= weights.sum()
    weights = without_the_least(weights)
    log_p = np.log(np.einsum("j,jmk->mk", weights, p) + LEAST_PROBABILITY)
    temper = _likeliest_factor(log_p, in_doubt(share, doubt), weight)
    sureness, offsets = ([getattr(fit, name) for fit in fits] for name in ("factor", "offsets"))
    return ClassBlend(weights, np.array(sureness), temper, np.array(offsets))


def in_doubt(share: np.ndarray, doubt: float) -> np.ndarray:
    """(m, K) shares of classes, if labels are wrong with this probability: then all others alike."""
    return share * (1 - doubt) + (1 - share) * doubt / (share.shape[1] - 1)


def class_log_mixture(decisions: np.ndarray, blend: ClassBlend) -> np.ndarray:
    """(rows, K) log-probabilities, from (J, rows, K) decision values."""
    p = sum(
        weight * _probabilities(blend.scores(place, decision))
        for place, (weight, decision) in enumerate(zip(blend.weights, decisions, strict=True))
    )
    return np.asarray(log_softmax(blend.temper * np.log(p + LEAST_PROBABILITY), axis=1))


def _probabilities(scaled: np.ndarray) -> np.ndarray:
    return np.exp(log_softmax(scaled, axis=1))


def two_sided(decision: np.ndarray) -> np.ndarray:
    """(..., K) decision values within limits; two classes, which have one value, get two."""
    decision = np.clip(decision, -SUREST, SUREST)
    return np.concatenate([-decision, decision], axis=-1) if decision.shape[-1] == 1 else decision


class _Scores(NamedTuple):
    factor: float
    offsets: np.ndarray  # (K,)
    scores: np.ndarray  # (m, K) of the decision values
    loss: float


def _likeliest_scores(decision: np.ndarray, share: np.ndarray, weight: np.ndarray) -> _Scores:
    """The factor and the offsets of greatest posterior density under a softmax, and their loss.

    The loss is convex in both. Few labels hardly tell offsets, which then stay near zero.
    """
    K = decision.shape[1]
    penalty = _PRIOR_OFFSETS * float(weight @ weight)  # over as many labels as count alike

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        factor, offsets = parameters[0], parameters[1:]
        log_p = log_softmax(factor * decision + offsets, axis=1)
        off = weight[:, None] * (np.exp(log_p) - share)  # the shares of a row sum to one
        slope = off.sum(axis=0) + penalty * offsets
        value = _cross_entropy(log_p, share, weight) + 0.5 * penalty * offsets @ offsets
        return value, np.append(np.vdot(off, decision), slope)

    ends = (np.exp(_LEAST_LOG_FACTOR), np.exp(_MOST_LOG_FACTOR))
    bounds = [ends] + K * [(None, None)]
    found = minimize(loss, np.append(1, np.zeros(K)), jac=True, method="L-BFGS-B", bounds=bounds).x
    scores = found[0] * decision + found[1:]
    end = _cross_entropy(log_softmax(scores, axis=1), share, weight)
    return _Scores(float(found[0]), found[1:], scores, end)


def _likeliest_factor(scores: np.ndarray, share: np.ndarray, weight: np.ndarray) -> float:
    """The factor on the scores of greatest likelihood under a softmax."""

    def loss(log_factor: float) -> float:
        return _cross_entropy(log_softmax(np.exp(log_factor) * scores, axis=1), share, weight)

    bounds = (_LEAST_LOG_FACTOR, _MOST_LOG_FACTOR)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return float(np.exp(found.x))


def _cross_entropy(log_p: np.ndarray, share: np.ndarray, weight: np.ndarray) -> float:
    return -float(weight @ (share * log_p).sum(axis=1))


def without_the_least(weights: np.ndarray) -> np.ndarray:
    """The weights without the smallest, again with a sum of one."""
    kept = np.where(weights >= _LEAST_SHARE * weights.max(), weights, 0)
    return np.asarray(kept / kept.sum())
