r"""How large errors are at one row against another: a scale that intervals and errors are local by.

Three things are known of any row, labeled or not, from the fit without a fold: how far the members
of the ensemble are apart there, what they predict, and how far that is from the middle of all
predictions. The logarithm of the scale is linear in them. Its slopes maximise the likelihood of
held-out residuals r as exponential variables, that is, they minimise
:math:`\sum_i (u_i + r_i e^{-u_i})` with :math:`u_i` the logarithm at row i, which is convex. With few
labels they stay near their prior: errors grow with a power of the members' distance, and with
nothing else.

The scale of a row is made of labels outside its fold only, as its prediction is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Slopes before any label: members' distance (logarithm), prediction, its distance from the middle.
_PRIOR = np.array([0.4, 0.0, 0.0])
# What the prior counts, in labels.
_PRIOR_LABELS = 10.0
# Residuals count as at most this many times the median one: that of a wild label may be any number.
_FARTHEST = 8.0
# Distances of members below this share of the usual error are the same.
_LEAST_SPREAD = 1e-3
# Beyond what labeled rows had, the logarithm of the members' distance counts up to this much more.
_FARTHER = 0.7
_STEPS = 30


@dataclass(frozen=True)
class LocalScale:
    """Fitted to the labels outside each fold; 1 is the scale at a typical labeled row."""

    middle: float  # of the predictions of labeled rows
    deviation: float
    least_spread: float
    limits: tuple[np.ndarray, np.ndarray]  # (3,) least and greatest of each feature
    centre: np.ndarray  # (folds, 3)
    slopes: np.ndarray  # (folds, 3)

    def __call__(self, prediction: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """(rows, folds) from predictions without each fold, and how far members are apart there."""
        level = (prediction - self.middle) / self.deviation
        features = np.clip(_features(level, spread + self.least_spread), *self.limits)
        return np.asarray(np.exp(((features - self.centre) * self.slopes).sum(axis=-1)))


def local_scale(
    y: np.ndarray, weight: np.ndarray, fold_of: np.ndarray, held_out: np.ndarray, spread: np.ndarray
) -> tuple[LocalScale, np.ndarray] | None:
    """The scale and its values (m,) at the labeled rows; None where nothing varies.

    ``held_out`` and ``spread`` (m,) are the predictions of rows by the members without their fold, and
    how far these are apart.
    """
    size = np.abs(y - held_out)
    middle = float(weight @ held_out)
    deviation = float(np.sqrt(weight @ np.square(held_out - middle)))
    usual = float(np.median(size))
    if not (0 < deviation < np.inf and 0 < usual < np.inf):
        return None
    size = np.minimum(size / usual, _FARTHEST)
    least = _LEAST_SPREAD * usual
    features = _features((held_out - middle) / deviation, spread + least)
    low, high = features.min(axis=0), features.max(axis=0) + np.array([_FARTHER, 0.0, 0.0])
    n_folds = int(fold_of.max()) + 1
    centre, slopes = np.empty((n_folds, 3)), np.empty((n_folds, 3))
    for fold in range(n_folds):
        others = fold_of != fold
        share = weight[others] / weight[others].sum()
        centre[fold] = share @ features[others]
        slopes[fold] = _slopes(features[others] - centre[fold], size[others], share)
    found = LocalScale(middle, deviation, least, (low, high), centre, slopes)
    return found, np.exp(((features - centre[fold_of]) * slopes[fold_of]).sum(axis=1))


def _features(level: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """(..., 3) what the logarithm of the scale is linear in."""
    return np.stack([np.log(spread), level, np.abs(level)], axis=-1)


def _slopes(features: np.ndarray, size: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(3,) of greatest likelihood, by Newton's method; the constant is fitted along."""
    Z = np.column_stack([np.ones(len(features)), features])
    weight = len(share) * share
    penalty = np.concatenate([[0.0], np.full(3, _PRIOR_LABELS)])
    prior = np.concatenate([[0.0], _PRIOR])
    size = size / max(share @ size, np.finfo(float).tiny)

    def loss(beta: np.ndarray) -> float:
        u = Z @ beta
        return float(
            weight @ (u + size * np.exp(-np.clip(u, -50, 50))) + penalty @ np.square(beta - prior) / 2
        )

    beta = prior.copy()
    for _ in range(_STEPS):
        rest = weight * size * np.exp(-np.clip(Z @ beta, -50, 50))
        gradient = Z.T @ (weight - rest) + penalty * (beta - prior)
        hessian = (Z * rest[:, None]).T @ Z + np.diag(penalty)
        hessian[0, 0] += 1e-9
        step = np.linalg.solve(hessian, gradient)
        before, length = loss(beta), 1.0
        while loss(beta - length * step) > before and length > 1e-6:
            length /= 2
        beta = beta - length * step
        if np.abs(length * step).max() < 1e-9:
            break
    return beta[1:]
