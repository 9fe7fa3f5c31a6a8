"""The labeled rows, collected on the way through the table, and what the solve sees of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from twinviews.landmarks import row_priorities, stack_rows
from twinviews.regression import LabeledBlock
from twinviews.targets import missing_labels

Rows = Any  # (rows, D) ndarray or CSR matrix

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class LabeledRows:
    """Rows with at least one label, kept whole: labels are few, so they travel as they are."""

    keys: tuple[np.ndarray, ...]  # the rows' priorities, before any scaling: equal for equal rows
    X_parts: tuple[Rows, ...]
    Y_parts: tuple[np.ndarray, ...]  # (rows, targets) as the user gave them
    weight_parts: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls,
        X: Rows,
        Y: np.ndarray | None,
        weight: np.ndarray | None = None,
        missing_label: Any = None,
    ) -> Self:
        """Those rows of a block of which some label is known."""
        if Y is None:
            return cls((), (), (), ())
        labeled = np.flatnonzero(~missing_labels(Y, missing_label).all(axis=1))
        if len(labeled) == 0:
            return cls((), (), (), ())
        weight = np.ones(len(labeled)) if weight is None else weight[labeled]
        X = X[labeled]
        return cls((row_priorities(X, seed=0),), (X,), (Y[labeled],), (weight,))

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
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays; labels that are no numbers as JSON."""
        if self.count == 0:
            return {}
        X, Y = np.concatenate(self.X_parts), self.labels
        labels = Y if Y.dtype.kind == "f" else np.array(json.dumps(Y.tolist()))
        return {
            "keys": np.concatenate(self.keys),
            "X": X,
            "labels": labels,
            "weight": np.concatenate(self.weight_parts),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        if "X" not in arrays:
            return cls((), (), (), ())
        labels = arrays["labels"]
        if labels.dtype.kind == "U":
            labels = np.array(json.loads(str(labels)), dtype=object)
        return cls((arrays["keys"],), (arrays["X"],), (labels,), (arrays["weight"],))

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
        _, first, group = np.unique(np.concatenate(self.keys), return_index=True, return_inverse=True)
        distinct = X[first]
        known = ~np.isnan(Y)
        if known.all():
            return [distinct_problem(distinct, group, Y, weight, np.arange(Y.shape[1]))]
        patterns, pattern_of = np.unique(known, axis=1, return_inverse=True)
        found = []
        for number, pattern in enumerate(patterns.T):
            targets = np.flatnonzero(pattern_of.ravel() == number)
            rows = np.flatnonzero(pattern)
            labels = Y[np.ix_(rows, targets)]
            found.append(distinct_problem(distinct, group[rows], labels, weight[rows], targets))
        return found


class LabeledProblem(NamedTuple):
    """Distinct labeled rows for some of the targets, in an order that depends on the rows alone.

    Equal rows are one row with their mean label and their joint weight. That leaves the least-squares
    solution as it is, and it keeps leave-one-out honest: a row is left out together with its copies.
    So a row of weight 2 and the same row given twice are the same problem.
    """

    distinct: Rows  # (., D) labeled rows of all problems
    place: np.ndarray  # (m,) which of them are this problem's
    Y: np.ndarray  # (m, t) mean label
    weight: np.ndarray  # (m,) sums to one
    spread: np.ndarray  # (t,) weighted variance of the labels around the means of their copies
    targets: np.ndarray  # (t,) which targets these are

    @property
    def X(self) -> Rows:  # noqa: N802
        """(m, D)"""
        return self.distinct[self.place]

    @property
    def variance(self) -> np.ndarray:
        """(t,) weighted variance of the labels."""
        return self.weight @ np.square(self.Y - self.weight @ self.Y) + self.spread

    def blocks(self, features: Callable[[Rows], np.ndarray]) -> Iterator[LabeledBlock]:
        """Some rows at a time: labels can be many too."""
        for start in range(0, len(self.Y), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            Z = features(self.distinct[self.place[rows]])
            yield LabeledBlock(Z, self.Y[rows], self.weight[rows])

    def blocks_of(self, Z: np.ndarray) -> Iterator[LabeledBlock]:
        """The same from the features of all distinct rows."""
        yield LabeledBlock(Z[self.place], self.Y, self.weight)

    def first(self, most: int) -> LabeledProblem:
        """The problem on at most that many of its rows, a uniform choice."""
        weight = self.weight[:most]
        return self._replace(place=self.place[:most], Y=self.Y[:most], weight=weight / weight.sum())


def distinct_problem(
    distinct: Rows, group: np.ndarray, Y: np.ndarray, weight: np.ndarray, targets: np.ndarray
) -> LabeledProblem:
    """From labels of rows that are copies of the distinct row ``group``."""
    place, copy_of = np.unique(group, return_inverse=True)
    share = weight / weight.sum()
    mass = np.bincount(copy_of, share)
    mean = np.column_stack([np.bincount(copy_of, share * y) for y in Y.T]) / mass[:, None]
    spread = share @ np.square(Y - mean[copy_of])
    return LabeledProblem(distinct, place, mean, mass, spread, targets)


def labeled_blocks(
    problems: Sequence[LabeledProblem], features: Callable[[Rows], np.ndarray]
) -> list[Callable[[], Iterable[LabeledBlock]]]:
    """For each problem its rows as features, computed once where several share a few rows."""
    distinct = problems[0].distinct
    if len(problems) == 1 or distinct.shape[0] > _BLOCK_ROWS:
        return [partial(problem.blocks, features) for problem in problems]
    Z = features(distinct)
    return [partial(problem.blocks_of, Z) for problem in problems]


def all_labeled(problems: Sequence[LabeledProblem]) -> Rows:
    """The distinct rows of all problems: those of one target may be among those of another."""
    return problems[0].distinct[np.unique(np.concatenate([problem.place for problem in problems]))]
