"""What the fits without some labels say of rows to predict: intervals, deviations, uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from twinviews.estimators._all_or_nothing import predicting
from twinviews.estimators._compared_labels import categories_of, numbers_of_columns
from twinviews.estimators._ensemble import dense
from twinviews.estimators._left_out import left_out_of
from twinviews.method.intervals import (
    FitsAtRows,
    LeftOut,
    SingleLabels,
    deviation,
    interval_ends,
    interval_ends_by_group,
)

# More labels would only smooth the ends of an interval.
_LABELS_FOR_INTERVALS = 1000

Statistic = Callable[[FitsAtRows, LeftOut, Any, Any], np.ndarray]  # of rows and of labeled rows


def deviations(at: FitsAtRows, left_out: LeftOut, rows: Any, labeled: Any) -> np.ndarray:
    return deviation(at, left_out)


def ends_of_intervals(coverage: float, places: np.ndarray | None) -> Statistic:
    """The ends of intervals; those of groups of rows with equal numbers at these places."""
    if not isinstance(coverage, Real) or not 0 < coverage < 1:
        raise ValueError(f"coverage={coverage!r} must be above 0 and below 1, such as 0.9.")

    def ends(at: FitsAtRows, left_out: LeftOut, rows: Any, labeled: Any) -> np.ndarray:
        if places is None:
            return interval_ends(at, left_out, float(coverage))
        groups = dense(rows[:, places]), dense(labeled[:, places])
        return interval_ends_by_group(at, left_out, float(coverage), *groups)

    return ends


def places_of(model: Any, by: str | int | None) -> np.ndarray | None:
    """Of the numbers that a column became."""
    if by is None:
        return None
    if model._encoder is None and isinstance(by, Integral) and 0 <= by < model.n_features_in_:
        return np.array([by])
    names = [number.column for number in numbers_of_columns(model)]
    if by not in names:
        raise ValueError(
            f"by={by!r} is not an input column of the fit: {', '.join(dict.fromkeys(names))}."
        )
    return np.flatnonzero(np.array(names) == by)


def from_left_out_fits(
    model: Any, X: Any, statistic: Statistic, singles: SingleLabels | None = None
) -> list[np.ndarray]:
    """A statistic of what the fits without some labels predict at each row, target by target.

    With ``singles``, several labels of the same row count one by one, else as their mean.
    """
    found = []
    X = X if model._ensembles is None or model._rows_are_sparse else dense(X)
    for target in range(len(model._solution.intercept)):
        with predicting(model):
            left_out = fits_without_labels(model, target, _LABELS_FOR_INTERVALS)
            kept = np.arange(len(left_out.residual))
            if singles is not None:
                left_out, kept = singles.left_out(left_out)
        labeled = model._solution.problem_of(target)[0].X[kept]

        def of_block(rows: Any, left_out: LeftOut = left_out, labeled: Any = labeled) -> np.ndarray:
            own = None if model._importance is None else model._importance(dense(rows))
            at = left_out.at(rows)._replace(importance=own)
            return statistic(at, left_out, rows, labeled)

        found.append(model._by_blocks(of_block, X))
    return found


def fits_without_labels(model: Any, target: int, most: int | None = None) -> LeftOut:
    """The fits without some labels: each row in closed form, or the folds of an ensemble."""
    if model._ensembles is None:
        return model._solution.left_out(target)
    problem, place = model._solution.problem_of(target)
    return left_out_of(model._ensembles[target], problem, place, categories_of(model), most)


def uncertainty_of_rows(model: Any, X: Any) -> np.ndarray:
    """Predictive variance; with ensembles, that of those without a fold, summed over targets."""
    if model._ensembles is None:
        return model._predictive_variance(X)
    total = np.zeros(X.shape[0])
    for target in range(len(model._ensembles)):
        left_out = fits_without_labels(model, target, _LABELS_FOR_INTERVALS)
        noise = left_out.weight @ np.square(left_out.residual)

        def fits_at(rows: Any, left_out: LeftOut = left_out) -> np.ndarray:
            return left_out.at(rows).prediction

        spread = model._by_blocks(fits_at, X if model._rows_are_sparse else dense(X)).var(axis=1)
        total += spread / noise if noise > 0 else spread
    return total
