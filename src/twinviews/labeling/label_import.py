"""Labels of an imported file, added to the stored ones."""

from __future__ import annotations

import math
from typing import Any
from uuid import uuid4

from twinviews.labeling.entries import ConflictError, Entry, Event
from twinviews.labeling.imported_file import ImportedAnswer, ImportedFile, read_imported_file
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.page_data import Imported
from twinviews.labeling.row_fingerprints import row_fingerprints
from twinviews.labeling.table_copy import TableCopy
from twinviews.labeling.table_labels import table_labels

# Relative difference of numbers that a spreadsheet may have rounded.
_SAME_NUMBER = 1e-12
# Others may label while a file is read; the next try then sees their answers.
_MOST_TRIES = 10


def import_labels(
    store: LabelStore, table: TableCopy, target: str, name: str, content: bytes
) -> Imported:
    """Add the labels of a file: all of them or, if one is wrong, none.

    A label that differs from the one that a row has already is left out. Skipped and unsure rows of a
    list are added where there is no answer so far.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
        A list of labels or a table; see ``imported_file``.
    """
    wanted, names = store.target(target), [one.name for one in store.targets()]
    found = read_imported_file(name, content, wanted, table, names)
    rows, values = table_labels(table, wanted)
    own = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for tries_left in reversed(range(_MOST_TRIES)):
        new, conflicts = _new_answers(found.answers, store.answers(target), own)
        entries = [
            Entry(uuid4().hex, target, one.row, one.answer, one.value, one.origin, expects)
            for one, expects in new
        ]
        names = [one.name for one in store.targets()]
        fingerprints = row_fingerprints(table, [entry.row for entry in entries], names)
        try:
            store.record_all(entries, fingerprints)
            break
        except ConflictError:
            if not tries_left:
                raise
    return _imported(len(new), conflicts, found)


def _new_answers(
    imported: list[ImportedAnswer], answers: dict[int, Event], own: dict[int, Any]
) -> tuple[list[tuple[ImportedAnswer, int]], int]:
    """What to record, each with the event that it follows, and the number of labels that differ."""
    new, conflicts = [], 0
    for one in imported:
        last = answers.get(one.row)
        has_label = last is not None and last.entry.answer == "label"
        held = last.entry.value if last is not None and has_label else own.get(one.row)
        if one.answer == "label" and held is not None:
            conflicts += not _same(one.value, held)
        elif one.answer == "label" or (held is None and _is_unanswered(last)):
            new.append((one, 0 if last is None else last.number))
    return new, conflicts


def _is_unanswered(last: Event | None) -> bool:
    return last is None or last.entry.answer == "clear"


def _same(one: float | str | None, other: float | str) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_SAME_NUMBER)
    return one == other


def _imported(added: int, conflicts: int, found: ImportedFile) -> Imported:
    unchanged = len(found.answers) - added - conflicts
    words = [f"{added:,} added"]
    if unchanged:
        words.append(f"{unchanged:,} here already")
    if conflicts:
        words.append(f"{conflicts:,} not taken, because another label is here")
    if found.n_other_targets:
        words.append(f"{found.n_other_targets:,} of other targets left out")
    return Imported(added, unchanged, conflicts, f"{'; '.join(words)}.")
