"""How many rows of the table a labeled row stands for: importance weights, p(all rows) / p(labeled).

The classifier of the two-sample test gives each row a score, a labeled row from the fit without it. A
logistic regression on that one number turns scores into odds (Platt 1999). It also shrinks: scores
that tell nothing about rows they were not fitted to get slope 0, and all weights are 1.

Columns count by their ranks, so weights are the same for rows on any scale that keeps their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.special import expit

from twinviews.passes.scaling import RankScaling, rank_scaling
from twinviews.shift.two_sample_test import (
    EFFECTIVE_DIMENSIONS,
    KernelFeatures,
    kernel_features,
    shrinkage,
)

# No row stands for more than so many times as many rows as the mean labeled row.
_MOST = 20.0
_STEPS = 50


@dataclass(frozen=True)
class RowImportance:
    """Density of all rows over that of labeled rows, at any row; 1 on average over labeled rows."""

    ranks: Annotated[RankScaling, "D"]
    features: Annotated[KernelFeatures, "D r"]
    shrunk: Annotated[np.ndarray, "r", ">= 0"]
    coef: Annotated[np.ndarray, "r"]
    target: Annotated[float, ">= 0", "<= 1"]  # of a labeled row: 1 less the share of labeled rows
    n_rows: Annotated[int, ">= 1"]  # that were compared
    log_odds: tuple[float, float]  # of a label: constant, and slope by score
    labeled_share: Annotated[float, ">= 0", "<= 1"]
    unit: Annotated[float, "> 0"]  # what makes the mean 1
    most: Annotated[float, "> 0"]
    lowest: float  # score of a labeled row

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows,) of rows without a label; infinite beyond all labeled rows."""
        score = self._features(X) @ self.coef
        return np.where(self._is_beyond(score), np.inf, self._weight(score))

    def of_labeled(self, X: np.ndarray) -> np.ndarray:
        """(rows,) of labeled rows, each by the classifier without it."""
        return self._weight(self._left_out(X))

    def is_beyond(self, X: np.ndarray) -> np.ndarray:
        """(rows,) whether a row has a lower score than every labeled row."""
        return self._is_beyond(self._features(X) @ self.coef)

    def _is_beyond(self, score: np.ndarray) -> np.ndarray:
        return (score < self.lowest) & (self.log_odds[1] > 0)

    def _features(self, X: np.ndarray) -> np.ndarray:
        return self.features(self.ranks(X))

    def _left_out(self, X: np.ndarray) -> np.ndarray:
        Z = self._features(X)
        leverage = np.square(Z) @ self.shrunk + 1 / self.n_rows
        return np.asarray((Z @ self.coef - leverage * self.target) / (1 - leverage))

    def _weight(self, score: np.ndarray) -> np.ndarray:
        return np.minimum(self._ratio(score) / self.unit, self.most)

    def _ratio(self, score: np.ndarray) -> np.ndarray:
        log_odds = np.clip(self.log_odds[0] + self.log_odds[1] * score, -30, 30)
        return self.labeled_share + (1 - self.labeled_share) * np.exp(-log_odds)


def row_importance(
    X: np.ndarray, is_labeled: np.ndarray, *, labeled_share: float = 0.0, most: float = _MOST
) -> RowImportance:
    """Cross-fitted, shrunken and clipped weights, from some rows with labels and some without.

    Parameters
    ----------
    X : array of shape (P, D)
        In an order that has nothing to do with labels.
    is_labeled : array of shape (P,) of booleans
    labeled_share : float
        Of all rows of the table: where most have a label, all rows cannot be far from these.
    most : float
        The largest weight, in means over the labeled rows.
    """
    ranks, P = rank_scaling(X), len(X)
    scores = ranks(X)
    features = kernel_features(scores)
    Z, shrunk = features(scores), shrinkage(features.variances, P, EFFECTIVE_DIMENSIONS[-1])
    centred = is_labeled - is_labeled.mean()
    coef = shrunk * (Z.T @ centred)
    leverage = np.square(Z) @ shrunk + 1 / P
    score = (Z @ coef - leverage * centred) / (1 - leverage)  # by the fit without the row
    target = float(1 - is_labeled.mean())
    odds = _calibrated(score, is_labeled)
    lowest = float(score[is_labeled].min())
    found = RowImportance(
        ranks, features, shrunk, coef, target, P, odds, labeled_share, 1.0, most, lowest
    )
    return replace(found, unit=_unit(found._ratio(score[is_labeled]), most))


def effective_labels(weight: np.ndarray) -> float:
    """Random labels that tell as much about a mean over the rows that labels cover."""
    return float(weight.sum() ** 2 / np.square(weight).sum())


def _unit(ratio: np.ndarray, most: float) -> float:
    """What to divide by, so that ratios cut at ``most`` have mean 1."""
    unit = float(ratio.mean())
    for _ in range(_STEPS):
        unit *= float(np.minimum(ratio / unit, most).mean())  # which is below 1 where some are cut
    return unit


def _calibrated(score: np.ndarray, is_first: np.ndarray) -> tuple[float, float]:
    """Logarithm of the odds of the first sample, both samples counting the same: constant and slope.

    Targets are drawn in from 0 and 1 as Platt proposes, or samples that do not overlap at all would
    have infinite odds.
    """
    n, u = int(is_first.sum()), int((~is_first).sum())
    target = np.where(is_first, (n + 1) / (n + 2), 1 / (u + 2))
    weight = np.where(is_first, 0.5 / n, 0.5 / u)
    mean, scale = float(score.mean()), float(score.std())
    if scale == 0:
        return 0.0, 0.0
    Z = np.column_stack([np.ones(len(score)), (score - mean) / scale])
    beta = np.zeros(2)
    for _ in range(_STEPS):  # Newton's method; the problem is convex and has two unknowns
        p = expit(Z @ beta)
        gradient = Z.T @ (weight * (p - target))
        hessian = (Z * (weight * p * (1 - p))[:, None]).T @ Z + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        beta -= step / max(1.0, float(np.abs(step).max()) / 2)
        if np.abs(step).max() < 1e-9:
            break
    # Held-out scores of samples that are alike point the wrong way: a row lowers its own mean.
    if beta[1] <= 0:
        return 0.0, 0.0
    return float(beta[0] - beta[1] * mean / scale), float(beta[1] / scale)
