"""The labeled rows, collected on the way through the table, and what the solve sees of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from twinviews.landmarks import row_priorities, stack_rows
from twinviews.targets import missing_labels

Rows = Any  # (rows, D) ndarray or CSR matrix

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class LabeledRows:
    """Rows with at least one label, kept whole: labels are few, so they travel as they are."""

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
            return cls((), (), ())
        labeled = np.flatnonzero(~missing_labels(Y, missing_label).all(axis=1))
        if len(labeled) == 0:
            return cls((), (), ())
        weight = np.ones(len(labeled)) if weight is None else weight[labeled]
        return cls((X[labeled],), (Y[labeled],), (weight,))

    def merge(self, other: Self) -> Self:
        return type(self)(
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
        return {"X": X, "labels": labels, "weight": np.concatenate(self.weight_parts)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        if "X" not in arrays:
            return cls((), (), ())
        labels = arrays["labels"]
        if labels.dtype.kind == "U":
            labels = np.array(json.loads(str(labels)), dtype=object)
        return cls((arrays["X"],), (labels,), (arrays["weight"],))

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
        known = ~np.isnan(Y)
        if known.all():
            return [distinct_problem(X, Y, weight, np.arange(Y.shape[1]))]
        patterns, pattern_of = np.unique(known, axis=1, return_inverse=True)
        found = []
        for number, pattern in enumerate(patterns.T):
            targets = np.flatnonzero(pattern_of.ravel() == number)
            rows = np.flatnonzero(pattern)
            found.append(distinct_problem(X[rows], Y[np.ix_(rows, targets)], weight[rows], targets))
        return found


class LabeledProblem(NamedTuple):
    """Distinct labeled rows for some of the targets, in an order that depends on the rows alone.

    Equal rows are one row with their mean label and their joint weight. That leaves the least-squares
    solution as it is, and it keeps leave-one-out honest: a row is left out together with its copies.
    So a row of weight 2 and the same row given twice are the same problem.
    """

    X: Rows  # (m, D)
    Y: np.ndarray  # (m, t) mean label
    weight: np.ndarray  # (m,) sums to one
    spread: np.ndarray  # (t,) weighted variance of the labels around the means of their copies
    targets: np.ndarray  # (t,) which targets these are

    @property
    def variance(self) -> np.ndarray:
        """(t,) weighted variance of the labels."""
        return self.weight @ np.square(self.Y - self.weight @ self.Y) + self.spread

    def blocks(
        self, features: Callable[[Rows], np.ndarray]
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(features, labels, weight) of some rows at a time: labels can be many too."""
        for start in range(0, len(self.Y), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield features(self.X[rows]), self.Y[rows], self.weight[rows]

    def first(self, most: int) -> LabeledProblem:
        """The problem on at most that many of its rows, a uniform choice."""
        weight = self.weight[:most]
        return self._replace(X=self.X[:most], Y=self.Y[:most], weight=weight / weight.sum())


def distinct_problem(X: Rows, Y: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> LabeledProblem:
    _, first, group = np.unique(row_priorities(X, seed=0), return_index=True, return_inverse=True)
    share = weight / weight.sum()
    mass = np.bincount(group, share)
    mean = np.column_stack([np.bincount(group, share * y) for y in Y.T]) / mass[:, None]
    spread = share @ np.square(Y - mean[group])
    return LabeledProblem(X[first], mean, mass, spread, targets)
