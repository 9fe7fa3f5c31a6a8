"""The labeled rows as least-squares problems: copies merged, one problem per set of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from twinviews.method.kernel_values import Rows
from twinviews.method.regression import LabeledBlock

_BLOCK_ROWS = 4096
# Power of importance weights for choices: less variance for some bias (Shimodaira 2000).
_FLATTENED = 0.5


class LabeledProblem(NamedTuple):
    """Distinct labeled rows for some of the targets, in an order that depends on the rows alone.

    Equal rows are one row with their mean label and their joint weight. That leaves the least-squares
    solution as it is, and it keeps leave-one-out honest: a row is left out together with its copies.
    So a row of weight 2 and the same row given twice are the same problem.
    """

    distinct: Annotated[Rows, "s D"]  # labeled rows of all problems
    place: Annotated[np.ndarray, "m", "int64", "< s"]  # which of them are this problem's
    Y: Annotated[np.ndarray, "m t"]  # mean label
    weight: Annotated[np.ndarray, "m", ">= 0"]  # sums to one
    # Weighted variance of the labels around the means of their copies.
    spread: Annotated[np.ndarray, "t", ">= 0"]
    targets: Annotated[np.ndarray, "t", "int64"]  # which targets these are
    # For how many rows of the table a label stands, where labels are no random sample; None: all the
    # same. It counts where fits are judged and compared, not in the fits themselves.
    importance: Annotated[np.ndarray, "m", "> 0"] | None = None
    # Codes of clusters of rows that depend on each other; None: rows are independent.
    cluster: Annotated[np.ndarray, "m", "int64", ">= 0"] | None = None

    @property
    def X(self) -> Rows:  # noqa: N802
        """(m, D)"""
        return self.distinct[self.place]

    @property
    def judging(self) -> np.ndarray:
        """(m,) weights that sum to one and make the labeled rows stand for all rows."""
        return self._tilted(1.0)

    @property
    def choosing(self) -> np.ndarray:
        """(m,) weights to choose between fits by: halfway to all rows, or few labels would decide."""
        return self._tilted(_FLATTENED)

    def _tilted(self, power: float) -> np.ndarray:
        if self.importance is None:
            return self.weight
        weight = self.weight * self.importance**power
        return np.asarray(weight / weight.sum())

    @property
    def variance(self) -> np.ndarray:
        """(t,) weighted variance of the labels."""
        return self.judging @ np.square(self.Y - self.judging @ self.Y) + self.spread

    def blocks(self, features_at: Callable[[np.ndarray], np.ndarray]) -> Iterator[LabeledBlock]:
        """Some rows at a time, with the features at their places: labels can be many too."""
        for start in range(0, len(self.Y), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield LabeledBlock(features_at(self.place[rows]), self.Y[rows], self.weight[rows])

    @property
    def n_independent(self) -> int:
        """Rows or, where rows depend on each other, clusters of them."""
        return len(self.Y) if self.cluster is None else len(np.unique(self.cluster))

    def first(self, most: int) -> LabeledProblem:
        """The problem on at most that many of its rows, chosen uniformly."""
        weight = self.weight[:most]
        return self._replace(
            place=self.place[:most],
            Y=self.Y[:most],
            weight=weight / weight.sum(),
            importance=None if self.importance is None else self.importance[:most],
            cluster=None if self.cluster is None else self.cluster[:most],
        )


def distinct_problem(
    distinct: Rows,
    group: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    targets: np.ndarray,
    importance: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> LabeledProblem:
    """From labels of rows that are copies of the distinct row ``group``."""
    place, copy_of = np.unique(group, return_inverse=True)
    share = weight / weight.sum()
    mass = np.bincount(copy_of, share)
    mean = np.column_stack([np.bincount(copy_of, share * y) for y in Y.T]) / mass[:, None]
    spread = share @ np.square(Y - mean[copy_of])
    if importance is not None:
        importance = np.bincount(copy_of, share * importance) / mass
        importance = importance / importance.mean()
    if cluster is not None:
        cluster = clusters_of_copies(copy_of, cluster)
    return LabeledProblem(distinct, place, mean, mass, spread, targets, importance, cluster)


def clusters_of_copies(copy_of: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """(m,) codes of the clusters of distinct rows; ``copy_of`` (n,) says which of them each label is.

    Clusters that share a row are one: neither can be left out without the other.
    """
    codes = np.unique(cluster, return_inverse=True)[1]
    m, n_clusters = int(copy_of.max()) + 1, int(codes.max()) + 1
    links = coo_array((np.ones(len(codes)), (codes, n_clusters + copy_of)), shape=(n_clusters + m,) * 2)
    part = connected_components(links, directed=False)[1][n_clusters:]
    return np.unique(part, return_inverse=True)[1].astype(np.int64)


def labeled_blocks(
    problems: Sequence[LabeledProblem], features: Callable[[Rows], np.ndarray]
) -> list[Callable[[], Iterable[LabeledBlock]]]:
    """For each problem its rows as features, computed once for all where the rows are few."""
    distinct = problems[0].distinct
    Z = features(distinct) if distinct.shape[0] <= _BLOCK_ROWS else None

    def features_at(place: np.ndarray) -> np.ndarray:
        return features(distinct[place]) if Z is None else Z[place]

    return [partial(problem.blocks, features_at) for problem in problems]


def all_labeled(problems: Sequence[LabeledProblem]) -> Rows:
    """The distinct rows of all problems: those of one target may be among those of another."""
    return problems[0].distinct[np.unique(np.concatenate([problem.place for problem in problems]))]
