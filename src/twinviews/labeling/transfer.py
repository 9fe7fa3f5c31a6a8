"""Labels that come from the table or from a file, and go to files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.facts import kind_of
from twinviews.encoding.values import as_numbers, as_words
from twinviews.labeling.entries import ConflictError, Entry, Event, Target
from twinviews.labeling.incoming import LIST_COLUMNS, Incoming, Said, read_labels
from twinviews.labeling.pool import Pool
from twinviews.labeling.shown import Imported
from twinviews.labeling.store import LabelStore
from twinviews.reading import write

# Of numbers that a spreadsheet has had in its hands.
_SAME_NUMBER = 1e-12
# Others may label while a file is read; the next try then sees what they said.
_MOST_TRIES = 10


def own_labels(pool: Pool, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the table has itself: rows, and their values as float64 or text."""
    kind = np.float64 if target.task == "regression" else object
    rows: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
    values: list[np.ndarray] = [np.empty(0, dtype=kind)]
    start = 0
    if target.name in pool.schema.names:
        for batch in pool.batches([target.name]):
            labels = _as_labels(batch.column(0), target)
            rows.append(start + np.flatnonzero(np.asarray(labels.is_valid())))
            values.append(labels.drop_null().to_numpy(zero_copy_only=False).astype(kind))
            start += batch.num_rows
    return np.concatenate(rows), np.concatenate(values)


def _type_of(target: Target) -> pa.DataType:
    return pa.float64() if target.task == "regression" else pa.string()


def _as_labels(column: pa.Array, target: Target) -> pa.Array:
    """A column of the table as labels, null where there are none."""
    if target.task == "classification":
        return as_words(column).cast(pa.string())
    if kind_of(column.type) not in ("number", "empty"):
        raise ValueError(
            f"Column {target.name!r} holds values of kind {kind_of(column.type)}, and a regression "
            f"needs numbers. Make it a classification, or give the target another name."
        )
    return pa.array(as_numbers(target.name, column), from_pandas=True)


def changed_rows(store: LabelStore, pool: Pool) -> list[int]:
    """Labeled rows whose values are no longer those that were labeled, but for the labels.

    A digest leaves out the targets that there were when it was made: the first one, the first two, and
    so on, as targets are only ever added.
    """
    names = [target.name for target in store.targets()]
    changed: set[int] = set()
    for target in names:
        then = store.digests(target)
        left = list(then)
        for count in range(len(names), names.index(target), -1):
            now = pool.digests(left, besides=names[:count])
            left = [row for row, digest in zip(left, now, strict=True) if then[row] != digest]
        changed |= set(left)
    return sorted(changed)


def export_table(store: LabelStore, pool: Pool, out: Path) -> int:
    """The table with a column for each target, in the format that the ending says; the rows written.

    The table's own labels stay where nobody has given another one.
    """
    targets = store.targets()
    types = {field.name: field.type for field in pool.schema}
    types |= {target.name: _type_of(target) for target in targets}
    schema = pa.schema(list(types.items()))
    return write(_with_labels(store, pool, targets, schema), schema, out)


def _with_labels(
    store: LabelStore, pool: Pool, targets: tuple[Target, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    labels = {target.name: _sorted_labels(store.answers(target.name)) for target in targets}
    start = 0
    for batch in pool.batches():
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for target in targets:
            own = columns.get(target.name, pa.nulls(batch.num_rows))
            rows, values = labels[target.name]
            first, last = np.searchsorted(rows, [start, start + batch.num_rows])
            given = pa.array(values[first:last], _type_of(target))
            answered = np.zeros(batch.num_rows, dtype=bool)
            answered[rows[first:last] - start] = True
            column = _as_labels(own, target)
            columns[target.name] = pc.replace_with_mask(column, pa.array(answered), given)
        yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
        start += batch.num_rows


def _sorted_labels(answers: dict[int, Event]) -> tuple[np.ndarray, list[Any]]:
    labels = sorted(
        (row, event.entry.value) for row, event in answers.items() if event.entry.answer == "label"
    )
    return np.array([row for row, _ in labels], dtype=np.int64), [value for _, value in labels]


def export_labels(store: LabelStore, out: Path) -> int:
    """A line for each answer that counts, with its row counted from 1; the lines written."""
    events = [
        event
        for target in store.targets()
        for event in store.answers(target.name).values()
        if event.entry.answer != "clear"
    ]
    lines = [
        (event.entry.row + 1, event.entry.target, event.entry.answer, _text(event.entry.value),
         event.entry.origin, event.time)
        for event in sorted(events, key=lambda event: event.number)
    ]  # fmt: skip
    types = [pa.int64(), *[pa.string()] * (len(LIST_COLUMNS) - 1)]
    schema = pa.schema(list(zip(LIST_COLUMNS, types, strict=True)))
    columns = [[line[j] for line in lines] for j in range(len(types))]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return write([pa.record_batch(arrays, schema=schema)], schema, out)


def _text(value: float | str | None) -> str | None:
    """Of a number all digits that tell it from its neighbours."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else value


def import_labels(store: LabelStore, pool: Pool, target: str, name: str, content: bytes) -> Imported:
    """Add the labels of a file, all of them or, if one is wrong, none.

    A label that differs from the one a row has already is not taken. Skipped and unsure rows of a list
    are taken where nothing was said so far.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
        A list of labels or a table; see ``incoming.read_labels``.
    """
    goal, names = store.target(target), [one.name for one in store.targets()]
    found = read_labels(name, content, goal, pool, besides=names)
    rows, values = own_labels(pool, goal)
    own = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for tries_left in reversed(range(_MOST_TRIES)):
        new, conflicts = _what_is_new(found.said, store.answers(target), own)
        entries = [
            Entry(uuid4().hex, target, one.row, one.answer, one.value, one.origin, expects)
            for one, expects in new
        ]
        names = [one.name for one in store.targets()]
        digests = pool.digests([entry.row for entry in entries], besides=names)
        try:
            store.record_all(entries, digests)
            break
        except ConflictError:
            if not tries_left:
                raise
    return _imported(len(new), conflicts, found)


def _what_is_new(
    said: list[Said], answers: dict[int, Event], own: dict[int, Any]
) -> tuple[list[tuple[Said, int]], int]:
    """What to record, each with the event that it follows, and how many labels differ."""
    new, conflicts = [], 0
    for one in said:
        last = answers.get(one.row)
        has_label = last is not None and last.entry.answer == "label"
        held = last.entry.value if last is not None and has_label else own.get(one.row)
        if one.answer == "label" and held is not None:
            conflicts += not _same(one.value, held)
        elif one.answer == "label" or (held is None and _is_open(last)):
            new.append((one, 0 if last is None else last.number))
    return new, conflicts


def _is_open(last: Event | None) -> bool:
    return last is None or last.entry.answer == "clear"


def _same(one: float | str | None, other: float | str) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_SAME_NUMBER)
    return one == other


def _imported(added: int, conflicts: int, found: Incoming) -> Imported:
    unchanged = len(found.said) - added - conflicts
    words = [f"{added:,} added"]
    if unchanged:
        words.append(f"{unchanged:,} here already")
    if conflicts:
        words.append(f"{conflicts:,} not taken, because another label is here")
    if found.of_others:
        words.append(f"{found.of_others:,} of other targets left out")
    return Imported(added, unchanged, conflicts, f"{'; '.join(words)}.")
