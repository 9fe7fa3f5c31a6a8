"""Labels in files: the table with its labels, or the labels alone, written and read again."""

from __future__ import annotations

import io
import math
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.entries import ConflictError, Entry, Event, LabelTarget, Origin
from twinviews.labeling.label_rounds import probability_of_rows
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.page_data import Imported
from twinviews.labeling.table_copy import (
    TableCopy,
    as_labels,
    label_type,
    row_fingerprints,
    table_labels,
)
from twinviews.reading import Reading, ReadingOptions, read, write
from twinviews.reading.arrow_kinds import kind_of_type as kind_of

# Columns of a list of labels, with a line for each answer, and those by which it is known.
LIST_COLUMNS = ("row", "target", "answer", "value", "origin", "time")
_LIST_NEEDS = {"row", "target", "value"}
_LABELS_ONLY = "labels.csv"
EXPORT_FORMS = ("csv", "parquet", _LABELS_ONLY)
# ``reading.write`` puts an apostrophe before text that a spreadsheet would take for a formula.
_APOSTROPHE = re.compile(r"^'(?=[=+\-@\t\r\n＝＋－＠])")
# Largest differences that writing and reading by other programs makes: of numbers, relative, and of
# times, in days; of labels, relative, after a spreadsheet.
_NUMBERS_DIFFER, _TIMES_DIFFER, _LABELS_DIFFER = 1e-6, 1 / 86_400, 1e-12
# Others may label while a file is read; the next try then sees their answers.
_MOST_TRIES = 10


# --- writing ----------------------------------------------------------------------------------------


def export(
    store: LabelStore, table: TableCopy, table_name: str, form: str, folder: Path
) -> tuple[str, Path]:
    """A file name to offer, and the exported file in a new folder inside ``folder``."""
    stem = Path(table_name).stem
    name = f"{stem}.{form}" if form == _LABELS_ONLY else f"{stem}.labeled.{form}"
    out = Path(tempfile.mkdtemp(dir=folder)) / name
    if form == _LABELS_ONLY:
        export_labels(store, table, out)
    else:
        export_table(store, table, out)
    return name, out


def export_table(store: LabelStore, table: TableCopy, out: Path) -> int:
    """Write the table with a column for each target, and return the number of rows.

    The ending of ``out`` decides on the format. The table's own labels stay where nobody has answered.
    """
    targets = store.targets()
    schema = schema_with_labels(table, targets)
    return write(labeled_batches(store, table, targets, schema), schema, out)


def schema_with_labels(table: TableCopy, targets: Sequence[LabelTarget]) -> pa.Schema:
    """The columns of the table, and one for each target."""
    types = {field.name: field.type for field in table.schema}
    types |= {target.name: label_type(target) for target in targets}
    return pa.schema(list(types.items()))


