"""Dask arrays and data frames with their labels, as ``fit`` takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from twinviews.encoding.encoder import Encoder, encoder_of, facts_of_table, kinds_of
from twinviews.tables import StackedTable, Table
from twinviews.tables.dask import rows_table


class DaskRows(NamedTuple):
    """Rows of a fit on a cluster."""

    table: Table  # of numbers
    encoder: Encoder | None  # None: all inputs are numbers
    names: list[str] | None  # of the columns; None of an array
    width: int  # how many columns there are


def open_dask_rows(X: Any, y: Any, X_unlabeled: Any) -> DaskRows:
    """Rows with labels, and more rows without, encoded as ``fit_table`` would."""
    table: Table
    table, selection, width = rows_table(X, y)
    if X_unlabeled is not None:
        table = StackedTable(table, rows_table(X_unlabeled, None)[0])
    if selection is None:
        return DaskRows(table, None, None, width)
    if not selection.raw:
        return DaskRows(table, None, selection.columns, width)
    kinds = kinds_of(selection.schema, selection.columns, {})
    encoder = encoder_of(facts_of_table(table, kinds), {})
    return DaskRows(encoder.table(table), encoder, selection.columns, width)
