"""A fit without the unlabeled rows of a table, which are only compared with the labeled ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from twinviews.estimators._all_or_nothing import fitting
from twinviews.estimators._checks import seed_from
from twinviews.estimators._compared_labels import (
    COMPARED_ROWS,
    RowsToCompare,
    compare_labels,
    numbers_of_columns,
)
from twinviews.estimators._held_labels import held_labels
from twinviews.estimators._questions import RowNumbers
from twinviews.passes.first_pass import FirstPass, first_pass_of
from twinviews.passes.targets import no_label_at_all
from twinviews.shift.table_columns import level_places
from twinviews.tables import Table

if TYPE_CHECKING:  # it needs pyarrow, which need not be installed
    from twinviews.encoding.sources import OpenedSource


def fit_labeled_rows_alone(
    self: Any, found: OpenedSource, labeled: OpenedSource, rows: RowNumbers | None
) -> None:
    """The model of the labeled rows, with the shift of all rows, which takes a pass over them."""
    model = self
    model._seed = seed_from(getattr(model, "random_state", 0))
    with fitting(model):
        all_rows = _first_pass(model, found.table)
        if all_rows.labeled.count == 0:  # numbers need no pass for their encoding
            raise no_label_at_all()
        model._rows_to_compare, model._scaling = RowsToCompare.of(all_rows), None
        compare_labels(model, all_rows.labeled, [])
        shift = model._shift
    model._encoder = labeled.encoder
    model._fit_blocks(labeled.table, rows=rows)
    model.n_left_out_ = all_rows.n_rows - all_rows.labeled.n_labels
    # What was kept of all rows is encoded otherwise: later labels cannot be compared with it.
    model._shift, model._rows_to_compare = shift, None


def _first_pass(model: Any, table: Table) -> FirstPass:
    return table.fold(
        partial(
            first_pass_of,
            sample_size=COMPARED_ROWS,
            seed=model._seed,
            **held_labels(model),
            levels=level_places(numbers_of_columns(model)),
        )
    )
