"""A row as a card of the page: its values, the model's guess, and similar labeled rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from twinviews.labeling.column_distributions import ColumnDistributions, text_of
from twinviews.labeling.entries import Origin, plain_label
from twinviews.labeling.page_data import Card, FoundRow, Neighbour
from twinviews.labeling.target_state import TargetState

_NEIGHBOURS = 3
_VALUES_OF_A_RESULT = 6  # that a search result shows


def card_of(state: TargetState, distributions: ColumnDistributions, row: int, origin: Origin) -> Card:
    """The card of a row."""
    values = state.table.rows([row])
    x = state.candidates.encode(values)[0]
    event = state.events.get(row)
    return Card(
        row,
        origin,
        state.reason(row, origin),
        distributions.facts(values.select(state.candidates.inputs)),
        state.model.guess(x),
        _neighbours(state, row, x),
        0 if event is None else event.number,
        *state.answer_to(row),
    )


def _neighbours(state: TargetState, row: int, x: np.ndarray) -> tuple[Neighbour, ...]:
    labels = state.labels
    others = np.flatnonzero(labels.rows != row)
    if len(others) == 0 or x.size == 0:
        return ()
    found = state.candidates.nearest(x, labels.X[others], _NEIGHBOURS)
    places = [int(others[near.place]) for near in found]
    cells = state.table.rows(labels.rows[places])
    inputs = state.candidates.inputs
    return tuple(
        Neighbour(
            int(labels.rows[place]),
            plain_label(labels.y[place]),
            near.likeness,
            tuple(_value(cells, i, inputs[column]) for column in near.columns),
        )
        for i, (place, near) in enumerate(zip(places, found, strict=True))
    )


def _value(rows: pa.Table, i: int, name: str) -> tuple[str, str]:
    """A column's name, and its value in a row for display."""
    return name, text_of(rows.column(name)[i]) or "blank"


def found_rows(state: TargetState, rows: Sequence[int]) -> list[FoundRow]:
    """Rows as search results, each with its answer."""
    cells = state.table.rows(rows)
    names = state.candidates.inputs[:_VALUES_OF_A_RESULT]
    found = []
    for i, row in enumerate(rows):
        words = ", ".join(" ".join(_value(cells, i, name)) for name in names)
        found.append(FoundRow(row, words, *state.answer_to(row)))
    return found
