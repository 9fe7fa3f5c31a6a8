"""Boosted trees, for classes that depend on thresholds of columns: scikit-learn's, fixed settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from twinviews.ensemble.member import Labeled, Predictor, as_decision_values, class_codes

# A tree is grown for each class in each round.
MOST_CLASSES_FOR_BOOSTING = 7
# Most leaves of a tree: as many as a byte has bits.
_LEAVES = 8
# The lowest bit that is zero, for each byte; 255, which would leave no leaf, does not occur.
_FIRST_LEAF = np.array([(~byte & (byte + 1)).bit_length() - 1 for byte in range(255)] + [0])


@dataclass(frozen=True)
class Boosting:
    seed: int
    names = ("boosting",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        Y = labeled.Y
        code = class_codes(Y)
        model = HistGradientBoostingClassifier(
            max_iter=60,
            learning_rate=0.1,
            max_leaf_nodes=_LEAVES,
            min_samples_leaf=4,
            early_stopping=False,
            random_state=self.seed,
        )
        weight = labeled.weight * len(Y)
        # Weights make boosting look for its bins at twenty times the cost, so equal ones are left out.
        options = {} if np.ptp(weight) < 1e-9 else {"sample_weight": weight}
        # Threads on so few rows would only wait for each other.
        with threadpool_limits(1, "openmp"):
            model.fit(labeled.X, code, **options)
        return [BoostedClasses(Trees.of(model), model.classes_, max(Y.shape[1], 2))]


@dataclass(frozen=True)
class Trees:
    """Boosted trees as plain arrays, each tree's leaves numbered from left to right.

    Every inner node rules out the leaves on the side that a row does not go to; the first leaf that
    none has ruled out is the row's (Lucchese et al. 2015, "QuickScorer"). So all nodes of a round are
    evaluated at once, without walking down the trees.
    """

    n_columns: Annotated[int, "D", ">= 1"]
    baseline: Annotated[np.ndarray, "k"]  # one for two classes, else one for each class
    feature: Annotated[np.ndarray, "rounds k 7", "int64", "< D"]  # column that a node tests
    threshold: Annotated[np.ndarray, "rounds k 7"]  # rows above it go right
    # Bits of the leaves that going right rules out.
    left_out: Annotated[np.ndarray, "rounds k 7", "uint8"]
    value: Annotated[np.ndarray, "rounds k 8"]  # what each leaf adds

    @classmethod
    def of(cls, model: HistGradientBoostingClassifier) -> Trees:
        """The trees of a fitted scikit-learn model, whose rows had no missing values."""
        rounds = model._predictors
        shape = (len(rounds), len(rounds[0]))
        feature = np.zeros((*shape, _LEAVES - 1), np.int64)
        threshold = np.zeros((*shape, _LEAVES - 1))
        left_out = np.zeros((*shape, _LEAVES - 1), np.uint8)  # a place without a node rules nothing out
        value = np.zeros((*shape, _LEAVES))
        for place in np.ndindex(*shape):
            nodes = rounds[place[0]][place[1]].nodes
            inner = np.flatnonzero(nodes["is_leaf"] == 0)
            leaves_of = _leaves_below(nodes)
            feature[place][: len(inner)] = nodes["feature_idx"][inner]
            threshold[place][: len(inner)] = nodes["num_threshold"][inner]
            left = nodes["left"][inner].tolist()
            left_out[place][: len(inner)] = [sum(1 << leaf for leaf in leaves_of[at]) for at in left]
            for at in np.flatnonzero(nodes["is_leaf"]).tolist():
                value[place][leaves_of[at][0]] = nodes["value"][at]
        baseline = model._baseline_prediction.ravel()
        return cls(model.n_features_in_, baseline, feature, threshold, left_out, value)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(rows, k) decision function, summed in the same order as in scikit-learn."""
        columns = np.ascontiguousarray(X.T)
        k = len(self.baseline)
        total = np.repeat(self.baseline[:, None], len(X), axis=1)
        tree = np.arange(k)[:, None]
        nodes = zip(self.feature, self.threshold, self.left_out, self.value, strict=True)
        for feature, threshold, left_out, value in nodes:
            above = columns[feature] > threshold[:, :, None]
            ruled_out = np.bitwise_or.reduce(above * left_out[:, :, None], axis=1)
            total += value[tree, _FIRST_LEAF[ruled_out]]
        return total.T


def _leaves_below(nodes: np.ndarray) -> dict[int, list[int]]:
    """For each node the leaves below it, numbered from left to right."""
    leaves: dict[int, list[int]] = {}
    count = 0

    def visit(at: int) -> list[int]:
        nonlocal count
        if nodes["is_leaf"][at]:
            leaves[at] = [count]
            count += 1
        else:
            leaves[at] = visit(int(nodes["left"][at])) + visit(int(nodes["right"][at]))
        return leaves[at]

    visit(0)
    return leaves


@dataclass(frozen=True)
class BoostedClasses:
    """Decision values of boosted trees."""

    trees: Annotated[Trees, "D k"]
    # The classes that the labels had; a fold may lack some.
    known: Annotated[np.ndarray, "known", "int64"]
    n_classes: Annotated[int, ">= 2", "<= 1000"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        decision = self.trees(X)
        p = np.zeros((len(X), self.n_classes))
        if len(self.known) == 1:  # one label of the other class, and it is in the fold left out
            p[:, self.known] = 1.0
        elif decision.shape[1] == 1:
            p[:, self.known] = np.column_stack([expit(-decision), expit(decision)])
        else:
            p[:, self.known] = softmax(decision, axis=1)
        return as_decision_values(p)
