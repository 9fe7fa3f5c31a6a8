"""How many rows of the table a labeled row stands for: importance weights, p(all rows) / p(labeled).

The classifier of the two-sample test gives each row a score, from the fit without that row. A
logistic regression on that one number turns scores into odds (Platt 1999). It also shrinks: scores
that tell nothing about rows they were not fitted to get slope 0, and all weights are 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from twinviews.shift.two_sample_test import centred_assignments, classifiers_of, rank_scores

# No row stands for more than so many times as many rows as the mean labeled row.
_MOST = 20.0
_STEPS = 50


class ImportanceWeights(NamedTuple):
    """Density of all rows over that of labeled rows, of which the mean over labeled rows is 1."""

    labeled: np.ndarray  # (n,)
    others: np.ndarray  # (u,)
    # Whether a row without a label has a lower score than every labeled row.
    is_beyond: np.ndarray  # (u,)

    @property
    def n_effective(self) -> float:
        """Random labels that tell as much about a mean over the rows that labels cover."""
        return float(self.labeled.sum() ** 2 / np.square(self.labeled).sum())


def importance_weights(
    X: np.ndarray, is_labeled: np.ndarray, *, labeled_share: float = 0.0, most: float = _MOST
) -> ImportanceWeights:
    """Cross-fitted, shrunken and clipped weights of some rows with labels and some without.

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
    T = centred_assignments(is_labeled, 0)
    score = classifiers_of(rank_scores(X))[-1].left_out(T)[:, 0]
    log_odds = _calibrated(score, is_labeled)
    ratio = labeled_share + (1 - labeled_share) * np.exp(-np.clip(log_odds, -30, 30))
    ratio = _limited(ratio, is_labeled, most)
    beyond = score[~is_labeled] < score[is_labeled].min()
    return ImportanceWeights(ratio[is_labeled], ratio[~is_labeled], beyond)


def _limited(ratio: np.ndarray, is_labeled: np.ndarray, most: float) -> np.ndarray:
    """Ratios with mean 1 over the labeled rows, of which none is above ``most``."""
    for _ in range(_STEPS):
        ratio = np.minimum(ratio / ratio[is_labeled].mean(), most)  # which lowers the mean again
    return np.asarray(np.minimum(ratio / ratio[is_labeled].mean(), most))


def _calibrated(score: np.ndarray, is_first: np.ndarray) -> np.ndarray:
    """(P,) logarithm of the odds of the first sample, both samples counting the same in all.

    Targets are drawn in from 0 and 1 as Platt proposes, or samples that do not overlap at all would
    have infinite odds.
    """
    n, u = int(is_first.sum()), int((~is_first).sum())
    target = np.where(is_first, (n + 1) / (n + 2), 1 / (u + 2))
    weight = np.where(is_first, 0.5 / n, 0.5 / u)
    scale = score.std()
    if scale == 0:
        return np.zeros(len(score))
    Z = np.column_stack([np.ones(len(score)), (score - score.mean()) / scale])
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
    return Z @ beta if beta[1] > 0 else np.zeros(len(score))
