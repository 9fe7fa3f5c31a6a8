"""Answers about all rows for a report: a mean or shares, and the same by the most telling words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews import estimate
from twinviews.estimates.told_estimate import ToldEstimate
from twinviews.report.rows import RawColumn

_KINDS = ("category", "boolean")
_MOST_GROUPS, _LEAST_OF_A_GROUP = 12, 10
_COVERAGE = 0.95


@dataclass(frozen=True)
class AllRowsAnswers:
    """Estimates for all rows, or why there are none."""

    overall: tuple[ToldEstimate, ...]  # of numbers one, of classes one each
    by: str  # the column of words; empty if there is none
    groups: tuple[ToldEstimate, ...]
    notes: tuple[str, ...]
    refused: str = ""
    coverage: float = _COVERAGE


def answers_for_all_rows(
    model: Any,
    table: pa.Table,
    target: str,
    columns: Sequence[RawColumn],
    *,
    is_sample: bool,
) -> AllRowsAnswers | None:
    """None for models that no estimate can be made of, and where no row is without a label.

    ``columns`` are the raw columns, the most important first. Of a sample of a larger table the
    intervals are for what it was drawn from.
    """
    if getattr(model, "_ensembles", None) is None or model.n_unlabeled_ == 0:
        return None
    ask: dict[str, Any] = {"target": target, "coverage": _COVERAGE, "population": is_sample}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = estimate(model, table, **ask)
            by = _telling_column(table, target, columns)
            groups = estimate(model, table, by=by, **ask) if by else ()
    except ValueError as error:
        return AllRowsAnswers((), "", (), (), refused=str(error))
    return AllRowsAnswers(tuple(found), by, tuple(groups), found.notes)


def _telling_column(table: pa.Table, target: str, columns: Sequence[RawColumn]) -> str:
    """The first column of few words, each of which some labels have; "" if there is none."""
    known = np.asarray(table.column(target).is_valid())
    for column in columns:
        if column.kind not in _KINDS or column.name not in table.column_names:
            continue
        levels = table.column(column.name)
        if not 2 <= len(levels.unique()) <= _MOST_GROUPS:
            continue
        counts = levels.filter(pa.array(known)).value_counts().field("counts").to_numpy()
        if (counts >= _LEAST_OF_A_GROUP).sum() >= 2:
            return column.name
    return ""
