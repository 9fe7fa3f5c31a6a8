"""A row as a card of the page: its values, the model's guess, and similar labeled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews.labeling.candidate_rows import CandidateRows
from twinviews.labeling.column_distributions import ColumnDistributions
from twinviews.labeling.entries import Answer, Event, Origin, plain_label
from twinviews.labeling.neighbours import nearest
from twinviews.labeling.page_data import Card, FoundRow, Neighbour
from twinviews.labeling.table_copy import TableCopy
from twinviews.labeling.target_state import TargetState
from twinviews.labeling.value_text import text_of

_NEIGHBOURS = 3
_VALUES_OF_A_RESULT = 6  # that a search result shows


class CardMaker:
    """Makes cards and search results of the rows of a table."""

    def __init__(
        self,
        table: TableCopy,
        distributions: ColumnDistributions,
        candidates: CandidateRows,
        targets: Sequence[str],
    ) -> None:
        self._table, self._distributions, self._candidates = table, distributions, candidates
        self._targets = targets

    def card(self, state: TargetState, event: Event | None, row: int, origin: Origin) -> Card:
        """The card of a row, whose last event is given."""
        values = self._table.rows([row])
        x = self._candidates.encode(values)[0]
        answer, value = _answer_in_force(state, event, row)
        return Card(
            row=row,
            origin=origin,
            reason=state.reason(row, origin),
            facts=self._distributions.facts(values, self._targets),
            guess=state.model.guess(x, self._candidates.place_of(row)),
            neighbours=self._neighbours(state, row, x),
            event=0 if event is None else event.number,
            answer=answer,
            value=value,
        )

    def _neighbours(self, state: TargetState, row: int, x: np.ndarray) -> tuple[Neighbour, ...]:
        labels, candidates = state.labels, self._candidates
        others = labels.rows != row
        if not others.any() or x.size == 0:
            return ()
        found = nearest(
            candidates.standardize(x),
            candidates.standardize(labels.X[others]),
            candidates.typical,
            most=_NEIGHBOURS,
            groups=candidates.groups,
        )
        rows, values = labels.rows[others], labels.y[others]
        cells = self._table.rows([int(rows[near.place]) for near in found])
        return tuple(
            Neighbour(
                int(rows[near.place]),
                plain_label(values[near.place]),
                near.likeness,
                tuple(self._value(cells, i, candidates.inputs[column]) for column in near.columns),
            )
            for i, near in enumerate(found)
        )

    def _value(self, rows: pa.Table, i: int, name: str) -> tuple[str, str]:
        """A column's name, and its value in a row for display."""
        return name, text_of(rows.column(name)[i]) or "blank"

    def found_rows(
        self, state: TargetState, events: Sequence[Event | None], rows: Sequence[int]
    ) -> list[FoundRow]:
        """Search results for rows, whose last events are given."""
        cells = self._table.rows(rows)
        names = self._candidates.inputs[:_VALUES_OF_A_RESULT]
        found = []
        for i, (row, event) in enumerate(zip(rows, events, strict=True)):
            words = ", ".join(" ".join(self._value(cells, i, name)) for name in names)
            found.append(FoundRow(row, words, *_answer_in_force(state, event, row)))
        return found


def _answer_in_force(
    state: TargetState, event: Event | None, row: int
) -> tuple[Answer | None, float | str | None]:
    """The last answer and its value; without one, the label that the table has."""
    if event is not None and event.entry.answer != "clear":
        return event.entry.answer, event.entry.value
    label: Any = state.table_label(row)
    return (None if label is None else "label"), label
