"""The quantities whose means are estimated, at labels and at predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twinviews.estimates.difference_estimator import LabeledSample, UnlabeledRows
from twinviews.estimates.imputed_values import Grid, share_below
from twinviews.estimates.table_pass import GroupTotals


@dataclass(frozen=True)
class PredictedLabels:
    """The labels of a table with the model's predictions of their rows."""

    y: np.ndarray  # (n,) numbers, or codes of classes
    by_fold: np.ndarray  # (n, folds, 1 or K) by the fits without each fold
    shipped: np.ndarray  # (n, 1 or K) by the fit on all labels
    fold: np.ndarray  # (n,)
    stands_for: np.ndarray  # (n,)
    weight: np.ndarray  # (n,)
    stratum: np.ndarray | None
    cluster: np.ndarray | None = None  # (n,) codes

    def take(self, some: np.ndarray) -> PredictedLabels:
        return PredictedLabels(
            self.y[some],
            self.by_fold[some],
            self.shipped[some],
            self.fold[some],
            self.stands_for[some],
            self.weight[some],
            None if self.stratum is None else self.stratum[some],
            None if self.cluster is None else self.cluster[some],
        )

    @property
    def own(self) -> np.ndarray:
        """(n, 1 or K) by the fit without the row's fold."""
        return self.by_fold[np.arange(len(self.y)), self.fold]

    @property
    def fold_shares(self) -> np.ndarray:
        """(folds,) for what share of the rows the labels of each fold stand."""
        v = self.stands_for * self.weight
        v = v if v.any() else self.weight
        found = np.bincount(self.fold, v, self.by_fold.shape[1])
        return np.asarray(found / found.sum())


@dataclass(frozen=True)
class SampledRows:
    """Rows of a group without a label: totals, and predictions of a sample by all fits."""

    totals: GroupTotals
    by_fold: np.ndarray  # (k, folds, 1 or K)
    shipped: np.ndarray  # (k, 1 or K)


class ClassShare:
    """1 for rows of a class, 0 for others."""

    is_share = True

    def __init__(self, code: int) -> None:
        self.code = code

    def at_labels(self, labels: PredictedLabels) -> np.ndarray:
        return (labels.y == self.code).astype(float)

    def at_fold(self, values: np.ndarray, fold: int) -> np.ndarray:
        """Of predictions (rows, K) by the fit without a fold."""
        return values[:, self.code]

    def at_shipped(self, values: np.ndarray) -> np.ndarray:
        return values[:, self.code]

    def mean(self, totals: GroupTotals) -> float:
        """Over rows without a label, by the fit on all labels."""
        return float(totals.totals[self.code]) / totals.weight


class ClassMean:
    """The number that a class stands for: a rating."""

    is_share = False

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers  # (K,)

    def at_labels(self, labels: PredictedLabels) -> np.ndarray:
        return self.numbers[labels.y]

    def at_fold(self, values: np.ndarray, fold: int) -> np.ndarray:
        return self.at_shipped(values)

    def at_shipped(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values @ self.numbers)

    def mean(self, totals: GroupTotals) -> float:
        return float(totals.totals @ self.numbers) / totals.weight


class NumberOnGrid:
    """A number, or whether it is at most a threshold."""

    def __init__(self, grid: Grid, labels: PredictedLabels, threshold: float | None = None) -> None:
        self.grid, self.threshold = grid, threshold
        self.is_share = threshold is not None
        points = grid.points
        n_folds = labels.by_fold.shape[1]
        if threshold is None:
            self._all, self._of_fold = points, [points] * n_folds
            return
        # The residuals of a fold say nothing about itself.
        residual = labels.y - labels.own[:, 0]
        self._all = share_below(points, threshold, residual)
        self._of_fold = [
            share_below(points, threshold, residual[labels.fold != fold])
            if (labels.fold != fold).any()
            else self._all
            for fold in range(n_folds)
        ]

    def at_labels(self, labels: PredictedLabels) -> np.ndarray:
        return labels.y if self.threshold is None else (labels.y <= self.threshold).astype(float)

    def at_fold(self, values: np.ndarray, fold: int) -> np.ndarray:
        return self.grid.at(self._of_fold[fold], values[:, 0])

    def at_shipped(self, values: np.ndarray) -> np.ndarray:
        return self.grid.at(self._all, values[:, 0])

    def mean(self, totals: GroupTotals) -> float:
        return float(totals.totals @ self._all) / totals.weight


Quantity = ClassShare | ClassMean | NumberOnGrid


def labeled_sample(labels: PredictedLabels, quantity: Quantity) -> LabeledSample:
    """The quantity at labeled rows."""
    n, n_folds = labels.by_fold.shape[:2]
    by_fold = np.column_stack(
        [quantity.at_fold(labels.by_fold[:, fold], fold) for fold in range(n_folds)]
    )
    return LabeledSample(
        quantity.at_labels(labels),
        by_fold[np.arange(n), labels.fold],
        labels.stands_for,
        labels.weight,
        labels.fold,
        labels.stratum,
        labels.cluster,
    )


def unlabeled_rows(rows: SampledRows, quantity: Quantity, fold_shares: np.ndarray) -> UnlabeledRows:
    """The quantity over rows without a label.

    All of them are predicted by the fit on all labels. How far the fits without a fold are from it on
    average is known from the sample (two-phase sampling), and the variance of that counts.
    """
    totals = rows.totals
    if totals.n_rows == 0:
        return UnlabeledRows(0.0, 0.0, 0.0)
    by_fold = np.column_stack(
        [quantity.at_fold(rows.by_fold[:, fold], fold) for fold in range(rows.by_fold.shape[1])]
    )
    moved = by_fold - quantity.at_shipped(rows.shipped)[:, None]
    difference, variance = totals.sample.mean_and_variance(moved @ fold_shares)
    shipped = quantity.mean(totals)
    share = totals.sample.weight / totals.sample.weight.sum()
    means = (share @ moved, share @ np.square(moved))
    return UnlabeledRows(totals.weight, totals.squares, shipped + difference, variance, *means)


def all_unlabeled_rows(
    groups: Sequence[SampledRows], quantity: Quantity, fold_shares: np.ndarray
) -> UnlabeledRows:
    """The quantity over the rows of several groups: a stratified sample."""
    parts = [unlabeled_rows(rows, quantity, fold_shares) for rows in groups if rows.totals.n_rows]
    if len(parts) == 1:
        return parts[0]
    weight = np.array([part.weight for part in parts])
    total = float(weight.sum())
    if total <= 0:
        return UnlabeledRows(0.0, 0.0, 0.0)
    share = weight / total
    return UnlabeledRows(
        total,
        sum(part.squares for part in parts),
        float(share @ [part.mean for part in parts]),
        float(np.square(share) @ [part.variance for part in parts]),
        share @ np.array([part.moved for part in parts]),
        share @ np.array([part.moved_squares for part in parts]),
    )
