"""One pass over a table: totals of predictions over its rows without a label, and its labeled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.imputed_values import Grid
from twinviews.estimates.unlabeled_sample import UnlabeledSample
from twinviews.method.landmarks import row_priorities
from twinviews.passes.strata import StratumRows
from twinviews.passes.targets import missing_labels
from twinviews.tables import Block

Group = tuple[str, ...]  # the value of each column of ``by``
# More groups than this would be no table to read.
MOST_GROUPS = 2000
_BLANK = "(blank)"
_SAMPLE_SEED = 0xE57


@dataclass(frozen=True)
class RowsAndColumns:
    """Rows in memory, on the scale of the fit, and columns beside them."""

    X: Any
    columns: dict[str, np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def __getitem__(self, rows: Any) -> RowsAndColumns:
        return RowsAndColumns(self.X[rows], {name: some[rows] for name, some in self.columns.items()})


@dataclass(frozen=True)
class GroupTotals:
    """Rows of one group without a label."""

    n_rows: int
    weight: float
    squares: float  # sum of squared weights
    totals: np.ndarray  # (q,) weight at each point of the grid, or of each class
    sample: UnlabeledSample
    # With columns to regress on: sums of z z' and of z times predictions, z with a constant first.
    moments: np.ndarray | None = None  # (p, p)
    products: np.ndarray | None = None  # (p, 1 or K)

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.squares + other.squares,
            self.totals + other.totals,
            self.sample.merge(other.sample),
            None if self.moments is None or other.moments is None else self.moments + other.moments,
            None if self.products is None or other.products is None else self.products + other.products,
        )


@dataclass(frozen=True)
class LabeledPart:
    """Rows with a label, in the order in which they came."""

    keys: np.ndarray  # (n,) hashes, as the model knows its labeled rows by
    y: np.ndarray  # (n,) labels as the table has them
    weight: np.ndarray  # (n,)
    groups: tuple[Group, ...]  # (n,)
    probability: np.ndarray | None
    stratum: np.ndarray | None
    columns: np.ndarray | None  # (n, p) with a constant first
    cluster: np.ndarray | None = None  # (n,) hashes

    def merge(self, other: Self) -> Self:
        def both(one: np.ndarray | None, two: np.ndarray | None) -> np.ndarray | None:
            return None if one is None or two is None else np.concatenate([one, two])

        return type(self)(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weight, other.weight]),
            self.groups + other.groups,
            both(self.probability, other.probability),
            both(self.stratum, other.stratum),
            both(self.columns, other.columns),
            both(self.cluster, other.cluster),
        )


@dataclass(frozen=True)
class TableTotals:
    """All that an estimate needs of a table."""

    groups: dict[Group, GroupTotals]
    labeled: LabeledPart
    strata: StratumRows | None

    def merge(self, other: Self) -> Self:
        groups = dict(self.groups)
        for group, totals in other.groups.items():
            groups[group] = groups[group].merge(totals) if group in groups else totals
        _refuse_many(len(groups))
        strata = self.strata
        if strata is not None and other.strata is not None:
            strata = strata.merge(other.strata)
        return type(self)(groups, self.labeled.merge(other.labeled), strata)


def _refuse_many(n_groups: int) -> None:
    if n_groups > MOST_GROUPS:
        raise ValueError(
            f"by has more than {MOST_GROUPS:,} groups of rows. Name columns with fewer values."
        )


@dataclass(frozen=True)
class SummariseRows:
    """From a block of rows to what an estimate needs of it; it is sent to the workers of a cluster."""

    predictions: CrossPredictions
    by: tuple[str, ...]
    columns: tuple[str, ...] | None  # to regress on; None: no regression
    grid: Grid | None  # of predicted numbers; None for classes
    sample_size: int

    def __call__(self, block: Block) -> TableTotals:
        n_rows = block.X.shape[0]
        is_batch = hasattr(block.X, "schema")
        X = self.predictions.scaled(block.X if is_batch else block.X.X)
        y = np.full(n_rows, np.nan) if block.Y is None else block.Y[:, 0]
        weight = np.ones(n_rows) if block.weight is None else block.weight
        unknown = missing_labels(y, self.predictions.model.missing_label)
        groups, group_of = groups_of_rows(block.X, self.by, n_rows)
        Z = None if self.columns is None else regressors(block.X, self.columns, n_rows)
        known = np.flatnonzero(~unknown)
        labeled = LabeledPart(
            row_priorities(X[known], seed=0),
            y[known],
            weight[known],
            tuple(groups[place] for place in group_of[known]),
            None if block.probability is None else block.probability[known],
            None if block.stratum is None else block.stratum[known],
            None if Z is None else Z[known],
            None if block.cluster is None else block.cluster[known],
        )
        free = np.flatnonzero(unknown)
        found = self._totals(
            X[free], weight[free], group_of[free], len(groups), None if Z is None else Z[free]
        )
        strata = None if block.stratum is None else StratumRows.of(block.stratum)
        return TableTotals(dict(zip(groups, found, strict=True)), labeled, strata)

    def _totals(
        self,
        X: np.ndarray,
        weight: np.ndarray,
        group_of: np.ndarray,
        n_groups: int,
        Z: np.ndarray | None,
    ) -> list[GroupTotals]:
        q = 1 if self.grid is not None else len(self.predictions.model.classes_)
        predicted = self.predictions.shipped(X) if X.shape[0] else np.empty((0, q))
        if self.grid is None:
            totals = np.column_stack([np.bincount(group_of, weight * p, n_groups) for p in predicted.T])
        else:
            totals = self.grid.totals(predicted[:, 0], weight, group_of, n_groups)
        priorities = row_priorities(X, _SAMPLE_SEED)
        order = np.argsort(group_of, kind="stable")
        starts = np.searchsorted(group_of[order], np.arange(n_groups + 1))
        found = []
        for group in range(n_groups):
            rows = order[starts[group] : starts[group + 1]]
            w = weight[rows]
            weighted = None if Z is None else Z[rows] * w[:, None]
            sample = UnlabeledSample.of(X[rows], priorities[rows], w, self.sample_size, weighted)
            one = GroupTotals(
                len(rows), float(w.sum()), float(np.square(w).sum()), totals[group], sample
            )
            if Z is not None and weighted is not None:
                one = replace(one, moments=weighted.T @ Z[rows], products=weighted.T @ predicted[rows])
            found.append(one)
        return found


def groups_of_rows(rows: Any, by: Sequence[str], n_rows: int) -> tuple[list[Group], np.ndarray]:
    """The groups that occur, and which of them each row is in."""
    if not by:
        return [()], np.zeros(n_rows, np.intp)
    levels, code = zip(*(_levels(_column(rows, name)) for name in by), strict=True)
    joint, group_of = np.unique(np.column_stack(code), axis=0, return_inverse=True)
    _refuse_many(len(joint))
    groups = [tuple(str(levels[j][at]) for j, at in enumerate(one)) for one in joint]
    return groups, group_of.ravel()


def _column(rows: Any, name: str) -> Any:
    return rows.column(name) if hasattr(rows, "schema") else rows.columns[name]


def _levels(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values that occur, as texts, and which of them each row has."""
    if hasattr(column, "dictionary_encode"):
        encoded = column.dictionary_encode()
        texts = [_text(value) for value in encoded.dictionary.to_pylist()] + [_BLANK]
        places = encoded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
        levels, code = np.unique(np.array(texts), return_inverse=True)
        return levels, code[places]
    texts = [_text(value) for value in np.asarray(column).tolist()]
    return np.unique(np.array(texts), return_inverse=True)


def _text(value: Any) -> str:
    if value is None or value != value or type(value).__name__ == "NAType":
        return _BLANK
    return str(value).removesuffix(".0")


def regressors(rows: Any, names: Sequence[str], n_rows: int) -> np.ndarray:
    """(rows, 1 + p) a constant and the named columns, which must be numbers without blanks."""
    found = [np.ones(n_rows)]
    for name in names:
        column = _column(rows, name)
        values = column.to_numpy(zero_copy_only=False) if hasattr(column, "to_pylist") else column
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"Column {name!r} holds something that is not a number. Coefficients are of numbers."
            ) from None
        if not np.isfinite(numbers).all():
            raise ValueError(
                f"Column {name!r} has blanks. Coefficients need a number in every row: fill them, or "
                f"leave those rows out."
            )
        found.append(numbers)
    return np.column_stack(found)
