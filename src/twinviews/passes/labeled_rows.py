"""The labeled rows of a table, collected on the way through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np

from twinviews.method.labeled_problem import LabeledProblem, distinct_problem
from twinviews.method.landmarks import row_priorities, stack_rows
from twinviews.passes.clusters import check_clusters
from twinviews.passes.strata import StratumRows, check_label_probability, rows_stood_for
from twinviews.passes.targets import missing_labels

Rows = Any  # (rows, D) ndarray or CSR matrix


@dataclass(frozen=True)
class LabeledRows:
    """Rows with at least one label, kept as they are, since labels are few."""

    # The rows' priorities, before any scaling: equal for equal rows.
    keys: Annotated[tuple[Annotated[np.ndarray, "_", "uint64"], ...], ">= 1"]
    X_parts: tuple[Annotated[Rows, "_ D"], ...]
    Y_parts: tuple[Annotated[np.ndarray, "_ t", "labels", "missing"], ...]  # as the user gave them
    weight_parts: tuple[Annotated[np.ndarray, "_", "> 0"], ...]
    # With what probability each was given a label, and its stratum; empty where that is not known.
    probability_parts: tuple[Annotated[np.ndarray, "_", "> 0", "<= 1"], ...] = ()
    stratum_parts: tuple[Annotated[np.ndarray, "_", "uint64"], ...] = ()
    # The cluster of each; empty where rows are independent.
    cluster_parts: tuple[Annotated[np.ndarray, "_", "uint64"], ...] = ()

    @classmethod
    def of(
        cls,
        X: Rows,
        Y: np.ndarray | None,
        weight: np.ndarray | None = None,
        missing_label: Any = None,
        probability: np.ndarray | None = None,
        stratum: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
    ) -> Self:
        """Those rows of a block of which some label is known."""
        if Y is None or (missing := missing_labels(Y, missing_label).all(axis=1)).all():
            return cls((), (), (), ())
        labeled = np.flatnonzero(~missing)
        weight = np.ones(len(labeled)) if weight is None else weight[labeled]
        if probability is not None:
            check_label_probability(probability[labeled])
        if cluster is not None:
            check_clusters(cluster[labeled])
        X = X[labeled]
        return cls(
            (row_priorities(X, seed=0),),
            (X,),
            (Y[labeled],),
            (weight,),
            () if probability is None else (probability[labeled],),
            () if stratum is None else (stratum[labeled],),
            () if cluster is None else (cluster[labeled],),
        )

    def scaled(self, scaling: Callable[[Rows], Rows] | None) -> Self:
        """The same rows on another scale, in the order that they had."""
        if scaling is None:
            return self
        return replace(self, X_parts=tuple(scaling(X) for X in self.X_parts))

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.keys + other.keys,
            self.X_parts + other.X_parts,
            self.Y_parts + other.Y_parts,
            self.weight_parts + other.weight_parts,
            self.probability_parts + other.probability_parts,
            self.stratum_parts + other.stratum_parts,
            self.cluster_parts + other.cluster_parts,
        )

    def by_strata(self, rows: StratumRows) -> Self:
        """The same with label probabilities from the numbers of rows and labels of each stratum."""
        found = rows.label_probability(np.concatenate(self.stratum_parts))
        return replace(self, probability_parts=(found,), stratum_parts=())

    @property
    def importance(self) -> np.ndarray | None:
        """(count,) for how many rows without a label each label stands; None if that is not known."""
        if not self.probability_parts:
            return None
        probability = np.concatenate(self.probability_parts)
        if len(probability) != self.count:
            raise ValueError(
                f"label_probability is known of {len(probability):,} labels out of {self.count:,}. "
                f"Give it for all of them, or for none."
            )
        return rows_stood_for(probability)

    @property
    def count(self) -> int:
        return sum(len(Y) for Y in self.Y_parts)

    @property
    def labels(self) -> np.ndarray:
        """(count, targets) as the user gave them."""
        return np.concatenate(self.Y_parts)

    def problems(self, Y: np.ndarray) -> list[LabeledProblem]:
        """One least-squares problem for each set of targets that are labeled on the same rows.

        Y (count, targets) holds the labels as numbers to regress on, NaN where one is missing.
        """
        X, weight = stack_rows(list(self.X_parts)), np.concatenate(self.weight_parts)
        importance = self.importance
        cluster = np.concatenate(self.cluster_parts) if self.cluster_parts else None
        _, first, group = np.unique(np.concatenate(self.keys), return_index=True, return_inverse=True)
        distinct = X[first]
        known = ~np.isnan(Y)
        if known.all():
            targets = np.arange(Y.shape[1])
            return [distinct_problem(distinct, group, Y, weight, targets, importance, cluster)]
        patterns, pattern_of = np.unique(known, axis=1, return_inverse=True)
        found = []
        for number, pattern in enumerate(patterns.T):
            targets = np.flatnonzero(pattern_of.ravel() == number)
            rows = np.flatnonzero(pattern)
            labels = Y[np.ix_(rows, targets)]
            of_rows = None if importance is None else importance[rows]
            theirs = None if cluster is None else cluster[rows]
            found.append(
                distinct_problem(distinct, group[rows], labels, weight[rows], targets, of_rows, theirs)
            )
        return found
