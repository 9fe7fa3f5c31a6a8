"""A fit without the unlabeled rows of a table, which are only compared with the labeled ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twinviews.estimators._all_or_nothing import fitting
from twinviews.estimators._checks import seed_from
from twinviews.estimators._compared_labels import (
    COMPARED_ROWS,
    RowsToCompare,
    compare_labels,
    numbers_of_columns,
)
from twinviews.estimators._questions import RowNumbers
from twinviews.passes.first_pass import FirstPass, first_pass_of
from twinviews.passes.targets import missing_labels, no_label_at_all
from twinviews.shift.table_columns import level_places
from twinviews.tables import Block, Table
from twinviews.tables.base import NoRowsError

if TYPE_CHECKING:  # it needs pyarrow, which need not be installed
    from twinviews.encoding.sources import OpenedSource


def labeled_rows_of(model: Any, found: OpenedSource) -> OpenedSource:
    """Those rows of a source that have a label, encoded as if there were no others."""
    try:
        return found.only(partial(_have_a_label, model.missing_label))
    except NoRowsError:
        raise no_label_at_all() from None


def fit_labeled_rows_alone(
    model: Any, found: OpenedSource, labeled: OpenedSource, rows: RowNumbers | None
) -> None:
    """The model of the labeled rows, with the shift of all rows, which takes a pass over them."""
    model._seed = seed_from(getattr(model, "random_state", 0))
    with fitting(model):
        all_rows = _first_pass(model, found.table)
        if all_rows.labeled.count == 0:  # numbers need no pass for their encoding
            raise no_label_at_all()
        model._rows_to_compare = RowsToCompare.of(all_rows)
        shift = compare_labels(model, all_rows.labeled)
    model._encoder = labeled.encoder
    model._fit_blocks(labeled.table, rows=rows)
    model.n_left_out_ = all_rows.n_rows - all_rows.labeled.count
    # What was kept of all rows is encoded otherwise: later labels cannot be compared with it.
    model._shift, model._rows_to_compare = shift, None


def _first_pass(model: Any, table: Table) -> FirstPass:
    return table.fold(
        partial(
            first_pass_of,
            sample_size=COMPARED_ROWS,
            seed=model._seed,
            missing_label=model.missing_label,
            levels=level_places(numbers_of_columns(model)),
        )
    )


def _have_a_label(missing_label: Any, block: Block) -> np.ndarray:
    """(rows,) whether any target is known."""
    if block.Y is None:
        return np.zeros(block.X.shape[0], bool)
    return np.asarray(~missing_labels(block.Y, missing_label).all(axis=1))
