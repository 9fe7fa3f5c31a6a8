"""The labeled rows of a table, collected on the way through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np

from twinviews.method.labeled_problem import LabeledProblem, distinct_problem
from twinviews.method.landmarks import row_priorities, stack_rows
from twinviews.passes.clusters import check_clusters
from twinviews.passes.label_sample import (
    content_of,
    draw_from,
    label_priorities,
    most_labels,
    room_for,
    unforeseen_order,
)
from twinviews.passes.strata import StratumRows, check_label_probability, rows_stood_for
from twinviews.passes.targets import missing_labels

Rows = Any  # (rows, D) ndarray or CSR matrix


@dataclass(frozen=True)
class LabeledRows:
    """Rows with at least one label, kept as they are; of more than ``limit``, a sample of them."""

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
    # How many labels each stands for, since equal rows with equal labels are one in a sample.
    copies_parts: tuple[Annotated[np.ndarray, "_", "int64", ">= 1"], ...] = ()
    # How many rows are kept at the most, 0: all; and what their sample is drawn by.
    limit: Annotated[int, ">= 0"] = 0
    draw: Annotated[int, ">= 0"] = 0
    # The priority up to which all rows are here, where some were dropped.
    bounds: tuple[Annotated[np.ndarray, "1", "uint64"], ...] = ()
    # Of all rows, those dropped too: their number, 0 in older files, and a sum that draws follow from.
    n_seen: Annotated[int, ">= 0"] = 0
    content: tuple[Annotated[np.ndarray, "1", "uint64"], ...] = ()

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
        *,
        max_labels: int | None = None,
        draw: int = 0,
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
        keys = row_priorities(X, seed=0)
        return cls(
            (keys,),
            (X,),
            (Y[labeled],),
            (weight,),
            () if probability is None else (probability[labeled],),
            () if stratum is None else (stratum[labeled],),
            () if cluster is None else (cluster[labeled],),
            (np.ones(len(keys), np.int64),),
            limit=most_labels(X, max_labels),
            draw=draw,
            n_seen=len(keys),
            content=(content_of(keys, weight),),
        )

    def scaled(self, scaling: Callable[[Rows], Rows] | None) -> Self:
        """The same rows on another scale, in the order that they had."""
        if scaling is None:
            return self
        return replace(self, X_parts=tuple(scaling(X) for X in self.X_parts))

    def merge(self, other: Self) -> Self:
        if not other.keys or not self.keys:
            return self if not other.keys else other
        draw = _common_draw(self, other)
        other = other.below(self.bounds, draw) if self.bounds else other
        merged = replace(
            self,
            **{name: getattr(self, name) + getattr(other, name) for name in (*_PARTS, "bounds")},
            copies_parts=self.copies + other.copies,
            limit=max(self.limit, other.limit),
            draw=draw,
            n_seen=self.n_labels + other.n_labels,
            content=_sum(self.content + other.content),
        )
        return merged.sampled() if merged.limit and merged.count > room_for(merged.limit) else merged

    def settled(self) -> Self:
        """At most ``limit`` rows, however they have come: what a fit uses."""
        is_over = self.limit and self.count > self.limit
        return self.sampled() if is_over or (self.bounds and len(self.keys) > 1) else self

    def sampled(self) -> Self:
        """The ``limit`` rows of smallest priority; equal rows with equal labels are one."""
        whole = self._in_one_part()
        priorities = whole._priorities(self.draw)
        priorities, first, group = np.unique(priorities, return_index=True, return_inverse=True)
        bounds = (np.min(np.stack(self.bounds), axis=0),) if self.bounds else ()
        least = bounds[0] if bounds else priorities[-1:]
        kept = int(np.searchsorted(priorities[: self.limit], least[0], side="right"))
        weight, copies = (
            np.bincount(group, part[0], len(first))[:kept]
            for part in (whole.weight_parts, whole.copies_parts)
        )
        return replace(
            whole._rows(first[:kept]),
            weight_parts=(weight,),
            copies_parts=(copies.astype(np.int64),),
            bounds=(priorities[kept - 1 : kept],) if self.limit == kept < len(first) else bounds,
        )

    def below(self, bounds: tuple[np.ndarray, ...], draw: int) -> Self:
        """The rows that can be in a sample of these bounds."""
        whole = self._in_one_part()
        least = np.min(np.concatenate(bounds))
        return whole._rows(np.flatnonzero(whole._priorities(draw) <= least))

    def redrawn(self, seed: int) -> Self:
        """The same rows, to be sampled by a draw that follows from all of them."""
        return (
            replace(self, draw=draw_from(np.concatenate(self.content), seed)) if self.content else self
        )

    def _priorities(self, draw: int) -> np.ndarray:
        """(count,) of rows in one part."""
        also = [
            part[0] for part in (self.probability_parts, self.stratum_parts, self.cluster_parts) if part
        ]
        return label_priorities(self.keys[0], self.Y_parts[0], also, draw)

    def _in_one_part(self) -> Self:
        self._check_probabilities()
        joined: dict[str, Any] = {
            name: (np.concatenate(parts),) if (parts := getattr(self, name)) else ()
            for name in _PARTS
            if name != "X_parts"
        }
        X = stack_rows(list(self.X_parts))
        return replace(self, X_parts=(X,), copies_parts=(np.concatenate(self.copies),), **joined)

    def _rows(self, rows: np.ndarray) -> Self:
        """Some rows of one part."""
        names = (*_PARTS, "copies_parts")
        chosen: dict[str, Any] = {
            name: tuple(part[rows] for part in getattr(self, name)) for name in names
        }
        return replace(self, **chosen)

    def by_strata(self, rows: StratumRows, labels: StratumRows) -> Self:
        """The same with label probabilities from the numbers of rows and labels of each stratum."""
        found = rows.label_probability(np.concatenate(self.stratum_parts), labels)
        return replace(self, probability_parts=(found,), stratum_parts=())

    @property
    def importance(self) -> np.ndarray | None:
        """(count,) for how many rows without a label each label stands; None if that is not known."""
        if not self.probability_parts:
            return None
        self._check_probabilities()
        return rows_stood_for(np.concatenate(self.probability_parts))

    def _check_probabilities(self) -> None:
        known = sum(map(len, self.probability_parts))
        if known not in (0, self.count):
            raise ValueError(
                f"label_probability is known of {known:,} labels out of {self.count:,}. "
                f"Give it for all of them, or for none."
            )

    @property
    def count(self) -> int:
        """Rows that are here."""
        return sum(len(Y) for Y in self.Y_parts)

    @property
    def copies(self) -> tuple[np.ndarray, ...]:
        """How many labels each row stands for; in older files each for one."""
        return self.copies_parts or tuple(np.ones(len(keys), np.int64) for keys in self.keys)

    @property
    def n_labels(self) -> int:
        """All labels, those that were dropped too."""
        return max(self.n_seen, self.count)

    @property
    def n_dropped(self) -> int:
        """Labels that are in no row here."""
        return self.n_labels - sum(int(copies.sum()) for copies in self.copies)

    @property
    def is_sample(self) -> bool:
        """Whether these are no longer all rows in their order."""
        return self.count < self.n_labels

    @property
    def labels(self) -> np.ndarray:
        """(count, targets) as the user gave them."""
        return np.concatenate(self.Y_parts)

    def problems(self, Y: np.ndarray, seed: int = 0) -> list[LabeledProblem]:
        """One least-squares problem for each set of targets that are labeled on the same rows.

        Y (count, targets) holds the labels as numbers to regress on, NaN where one is missing.
        Where some rows stand for all, nobody knows beforehand which: their order follows from all of
        them and from ``seed``.
        """
        X, weight = stack_rows(list(self.X_parts)), np.concatenate(self.weight_parts)
        importance = self.importance
        cluster = np.concatenate(self.cluster_parts) if self.cluster_parts else None
        keys = np.concatenate(self.keys)
        keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if (order := unforeseen_order(keys, seed)) is not None:
            first, group = first[order], np.argsort(order)[group]
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


# What there is of each row, in as many parts as blocks have come.
_PARTS = (
    "keys",
    "X_parts",
    "Y_parts",
    "weight_parts",
    "probability_parts",
    "stratum_parts",
    "cluster_parts",
)


def _common_draw(one: LabeledRows, other: LabeledRows) -> int:
    """By what both are sampled; the rows of one that is whole can be sampled by any draw."""
    if one.bounds and other.bounds and one.draw != other.draw:
        raise ValueError(
            f"Both hold samples of their labels ({one.count:,} of {one.n_labels:,} and "
            f"{other.count:,} of {other.n_labels:,}), drawn in two ways, which do not make one. Fit "
            f"both with a max_labels that holds all labels, or fit all rows together."
        )
    return other.draw if other.bounds else one.draw


def _sum(parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return (np.asarray(np.stack(parts).sum(axis=0, dtype=np.uint64)),) if parts else ()
