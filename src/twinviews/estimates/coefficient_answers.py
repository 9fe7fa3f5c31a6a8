"""Coefficients of a regression over all rows of a table, with and without predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from twinviews.estimates.coefficients import (
    Coefficients,
    Curvature,
    Products,
    estimated_products,
    linear_coefficients,
    logistic_coefficients,
    logistic_curvature,
    products_of_fits_variance,
)
from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.interval_ends import mean_ends
from twinviews.estimates.power_tuning import tuned_power
from twinviews.estimates.quantity import PredictedLabels
from twinviews.estimates.table_pass import GroupTotals, TableTotals, regressors
from twinviews.estimates.told_estimate import AboutRows, ToldEstimate, ValueAndEnds, told
from twinviews.tables import Block, Table


def coefficient_estimates(
    predictions: CrossPredictions,
    found: TableTotals,
    labels: PredictedLabels,
    target: str,
    columns: Sequence[str],
    coverage: float,
    table: Table,
) -> list[ToldEstimate]:
    """The constant, then one for each column: linear for numbers, logistic for two classes."""
    (totals,) = found.groups.values()
    Z = found.labeled.columns
    assert Z is not None, "the pass was asked for them"
    classes = predictions.is_classification
    if classes and len(predictions.model.classes_) != 2:
        raise ValueError(
            f"Coefficients are of two classes, and the target has "
            f"{len(predictions.model.classes_)}. Group them into two, or give a number."
        )
    y = (labels.y == 1).astype(float) if classes else labels.y
    place = 1 if classes else 0
    v = labels.stands_for * labels.weight
    a = labels.stands_for * (totals.weight / v.sum())
    products_of_others, moments, variance = _of_others(predictions, totals, labels, Z, place)
    power = tuned_power(y, labels.own[:, place], v)
    squares = moments * (totals.squares / totals.weight if totals.weight > 0 else 1.0)

    def products(power: float) -> Products:
        return estimated_products(
            Z,
            y,
            labels.own[:, place],
            a,
            labels.weight,
            moments,
            products_of_others,
            power,
            squares,
            variance,
            labels.cluster,
        )

    def solved(some: Products) -> Coefficients:
        if not classes:
            return linear_coefficients(some, moments + (Z * labels.weight[:, None]).T @ Z)
        return logistic_coefficients(some, lambda beta: _curvature(table, columns, beta))

    alone = solved(products(0.0))
    powered = alone if power == 0 else solved(products(power))
    names = ["(constant)", *columns]
    kind = f"logistic (of {predictions.model.classes_[1]})" if classes else "linear"
    told_rows = []
    for j, name in enumerate(names):
        best = powered if _length(powered, j) < _length(alone, j) else alone
        about = AboutRows(
            target, f"coefficient of {name} in a {kind} regression", {}, totals.n_rows + len(y), len(y)
        )
        told_rows.append(
            told(
                about,
                _interval(best, j, coverage),
                _interval(alone, j, coverage),
                labels_worth=len(y) * float(alone.variance[j, j] / best.variance[j, j]),
                power=power if best is powered else 0.0,
            )
        )
    return told_rows


def _interval(found: Coefficients, j: int, coverage: float) -> ValueAndEnds:
    value, skewness = float(found.beta[j]), float(found.skewness[j])
    ends = mean_ends(value, found.variance[j, j], float(found.degrees[j]), coverage, skewness)
    return ValueAndEnds(value, *ends)


def _length(found: Coefficients, j: int) -> float:
    interval = _interval(found, j, 0.95)
    return interval.high - interval.low


def _of_others(
    predictions: CrossPredictions,
    totals: GroupTotals,
    labels: PredictedLabels,
    Z: np.ndarray,
    place: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
    """Sums over rows without a label of z times the fits without a fold, and of z z'; the variance of
    the first, for the sample of rows and for the fits."""
    assert totals.products is not None, "the pass was asked for them"
    assert totals.moments is not None, "the pass was asked for them"
    products, sample = totals.products[:, place], totals.sample
    if not totals.n_rows or sample.sums is None:
        return products, totals.moments, 0.0
    moved = predictions.without_folds(sample.rows)[:, :, place]
    moved = moved - predictions.shipped(sample.rows)[:, [place]]
    scale = totals.weight / float(sample.weight.sum())
    moved_sums = scale * (moved.T @ sample.sums)
    at_labels = labels.by_fold[:, :, place] - labels.shipped[:, [place]]
    v = labels.stands_for * labels.weight
    variance = products_of_fits_variance(Z, v, labels.fold, at_labels, moved_sums, totals.moments)
    if sample.share < 1:
        terms = sample.sums * (moved @ labels.fold_shares)[:, None]
        variance = variance + len(terms) * np.cov(terms.T) * scale**2 * (1 - sample.share)
    return products + labels.fold_shares @ moved_sums, totals.moments, variance


@dataclass(frozen=True)
class _Sums:
    """Curvature of all rows, which merges."""

    of: Curvature

    def merge(self, other: _Sums) -> _Sums:
        return _Sums(self.of.merge(other.of))


def _curvature(table: Table, columns: Sequence[str], beta: np.ndarray) -> Curvature:
    return table.fold(partial(_of_block, tuple(columns), beta)).of


def _of_block(columns: tuple[str, ...], beta: np.ndarray, block: Block) -> _Sums:
    n_rows = block.X.shape[0]
    weight = np.ones(n_rows) if block.weight is None else block.weight
    return _Sums(logistic_curvature(regressors(block.X, columns, n_rows), weight, beta))
