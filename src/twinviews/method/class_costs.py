"""What errors on a class cost, and how well rare classes are found.

Probabilities say how likely each class is; what to predict depends on what errors cost, too. If an
error on a row of class k costs :math:`c_k`, the class with the largest :math:`c_k p_k` has the least
expected cost. With :math:`c_k` one over the share of class k that is the least balanced error: the mean
over classes of the share of their rows that is put elsewhere.

``share`` (m, K) is the share of each class in the labels of a row, ``weight`` (m,) sums to one.
"""

from __future__ import annotations

import numpy as np


def balanced_costs(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(K,) costs with which all classes count the same, of mean 1 over the rows."""
    of_class = weight @ share
    return np.divide(1.0, len(of_class) * of_class, out=np.ones_like(of_class), where=of_class > 0)


def least_expected_cost(log_p: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """(rows,) the class, from (rows, K) log-probabilities."""
    return np.asarray((log_p + np.log(costs)).argmax(axis=1))


def without_unseen(
    chosen: np.ndarray, log_p: np.ndarray, share: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(m,) the classes chosen for held-out rows, where no other row has it the likeliest other class.

    A fit without the only label of a class has not seen the class. Its cost alone, which that label
    has told, must not find it.
    """
    mass = weight[:, None] * share
    alone = (mass > 0) & np.isclose(mass, mass.sum(axis=0), rtol=1e-9, atol=0)
    unseen = alone[np.arange(len(chosen)), chosen]
    others = np.where(alone, -np.inf, log_p).argmax(axis=1)
    return np.asarray(np.where(unseen, others, chosen))


def recalls(share: np.ndarray, chosen: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(K,) share of each class's rows that are put in it; NaN for a class that there is not."""
    right = np.zeros_like(share)
    right[np.arange(len(share)), chosen] = 1.0
    of_class = weight @ share
    found = weight @ (share * right)
    return np.divide(found, of_class, out=np.full(len(of_class), np.nan), where=of_class > 0)


def balanced_error(share: np.ndarray, chosen: np.ndarray, weight: np.ndarray) -> float:
    """Mean over the classes that there are of the share of their rows that is put in another."""
    return float(1 - np.nanmean(recalls(share, chosen, weight)))


def mean_auc(share: np.ndarray, scores: np.ndarray, weight: np.ndarray) -> float:
    """Area under the ROC curve, one class against the rest, mean over the classes that there are.

    ``scores`` (m, K) grow with the probability of a class. The area is the probability that a row of
    the class has the higher score.
    """
    areas = []
    for of_class, others, levels in _against_rest(share, scores, weight):
        inside, outside = (np.bincount(levels, part) for part in (of_class, others))
        below = np.cumsum(outside) - outside / 2  # equal scores count half
        areas.append(float(inside @ below / (inside.sum() * outside.sum())))
    return float(np.mean(areas)) if areas else np.nan


def mean_average_precision(share: np.ndarray, scores: np.ndarray, weight: np.ndarray) -> float:
    """Mean over classes of the mean precision at the rows of the class, those of high score first.

    For two classes, that of the rarer one alone.
    """
    of_class = weight @ share
    if len(of_class) == 2:
        rare = [int(of_class.argmin())]
        share, scores = share[:, rare], scores[:, rare]
    found = []
    for of_class, others, levels in _against_rest(share, scores, weight):
        inside, outside = (np.bincount(levels, part)[::-1] for part in (of_class, others))
        precision = np.cumsum(inside) / np.cumsum(inside + outside)
        found.append(float(inside @ precision / inside.sum()))
    return float(np.mean(found)) if found else np.nan


def _against_rest(
    share: np.ndarray, scores: np.ndarray, weight: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each class that some rows have and some have not: weights of both, and ranks of scores."""
    found = []
    for of_class, score in zip((weight[:, None] * share).T, scores.T, strict=True):
        others = weight - of_class
        if of_class.sum() > 0 and others.sum() > 0 and np.isfinite(score).all():
            found.append((of_class, others, np.unique(score, return_inverse=True)[1].ravel()))
    return found
