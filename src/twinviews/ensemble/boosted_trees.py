"""Boosted trees, for targets that depend on thresholds of columns: scikit-learn's, fixed settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from twinviews.ensemble.column_association import associated_columns
from twinviews.ensemble.member import Labeled, Predictor, as_decision_values, class_codes

# A tree is grown for each class in each round: more classes take more labels.
MOST_CLASSES_FOR_BOOSTING, MOST_CLASSES_OF_MANY = 7, 50
# With more columns, those that have most to do with the labels are looked at.
_MOST_COLUMNS = 512
# Small trees for few labels. With many, rounds go on while they help a tenth that is held out.
_OF_FEW = {"max_iter": 60, "max_leaf_nodes": 8, "min_samples_leaf": 4, "early_stopping": False}
_OF_MANY = {"max_iter": 1000, "max_leaf_nodes": 16, "early_stopping": True, "n_iter_no_change": 20}
_MANY = 1000
# With many classes there are fewer rounds.
_MOST_TREES = 7000


@dataclass(frozen=True)
class Boosting:
    seed: int
    classes: bool
    names = ("boosting",)

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        many = len(labeled.Y) > _MANY
        if many and self.classes:
            labeled = _without_single_labels(labeled)
        X, Y = labeled.X, labeled.Y
        columns = associated_columns(X, Y, _MOST_COLUMNS)
        settings = dict(_OF_MANY if many else _OF_FEW)
        settings["max_iter"] = min(settings["max_iter"], _MOST_TREES // Y.shape[1])
        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        model = kind(learning_rate=0.1, random_state=self.seed, **settings)
        weight = labeled.weight * len(Y)
        # Weights make boosting look for its bins at twenty times the cost, so equal ones are left out.
        options = {} if np.ptp(weight) < 1e-9 else {"sample_weight": weight}
        # Threads would wait for each other after each leaf: on few rows, and on a busy machine always.
        with threadpool_limits(1, "openmp"):
            model.fit(X[:, columns], class_codes(Y) if self.classes else Y[:, 0], **options)
        trees = Trees.of(model, X.shape[1], columns)
        return [BoostedClasses(trees, model.classes_, max(Y.shape[1], 2)) if self.classes else trees]


def _without_single_labels(labeled: Labeled) -> Labeled:
    """Without classes of one label: rounds are judged on rows of all classes, which needs two."""
    codes = class_codes(labeled.Y)
    several = np.bincount(codes)[codes] > 1
    return labeled if several.all() else labeled.take(np.flatnonzero(several))


@dataclass(frozen=True)
class Trees:
    """Boosted trees as plain arrays, each tree's leaves numbered from left to right.

    Every inner node rules out the leaves on the side that a row does not go to; the first leaf that
    none has ruled out is the row's (Lucchese et al. 2015, "QuickScorer"). So all nodes of a round are
    evaluated at once, without walking down the trees.
    """

    n_columns: Annotated[int, "D", ">= 1"]
    baseline: Annotated[np.ndarray, "k"]  # one for numbers and two classes, else one for each class
    feature: Annotated[np.ndarray, "rounds k i", "int64", "< D"]  # column that a node tests
    threshold: Annotated[np.ndarray, "rounds k i"]  # rows above it go right
    # Bits of the leaves that going right rules out.
    left_out: Annotated[np.ndarray, "rounds k i", "uint64"]
    value: Annotated[np.ndarray, "rounds k l"]  # what each leaf adds

    @classmethod
    def of(cls, model: Any, n_columns: int, columns: np.ndarray) -> Trees:
        """The trees of a fitted scikit-learn model, whose rows had these columns and no blanks."""
        rounds = model._predictors
        nodes_of = [[tree.nodes for tree in trees] for trees in rounds]
        leaves = max(2, *(int(nodes["is_leaf"].sum()) for trees in nodes_of for nodes in trees))
        shape = (len(rounds), len(rounds[0]))
        feature = np.zeros((*shape, leaves - 1), np.int64)
        threshold = np.zeros((*shape, leaves - 1))
        left_out = np.zeros((*shape, leaves - 1), np.uint64)  # a place without a node rules nothing out
        value = np.zeros((*shape, leaves))
        for place in np.ndindex(*shape):
            nodes = nodes_of[place[0]][place[1]]
            inner = np.flatnonzero(nodes["is_leaf"] == 0)
            leaves_of = _leaves_below(nodes)
            feature[place][: len(inner)] = columns[nodes["feature_idx"][inner]]
            threshold[place][: len(inner)] = nodes["num_threshold"][inner]
            left = nodes["left"][inner].tolist()
            left_out[place][: len(inner)] = [sum(1 << leaf for leaf in leaves_of[at]) for at in left]
            for at in np.flatnonzero(nodes["is_leaf"]).tolist():
                value[place][leaves_of[at][0]] = nodes["value"][at]
        baseline = np.ravel(model._baseline_prediction)
        return cls(n_columns, baseline, feature, threshold, left_out, value)

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
            total += value[tree, first_leaf(ruled_out)]
        return total.T


def first_leaf(ruled_out: np.ndarray) -> np.ndarray:
    """The lowest bit that is zero; 64 if there is none."""
    lowest = ~ruled_out & (ruled_out + np.uint64(1))
    with np.errstate(divide="ignore"):
        place = np.log2(lowest.astype(np.float64))  # exact for powers of two
    return np.where(lowest == 0, 64, place).astype(np.int64)


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
