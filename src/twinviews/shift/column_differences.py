"""Which columns of the labeled rows are not distributed like those of all rows, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

import numpy as np

from twinviews.data_checks.data_finding import number_text, printable
from twinviews.shift.compared_rows import ComparedRows
from twinviews.shift.table_columns import BLANK, NumberOfColumn
from twinviews.shift.two_sample_test import ComparedSamples

# A column is named if its p-value, corrected for the number of columns, is at most this.
_SIGNIFICANT = 0.05
_MOST_COLUMNS = 20
_QUANTILES = (0.05, 0.5, 0.95)
# Days since 1970 that can be written as a date.
_DAYS = (-719_000, 2_932_000)


@dataclass(frozen=True)
class ShiftedColumn:
    """A column that tells labeled rows from all rows."""

    name: str
    p_value: Annotated[float, ">= 0", "<= 1"]  # corrected for the number of columns
    # Quantiles 5%, 50% and 95% of a number or a date (days since 1970); of a level, its share.
    labeled: tuple[Annotated[float, "missing"], ...]
    all_rows: tuple[Annotated[float, "missing"], ...]
    level: str | None = None  # which level of a category differs most
    is_date: bool = False

    def words(self) -> str:
        name = printable(self.name)
        if self.level is not None:
            return (
                f"{name} is {printable(self.level)} in {self.labeled[0]:.1%} of the labeled rows and "
                f"{self.all_rows[0]:.1%} of all rows"
            )
        ours, theirs = (self._range(ends) for ends in (self.labeled, self.all_rows))
        return f"{name} is mostly {ours} in labeled rows, {theirs} in all rows"

    def _range(self, quantiles: Sequence[float]) -> str:
        low, middle, high = map(self.text, quantiles)
        return f"{low} to {high} (median {middle})"

    def text(self, value: float) -> str:
        """A value of the column with four digits, or a date."""
        if np.isnan(value):
            return "unknown"
        if self.is_date:
            return str(date(1970, 1, 1) + timedelta(days=int(np.clip(value, *_DAYS))))
        return number_text(float(f"{value:.4g}"))


def shifted_columns(
    rows: ComparedRows, numbers: Sequence[NumberOfColumn], test: ComparedSamples
) -> tuple[ShiftedColumn, ...]:
    """The columns that differ, those that differ most first."""
    best: dict[str, int] = {}
    for at in np.argsort(-test.column_statistics, kind="stable"):
        if test.column_p_values[at] <= _SIGNIFICANT:
            best.setdefault(numbers[at].column, int(at))
    return tuple(_difference(rows, numbers, at, test) for at in list(best.values())[:_MOST_COLUMNS])


def _difference(
    rows: ComparedRows, numbers: Sequence[NumberOfColumn], at: int, test: ComparedSamples
) -> ShiftedColumn:
    """How a column differs, by the number of it that differs most and can be told."""
    name, p_value = numbers[at].column, float(test.column_p_values[at])
    if not numbers[at].is_told:
        at = next(place for place, number in enumerate(numbers) if number.column == name)
    ours, everywhere = rows.weight * rows.is_labeled, rows.weight
    column, number = rows.X[:, at], numbers[at]
    level = number.level or ("1" if np.isin(column, (0.0, 1.0)).all() else None)
    if level is not None:
        shares = [(float(np.average(column, weights=weight)),) for weight in (ours, everywhere)]
        return ShiftedColumn(name, p_value, shares[0], shares[1], level)
    present = ~_is_blank(rows.X, numbers, name)
    quantiles = [_quantiles(column, weight * present) for weight in (ours, everywhere)]
    return ShiftedColumn(name, p_value, quantiles[0], quantiles[1], is_date=number.is_date)


def _is_blank(X: np.ndarray, numbers: Sequence[NumberOfColumn], name: str) -> np.ndarray:
    """(P,) whether the value of a column is missing, and the number in its place is the mean."""
    for place, number in enumerate(numbers):
        if number.column == name and number.level == BLANK:
            return X[:, place] != 0
    return np.zeros(len(X), dtype=bool)


def _quantiles(values: np.ndarray, weight: np.ndarray) -> tuple[float, ...]:
    if not weight.any():
        return tuple(float("nan") for _ in _QUANTILES)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    at = np.searchsorted(reached, np.array(_QUANTILES) * reached[-1])
    return tuple(float(value) for value in values[order][np.minimum(at, len(values) - 1)])


def is_outside_labeled_range(rows: ComparedRows, places: Sequence[int]) -> np.ndarray:
    """(P,) whether a row is below or above all labeled rows in one of some columns."""
    X = rows.X[:, places]
    low, high = X[rows.is_labeled].min(axis=0), X[rows.is_labeled].max(axis=0)
    return np.asarray(((low > X) | (high < X)).any(axis=1))
