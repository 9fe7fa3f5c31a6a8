"""Whether the labels of a fit are like its rows: the comparison of ``shift/``, for a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from twinviews.estimators._ensemble import dense
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.landmarks import RowSample, stack_rows
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.shift.compared_rows import compared_rows
from twinviews.shift.covariate_shift import find_shift, warn_of_shift
from twinviews.shift.table_columns import (
    BLANK,
    NumberOfColumn,
    level_places,
    levels_without_label,
)

# Distinct rows that a first pass keeps at the least, and that a fitted model keeps for new labels.
COMPARED_ROWS = 2048


@dataclass(frozen=True)
class RowsToCompare:
    """What a comparison needs of all rows of a fit; a model in memory keeps it, its file does not."""

    sample: RowSample  # before any scaling
    n_rows: int
    level_rows: np.ndarray

    @classmethod
    def of(cls, first_pass: FirstPass) -> Self:
        return cls(first_pass.sample.first(COMPARED_ROWS), first_pass.n_rows, first_pass.level_rows)


def compare_labels(
    model: Any, labeled: LabeledRows, problems: list[LabeledProblem]
) -> list[LabeledProblem]:
    """Set ``_shift``: labeled rows, before any scaling, against the rows of the fit; warns of one.

    None where it is unknown: rows were not kept, there are too few of a kind, or so many labels that
    a sample of them is used, which leaves labeled rows among the others. Where there is a
    shift, ``_importance`` is that of any row, and the problems come back with that of their labels.
    """
    model._shift = model._importance = None
    kept: RowsToCompare | None = model._rows_to_compare
    if kept is None or labeled.is_sample:
        return problems
    X = stack_rows(list(labeled.X_parts))
    rows = compared_rows(kept.sample, X, kept.n_rows, model._seed)
    if rows is None:
        return problems
    numbers = numbers_of_columns(model)
    places = list(level_places(numbers))
    labeled_rows = X[:, places].sum(axis=0) if places else np.zeros(0)
    without_label = levels_without_label(
        numbers, kept.level_rows, labeled_rows, kept.n_rows, X.shape[0]
    )
    model._shift, importance = find_shift(rows, numbers, without_label)
    if labeled.probability_parts:
        return problems  # it is known how labels were given, and they count by that
    warn_of_shift(model._shift)
    if importance is None:
        return problems
    importance = importance.on(model._scaling)
    model._importance = importance.at
    return [
        problem._replace(importance=importance.of_labeled(dense(problem.X))) for problem in problems
    ]


def numbers_of_columns(model: Any) -> list[NumberOfColumn]:
    """What each number of a row is of."""
    if model._encoder is not None:
        return [number for code in model._encoder.codes for number in _numbers_of(code)]
    if hasattr(model, "feature_names_in_"):
        return [NumberOfColumn(str(name)) for name in model.feature_names_in_]
    return [NumberOfColumn(f"column {number}") for number in range(model.n_features_in_)]


def categories_of(model: Any) -> list[np.ndarray]:
    """The places of the levels of each column of words that has several."""
    if model._encoder is None:
        return []
    places: dict[str, list[int]] = {}
    for at, number in enumerate(numbers_of_columns(model)):
        if number.level is not None:
            places.setdefault(number.column, []).append(at)
    return [np.array(some) for some in places.values() if len(some) > 1]


def _numbers_of(code: Any) -> list[NumberOfColumn]:
    """Of the code of a column; a registered kind of column has outputs only."""
    name, flag = code.name, [NumberOfColumn(code.name, BLANK)] if getattr(code, "flag", False) else []
    if code.kind == "category":
        other = set(code.known) - set(code.levels) if len(code.known) == 2 and not flag else set()
        first = [
            NumberOfColumn(name, level, next(iter(other)) if len(other) == 1 else None)
            for level in code.levels
        ]
    else:
        first = [NumberOfColumn(name, is_date=code.kind == "date")] if code.outputs else []
    hidden = len(code.outputs) - len(first) - len(flag)
    return [*first, *[NumberOfColumn(name, is_told=False)] * hidden, *flag]
