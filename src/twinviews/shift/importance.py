r"""How many rows of the table a labeled row stands for: importance weights, p(all rows) / p(labeled).

A logistic regression on the features of the two-sample test gives the odds that a row is a labeled
one. Its penalty is the one of greatest likelihood on left-out rows, by the closed form of one Newton
step: without row i its log-odds are :math:`\eta_i - h_i (t_i - p_i) / ((1 - h_i) p_i (1 - p_i))`, with
the leverage h. A second regression, on these log-odds alone, corrects how sure they are (Platt 1999):
where they tell nothing its slope is 0 and all weights are 1. Weights are cut, so that no label decides.

Columns count by their ranks, so weights are the same for rows on any scale that keeps their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.special import expit

from twinviews.passes.scaling import RankScaling, Scale, rank_scaling
from twinviews.shift.two_sample_test import KernelFeatures, kernel_features

# No row stands for more than so many times as many rows as the mean labeled row.
_MOST = 20.0
# Penalties to choose from, the strongest first.
_PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
_STEPS = 50
# A step of Newton's method changes no log-odds by more than this.
_LONGEST_STEP = 3.0
_MOST_LEVERAGE = 0.9
_SUREST = 12.0


@dataclass(frozen=True)
class RowImportance:
    """Density of all rows over that of labeled rows, at any row; 1 on average over labeled rows."""

    ranks: Annotated[RankScaling, "D"]
    features: Annotated[KernelFeatures, "D r"]
    coef: Annotated[np.ndarray, "r"]  # of the log-odds of a label
    constant: float
    labeled_share: Annotated[float, ">= 0", "<= 1"]
    unit: Annotated[float, "> 0"]  # what makes the mean 1
    most: Annotated[float, "> 0"]
    lowest: float  # log-odds of a labeled row

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows,) of rows without a label; infinite where a row is less like labeled ones than any."""
        log_odds = self._log_odds(X)
        return np.where(log_odds < self.lowest, np.inf, self.of(log_odds))

    def is_beyond(self, X: np.ndarray) -> np.ndarray:
        """(rows,) whether a row is less like labeled rows than every one of them."""
        return np.asarray(self._log_odds(X) < self.lowest)

    def of(self, log_odds: np.ndarray) -> np.ndarray:
        """(rows,)"""
        return np.minimum(self.ratio(log_odds) / self.unit, self.most)

    def ratio(self, log_odds: np.ndarray) -> np.ndarray:
        others = np.exp(-np.clip(log_odds, -30, 30))
        return np.asarray(self.labeled_share + (1 - self.labeled_share) * others)

    def _log_odds(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.features(self.ranks(X)) @ self.coef + self.constant)

    def on(self, scale: Scale | None) -> RowImportance:
        """The same for rows on another scale, which keeps the order of values in a column."""
        if scale is None:
            return self
        longest = max(map(len, self.ranks.knots))
        padded = [np.pad(knots, (0, longest - len(knots)), mode="edge") for knots in self.ranks.knots]
        scaled = scale(np.column_stack(padded)).T
        knots = tuple(
            column[: len(known)] for column, known in zip(scaled, self.ranks.knots, strict=True)
        )
        return replace(self, ranks=replace(self.ranks, knots=knots))


class ImportanceFit(NamedTuple):
    """What makes the weights of labeled rows, too: each without its own label."""

    at: RowImportance
    raw_coef: np.ndarray  # (1 + r,) of the log-odds before their correction, the constant first
    covariance: np.ndarray  # (1 + r, 1 + r) inverse of the curvature there
    row_weight: float  # of a labeled row in the regression
    correction: tuple[float, float]  # constant and slope

    def of_labeled(self, X: np.ndarray) -> np.ndarray:
        """(rows,) importance of labeled rows."""
        A = _with_constant(self.at.features(self.at.ranks(X)))
        target, weight = np.ones(len(A)), np.full(len(A), self.row_weight)
        log_odds = _left_out(A, self.raw_coef, self.covariance, target, weight)
        return self.at.of(self.correction[0] + self.correction[1] * log_odds)

    def on(self, scale: Scale | None) -> ImportanceFit:
        return self._replace(at=self.at.on(scale))


def row_importance(
    X: np.ndarray, is_labeled: np.ndarray, *, labeled_share: float = 0.0, most: float = _MOST
) -> ImportanceFit:
    """Cross-fitted, shrunken and cut weights, from some rows with labels and some without.

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
    ranks = rank_scaling(X)
    scores = ranks(X)
    features = kernel_features(scores)
    A, target = _with_constant(features(scores)), is_labeled.astype(float)
    n, u = int(is_labeled.sum()), int((~is_labeled).sum())
    # Both kinds count the same; together as many as a comparison of two means has labels.
    weight = np.where(is_labeled, 0.5 / n, 0.5 / u) * (4 * n * u / (n + u))
    coef, covariance, left_out = _likeliest(A, target, weight)
    correction = _calibrated(left_out, is_labeled)
    log_odds = correction[0] + correction[1] * left_out[is_labeled]
    at = RowImportance(
        ranks,
        features,
        correction[1] * coef[1:],
        correction[0] + correction[1] * float(coef[0]),
        labeled_share,
        1.0,
        most,
        float(log_odds.min()),
    )
    at = replace(at, unit=_unit(at.ratio(log_odds), most))
    return ImportanceFit(at, coef, covariance, float(weight[is_labeled][0]), correction)


def effective_labels(weight: np.ndarray) -> float:
    """Random labels that tell as much about a mean over the rows that labels cover."""
    return float(weight.sum() ** 2 / np.square(weight).sum())


def _with_constant(Z: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(Z)), Z])


def _likeliest(
    A: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients, inverse curvature and left-out log-odds, with the penalty that predicts best."""
    coef, best = np.zeros(A.shape[1]), np.inf
    for penalty in _PENALTIES:
        coef, covariance = _logistic(A, target, weight, penalty, coef)
        left_out = _left_out(A, coef, covariance, target, weight)
        loss = float(weight @ (np.logaddexp(0, left_out) - target * left_out))
        if loss < best:
            best, found = loss, (coef, covariance, left_out)
        elif loss > 1.05 * best:
            break
    return found


def _logistic(
    A: np.ndarray, target: np.ndarray, weight: np.ndarray, penalty: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(1 + r,) coefficients by Newton's method; all but the constant are penalised."""
    coef = start
    ridge = np.full(A.shape[1], penalty)
    ridge[0] = 1e-9
    for _ in range(_STEPS):
        p = expit(A @ coef)
        curvature = (A * (weight * _variance(p))[:, None]).T @ A + np.diag(ridge)
        step = np.linalg.solve(curvature, A.T @ (weight * (p - target)) + ridge * coef)
        coef = coef - step / max(1.0, float(np.abs(A @ step).max()) / _LONGEST_STEP)
        if np.abs(step).max() < 1e-6:
            break
    return coef, np.linalg.inv(curvature)


def _left_out(
    A: np.ndarray, coef: np.ndarray, covariance: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(rows,) log-odds of each row by the regression without it."""
    log_odds = A @ coef
    p = expit(log_odds)
    spread = np.einsum("pi,ij,pj->p", A, covariance, A, optimize=True)
    leverage = np.minimum(weight * _variance(p) * spread, _MOST_LEVERAGE)
    off = leverage / (1 - leverage) * (target - p) / _variance(p)
    return np.clip(log_odds - off, -_SUREST, _SUREST)


def _variance(p: np.ndarray) -> np.ndarray:
    return p * (1 - p) + 1e-12


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
    Z = _with_constant((score[:, None] - mean) / scale)
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