def labeled_batches(
    store: LabelStore, table: TableCopy, targets: Sequence[LabelTarget], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """All rows in their order, with the labels of the store, else those of the table."""
    answers = {target.name: store.answers(target.name) for target in targets}
    labels = {
        name: {row: one.entry.value for row, one in events.items() if one.entry.answer == "label"}
        for name, events in answers.items()
    }
    start = 0
    for batch in table.batches():
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        end = start + batch.num_rows
        for target in targets:
            own = as_labels(columns.get(target.name, pa.nulls(batch.num_rows)), target)
            given = [labels[target.name].get(row) for row in range(start, end)]
            columns[target.name] = pc.coalesce(pa.array(given, label_type(target)), own)
        yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
        start = end


def export_labels(store: LabelStore, table: TableCopy, out: Path) -> int:
    """Write a line for each answer in force, with its row counted from 1; return their number.

    Labels come with the probability with which their rows were given one.
    """
    events: list[Event] = []
    probability: dict[tuple[str, int], float] = {}
    for target in store.targets():
        answers = store.answers(target.name).values()
        events += [event for event in answers if event.entry.answer != "clear"]
        probability |= _probabilities(store, table, target)
    lines = [
        {
            **vars(event.entry),
            "row": event.entry.row + 1,
            "value": _text(event.entry.value),
            "time": event.time,
            "probability": probability.get((event.entry.target, event.entry.row)),
        }
        for event in sorted(events, key=lambda event: event.number)
    ]
    types = {"row": pa.int64(), "probability": pa.float64()}
    schema = pa.schema(
        [(name, types.get(name, pa.string())) for name in (*LIST_COLUMNS, "probability")]
    )
    return write(pa.Table.from_pylist(lines, schema).to_batches(), schema, out)


def how_of_rows(store: LabelStore, table: TableCopy, target: LabelTarget) -> dict[int, str]:
    """For each labeled row, how it was chosen; "given" if the table itself has the label."""
    rows, _ = table_labels(table, target)
    how = dict.fromkeys(rows.tolist(), "given")
    for row, event in store.answers(target.name).items():
        if event.entry.answer == "label":
            how[row] = event.entry.origin
    return how


def _probabilities(
    store: LabelStore, table: TableCopy, target: LabelTarget
) -> dict[tuple[str, int], float]:
    """With what probability each labeled row has its label, by target and row."""
    how = how_of_rows(store, table, target)
    rows = np.array(list(how), dtype=np.int64)
    found = probability_of_rows(rows, how, table.n_rows, store.rounds(target.name))
    return {(target.name, int(row)): float(p) for row, p in zip(rows, found, strict=True)}


def _text(value: float | str | None) -> str | None:
    """A label as text; of a number, all digits that distinguish it from other numbers."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else value


# --- reading ----------------------------------------------------------------------------------------


def import_labels(
    store: LabelStore, table: TableCopy, target: str, name: str, content: bytes
) -> Imported:
    """Add the labels of a file of this name and content: all of them or, if one is wrong, none.

    A label that differs from the one that a row has already is left out. Skipped and unsure rows of a
    list are added where there is no answer so far.
    """
    wanted, names = store.target(target), [one.name for one in store.targets()]
    answers, n_others = _read_answers(name, content, wanted, table, names)
    rows, values = table_labels(table, wanted)
    own = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for tries_left in reversed(range(_MOST_TRIES)):
        entries, conflicts = _new_entries(answers, store.answers(target), own)
        names = [one.name for one in store.targets()]
        fingerprints = row_fingerprints(table, [entry.row for entry in entries], names)
        try:
            store.record_all(entries, fingerprints)
            break
        except ConflictError:
            if not tries_left:
                raise
    added, unchanged = len(entries), len(answers) - len(entries) - conflicts
    words = {
        "added": added,
        "here already": unchanged,
        "not taken, because another label is here": conflicts,
        "of other targets left out": n_others,
    }
    told = [f"{n:,} {what}" for what, n in words.items() if n or what == "added"]
    return Imported(added, unchanged, conflicts, f"{'; '.join(told)}.")


def _new_entries(
    answers: list[Entry], events: dict[int, Event], own: dict[int, Any]
) -> tuple[list[Entry], int]:
    """What to record, and the number of labels that differ from those of the table or the store."""
    new, conflicts = [], 0
    for one in answers:
        last = events.get(one.row)
        said = "clear" if last is None else last.entry.answer
        held = last.entry.value if last is not None and said == "label" else own.get(one.row)
        if one.answer == "label" and held is not None:
            conflicts += not _is_same(one.value, held)
        elif one.answer == "label" or (held is None and said == "clear"):
            new.append(replace(one, expects=0 if last is None else last.number))
    return new, conflicts


def _is_same(one: float | str | None, other: float | str) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_LABELS_DIFFER)
    return one == other


def _read_answers(
    name: str, content: bytes, target: LabelTarget, table: TableCopy, excluded: Collection[str]
) -> tuple[list[Entry], int]:
    """The answers of a file in any format, one for each row, and the number of lines on other targets.

    A list of labels has a line for each. A table with the target's column has a column "row" with the
    numbers of its rows, counted from 1, or it has all rows in their order; then its columns, except for
    the ``excluded`` ones, must hold the same values.
    """
    found = _read(name, content, target, table, missing=None)
    names = {_plain(one).strip(): one for one in found.dataset.schema.names}
    is_list = names.keys() >= _LIST_NEEDS
    has_numbers = is_list or ("row" in names and "row" not in table.schema.names)
    if is_list:
        found = _read(name, content, target, table, missing=())  # a class may be called NA
    elif target.name not in names:
        raise ValueError(
            f"{name} has no column {target.name!r}. Give it one, with a line for each row of the table "
            f"or a column row with their numbers, counted from 1."
        )
    columns = {one: names[one] for one in (LIST_COLUMNS if is_list else ["row"]) if one in names}
    columns |= {} if is_list else {"value": names[target.name]}
    answers: dict[int, Entry] = {}
    others: list[str] = []
    with found.plain_errors():
        if not has_numbers:
            _check_same_rows(name, found, names, target, table, excluded)
        for number, line in enumerate(_lines(found, columns)):
            if is_list and _plain(line["target"] or "") != target.name:
                others.append(line["target"])
            elif is_list or line["value"] is not None:
                with _in_line(name, number):
                    row = _row(line["row"], table.n_rows) if has_numbers else number
                    _add(answers, _answer(row, line, target))
    if is_list and not answers:
        targets = sorted({repr(_plain(one)) for one in others if one is not None})
        raise ValueError(
            f"{name} has no labels of {target.name!r}, but of {', '.join(targets[:8]) or 'nothing'}. "
            f"Choose the target first, then the file."
        )
    return list(answers.values()), len(others)


def _read(
    name: str, content: bytes, target: LabelTarget, table: TableCopy, missing: tuple[str, ...] | None
) -> Reading:
    """The file, with labels and row numbers as text and other columns of the table's kinds."""
    kinds = {field.name: kind_of(field.type) for field in table.schema}
    kinds = {column: kind for column, kind in kinds.items() if kind != "empty"}
    expected = kinds | dict.fromkeys((*LIST_COLUMNS, target.name), "category")
    header = content.partition(b"\n")[0]
    delimiter = None if any(sign in header for sign in (b",", b";", b"\t", b"|")) else ","
    options = ReadingOptions(delimiter=delimiter, expected=expected, missing=missing)
    try:
        return read("-", options, stream=io.BytesIO(content))
    except ValueError as error:  # in which a stream is called standard input
        raise ValueError(str(error).replace("standard input", name)) from error


def _lines(found: Reading, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The rows of a file, some of its columns as text under other names."""
    wanted = {role: ds.field(column).cast(pa.string()) for role, column in columns.items()}
    for batch in found.dataset.to_batches(columns=wanted, use_threads=False):
        yield from batch.to_pylist()


def _plain(text: str) -> str:
    """A text without the apostrophe that writing has put before it."""
    return _APOSTROPHE.sub("", text)


@contextmanager
def _in_line(name: str, line: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}, row {line + 1:,} below the header: {error}") from None


def _row(text: str | None, n_rows: int) -> int:
    try:
        number = float(text or "")
    except ValueError:
        number = 0.0
    if not (number.is_integer() and 1 <= number <= n_rows):
        raise ValueError(f"row {text or ''!r} must be a whole number from 1 to {n_rows:,}.")
    return int(number) - 1


def _answer(row: int, line: dict[str, Any], target: LabelTarget) -> Entry:
    answer, origin = line.get("answer") or "label", line.get("origin") or "imported"
    if answer not in ("label", "skip", "unsure"):
        raise ValueError(f"answer {answer!r} must be label, skip or unsure.")
    if origin not in get_args(Origin):
        raise ValueError(f"origin {origin!r} must be one of {', '.join(get_args(Origin))}.")
    value = target.read(_plain(line["value"] or "")) if answer == "label" else None
    return Entry(uuid4().hex, target.name, row, answer, value, origin, expects=0)  # type: ignore[arg-type]


def _add(answers: dict[int, Entry], new: Entry) -> None:
    """Add an answer; an error if its row has another one already."""
    before = answers.setdefault(new.row, new)
    if (before.answer, before.value) != (new.answer, new.value):
        one, other = (each.answer if each.value is None else each.value for each in (before, new))
        raise ValueError(
            f"row {new.row + 1:,} of the table is named twice, as {one!r} and as {other!r}. Keep one "
            f"of them."
        )


def _check_same_rows(
    name: str,
    found: Reading,
    names: dict[str, str],
    target: LabelTarget,
    table: TableCopy,
    excluded: Collection[str],
) -> None:
    """Raise an error if a file without row numbers has other rows than the table."""
    numbers = "Give it a column row with the numbers of the rows, counted from 1"
    if found.n_rows != table.n_rows:
        raise ValueError(
            f"{name} has {found.n_rows:,} rows, and the table has {table.n_rows:,}. {numbers}."
        )
    compared = names.keys() - set(excluded)
    for one in [column for column in table.schema.names if column in compared]:
        ours = pa.Table.from_batches(table.batches([one])).column(0).combine_chunks()
        theirs = found.dataset.to_table(columns=[names[one]]).column(0).combine_chunks()
        different = np.flatnonzero(~_same_values(one, ours, theirs))
        if len(different):
            line = int(different[0])
            with _in_line(name, line):
                raise ValueError(
                    f"{one} is {theirs[line]}, and in that row of the table it is {ours[line]}. "
                    f"{numbers}, or leave out all columns but {target.name}."
                )


def _same_values(name: str, ours: pa.Array, theirs: pa.Array) -> np.ndarray:
    """(rows,) whether values agree as well as they do after a way through other programs."""
    kind = kind_of(ours.type)
    if kind == "category":
        words = [pc.utf8_trim_whitespace(pc.fill_null(as_words(one), "")) for one in (ours, theirs)]
        words[1] = pc.replace_substring_regex(words[1], r"^'([=+\-@＝＋－＠])", r"\1")
        return np.asarray(pc.equal(*words))
    if kind == "date":
        x, y = as_days(name, ours), as_days(name, theirs)
        return np.isclose(x, y, rtol=0, atol=_TIMES_DIFFER, equal_nan=True)
    x, y = as_numbers(name, ours), as_numbers(name, theirs)
    return np.isclose(x, y, rtol=_NUMBERS_DIFFER, atol=0, equal_nan=True)
