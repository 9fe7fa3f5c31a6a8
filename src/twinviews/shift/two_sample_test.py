"""Are two samples of rows drawn alike? A permutation test with a cross-fitted classifier.

A ridge regression on kernel features predicts from a row which sample it is of, each row by the fit
without that row. If the samples are alike, no such prediction can work, and any assignment of the rows
to the samples is as likely as the true one: the p-value is the rank of the true assignment among
random ones (Lopez-Paz and Oquab 2017; with this statistic close to Harchaoui, Bach and Moulines 2008).
The features and the hat matrix do not depend on the assignment, so all of them are one matrix product.

Columns are replaced by their ranks among all rows of both samples: no monotone change of a column
matters. Rows must come in an order that has nothing to do with the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from scipy.stats import rankdata

# Random assignments of rows to the two samples; p-values are multiples of 1 over one more than this.
PERMUTATIONS = 999
# With a p-value above this, from some of them, the others would not change the verdict.
_NO_DOUBT = 0.05
# Of the classifier: rows that features compare with, and effective numbers of coefficients.
_LANDMARKS = 150
EFFECTIVE_DIMENSIONS = (3.0, 20.0)
# Scores are cut here, or a rare level would be farther from all rows than any number can be.
_MOST_DEVIATIONS = 3.0
_PERMUTATION_SEED = 0
# Assignments that differ in copies only tie, up to rounding.
_TIE = 1e-9


class HeldOutRidge(NamedTuple):
    """Ridge regression on features that do not depend on which row is of which sample."""

    Z: np.ndarray  # (P, r) centred features, orthogonal
    shrunk: np.ndarray  # (r,) 1 / (P (variance + penalty))
    leverage: np.ndarray  # (P,) diagonal of the hat matrix, the intercept included

    def left_out(self, T: np.ndarray) -> np.ndarray:
        """(P, k) of targets of mean zero, predictions of each row by the fit without it."""
        T = T.reshape(len(self.Z), -1)
        h = self.leverage[:, None]
        return (self.Z @ (self.shrunk[:, None] * (self.Z.T @ T)) - h * T) / (1 - h)


class ComparedSamples(NamedTuple):
    """The p-value of the whole, and of each column, corrected for the number of columns."""

    p_value: float
    column_p_values: np.ndarray  # (D,)
    column_statistics: np.ndarray  # (D,) the largest of three mean differences, in standard errors


def compare_samples(
    X: np.ndarray, is_first: np.ndarray, *, permutations: int = PERMUTATIONS, inflation: float = 1.0
) -> ComparedSamples:
    """Test whether the rows ``is_first`` and the others are drawn alike.

    ``inflation`` is the variance of a difference between the samples over what it is for independent
    rows: above 1 where rows of a sample come in clusters, as copies do. Where a fifth of the
    permutations leave no doubt that the samples are alike, the others are not made.
    """
    scores = rank_scores(X)
    classifiers = classifiers_of(scores)
    for number in (permutations // 5, permutations):
        T = centred_assignments(is_first, number)
        found = _compared(scores, classifiers, T, inflation)
        if found.p_value > _NO_DOUBT:
            break
    return found


def _compared(
    scores: np.ndarray, classifiers: list[HeldOutRidge], T: np.ndarray, inflation: float
) -> ComparedSamples:
    columns = _column_statistics(scores, T)
    columns[:, 0] /= np.sqrt(inflation)
    differences = [held_out_difference(one, T, inflation) for one in classifiers]
    p_values = np.array([_p_values(one) for one in (columns.max(axis=0), *differences)])
    # The smallest of several p-values, by its own rank among the same permutations.
    p_value = _p_values(-p_values.min(axis=0))[0]
    largest = columns[:, 1:].max(axis=0)
    beaten = (largest >= columns[:, :1] * (1 - _TIE)).sum(axis=1)
    return ComparedSamples(float(p_value), (1 + beaten) / T.shape[1], columns[:, 0])


def centred_assignments(is_first: np.ndarray, permutations: int) -> np.ndarray:
    """(P, 1 + permutations) 1 for rows of the first sample, else 0, less the mean; the true one first.

    A function of the sizes only, so that it is the same wherever the rows come from.
    """
    P, n = len(is_first), int(is_first.sum())
    rng = np.random.default_rng([_PERMUTATION_SEED, P, n])
    T = np.empty((P, permutations + 1))
    T[:, 0] = is_first
    shuffled = np.arange(P) < n
    for column in range(1, permutations + 1):
        T[:, column] = rng.permutation(shuffled)
    return T - n / P


def rank_scores(X: np.ndarray) -> np.ndarray:
    """(P, D) ranks in each column, with mean 0 and variance 1; 0 in a column of equal values."""
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    deviation = ranks.std(axis=0)
    return np.divide(ranks, deviation, out=np.zeros_like(ranks), where=deviation > 0)


def classifiers_of(scores: np.ndarray) -> list[HeldOutRidge]:
    """One for each of some penalties, on Nystroem features of a linear plus a Gaussian kernel."""
    features = kernel_features(scores)
    Z = features(scores)
    return [_classifier(Z, features.variances, dimension) for dimension in EFFECTIVE_DIMENSIONS]


def _classifier(Z: np.ndarray, variances: np.ndarray, dimension: float) -> HeldOutRidge:
    shrunk = shrinkage(variances, len(Z), dimension)
    return HeldOutRidge(Z, shrunk, np.square(Z) @ shrunk + 1 / len(Z))


def shrinkage(variances: np.ndarray, P: int, dimension: float) -> np.ndarray:
    """(r,) of coefficients by ridge regression on uncorrelated features of P rows."""
    return np.asarray(1 / (P * (variances + _penalty(variances, dimension))))


def held_out_difference(classifier: HeldOutRidge, T: np.ndarray, inflation: float = 1.0) -> np.ndarray:
    """(k,) for each assignment, mean held-out prediction in the first sample less that in the other.

    Up to a factor that all assignments share. With t the centred assignment and h the leverages it is
    the sum over rows of t (Ht - ht) / (1 - h), without the P x P hat matrix H. The first assignment is
    the true one, the only one whose clusters may make it larger by chance.
    """
    h = classifier.leverage
    inner = classifier.Z.T @ T
    outer = (classifier.Z / (1 - h)[:, None]).T @ T
    products = (outer * classifier.shrunk[:, None] * inner).sum(axis=0)
    products[0] /= inflation
    # The hat matrix of the intercept gives 0 for an assignment of mean 0, but counts in h.
    return products - (h / (1 - h)) @ np.square(T)


@dataclass(frozen=True)
class KernelFeatures:
    """Nystroem features of <x, z> / D + exp(-|x - z|^2 / width), centred and uncorrelated.

    Of rows by scores in each column; scores beyond three deviations count as three.
    """

    landmarks: Annotated[np.ndarray, "l D"]
    width: Annotated[float, "> 0"]
    W: Annotated[np.ndarray, "l r"]
    offset: Annotated[np.ndarray, "r"]
    variances: Annotated[np.ndarray, "r", "> 0"]

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """(rows, r)"""
        return _kernel_values(_cut(scores), self.landmarks, self.width) @ self.W - self.offset


def kernel_features(scores: np.ndarray) -> KernelFeatures:
    """From all compared rows, the first of which are landmarks."""
    scores = _cut(scores)
    landmarks = scores[:_LANDMARKS]
    among = _squared_distances(landmarks, landmarks)[np.triu_indices(len(landmarks), 1)]
    median = float(np.median(among)) if len(among) else 0.0
    width = 2 * median if median > 0 else 1.0
    K = _kernel_values(scores, landmarks, width)
    eigenvalues, U = np.linalg.eigh(K[: len(landmarks)])
    kept = eigenvalues > 1e-9 * eigenvalues[-1]
    root = U[:, kept] / np.sqrt(eigenvalues[kept])
    features = K @ root
    centred = features - features.mean(axis=0)
    variances, V = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = variances > 1e-9 * max(variances[-1], np.finfo(float).tiny)
    V = V[:, kept]
    return KernelFeatures(landmarks, width, root @ V, features.mean(axis=0) @ V, variances[kept])


def _cut(scores: np.ndarray) -> np.ndarray:
    return np.clip(scores, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)


def _kernel_values(scores: np.ndarray, landmarks: np.ndarray, width: float) -> np.ndarray:
    K = np.exp(_squared_distances(scores, landmarks) / -width)
    return K + scores @ landmarks.T / scores.shape[1]


def _squared_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    squares = np.square(X).sum(axis=1)[:, None] + np.square(Y).sum(axis=1) - 2 * X @ Y.T
    return np.maximum(squares, 0.0)


def _penalty(variances: np.ndarray, dimension: float) -> float:
    """The ridge with which the sum of v / (v + ridge) over the variances v is ``dimension``."""
    if len(variances) <= dimension + 1:
        return float(1e-3 * variances.sum()) if len(variances) else 1.0
    low, high = np.log(variances[-1] * 1e-9), np.log(variances.sum() / dimension)
    for _ in range(50):
        middle = (low + high) / 2
        if (variances / (variances + np.exp(middle))).sum() > dimension:
            low = middle
        else:
            high = middle
    return float(np.exp(high))


def _column_statistics(scores: np.ndarray, T: np.ndarray) -> np.ndarray:
    """(D, k) how far the samples differ in each column, in standard errors under permutation.

    The largest of three: the difference of mean ranks, of mean distances from the middle rank, and of
    means of the third Legendre polynomial of ranks, for levels without an order in the middle.
    """
    P = len(T)
    spread = np.square(T[:, 0]).sum() / (P - 1)  # the variance of a sum is this times that of scores
    found = np.zeros((scores.shape[1], T.shape[1]))
    for values in (scores, np.abs(scores), scores * (5 * np.square(scores) - 9)):
        values = values - values.mean(axis=0)
        errors = np.sqrt(spread * np.square(values).sum(axis=0))
        standardised = np.divide(values, errors, out=np.zeros_like(values), where=errors > 1e-9)
        found = np.maximum(found, np.abs(standardised.T @ T))
    return found


def _p_values(statistics: np.ndarray) -> np.ndarray:
    """(k,) for each statistic the share of all that are at least as large, itself included."""
    ascending = np.sort(statistics)
    slack = _TIE * max(abs(ascending[0]), abs(ascending[-1]))
    return (len(statistics) - np.searchsorted(ascending, statistics - slack)) / len(statistics)
