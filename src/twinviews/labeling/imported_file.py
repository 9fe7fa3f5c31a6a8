"""A file with labels that is imported: which answers it has for which rows."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.entries import Answer, LabelTarget, Origin
from twinviews.labeling.label_export import LIST_COLUMNS
from twinviews.labeling.table_copy import TableCopy
from twinviews.reading import Reading, ReadingOptions, read
from twinviews.reading.arrow_kinds import kind_of_type as kind_of

# Columns by which a list of labels is known.
_LIST_NEEDS = {"row", "target", "value"}
# ``reading.write`` puts it before text that a spreadsheet would take for a formula.
_APOSTROPHE = re.compile(r"^'(?=[=+\-@\t\r])")
# Largest differences that writing and reading by other programs makes: of numbers, relative, and of
# times, in days.
_NUMBERS_DIFFER, _TIMES_DIFFER = 1e-6, 1 / 86_400


class ImportedAnswer(NamedTuple):
    """The answer of a file for one row."""

    row: int
    answer: Answer
    value: float | str | None
    origin: Origin


class ImportedFile(NamedTuple):
    """The answers of a file for one target."""

    answers: list[ImportedAnswer]  # one for each row
    n_other_targets: int  # lines about other targets


def read_imported_file(
    name: str, content: bytes, target: LabelTarget, table: TableCopy, excluded: Collection[str]
) -> ImportedFile:
    """The answers of a file in any format: a list of labels, or a table with the target's column.

    A table has a column "row" with the numbers of its rows, counted from 1, or it has all rows in their
    order; then its columns, except for the ``excluded`` ones, must hold the same values.
    """
    found = _read(name, content, target, table, missing=None)
    names = {_plain(one).strip(): one for one in found.dataset.schema.names}
    if names.keys() >= _LIST_NEEDS:
        # A class may be called NA.
        found = _read(name, content, target, table, missing=())
        return _read_list(name, found, names, target, table.n_rows)
    if target.name not in names:
        raise ValueError(
            f"{name} has no column {target.name!r}. Give it one, with a line for each row of the table "
            f"or a column row with their numbers, counted from 1."
        )
    with found.plain_errors():
        labels = _text(found, names[target.name])
        if "row" in names and "row" not in table.schema.names:
            rows = _text(found, names["row"])
        else:
            rows = None
            _check_same_rows(name, found, names, target, table, excluded)
    answers = []
    for line in np.flatnonzero(np.asarray(labels.is_valid())).tolist():
        with _in_line(name, line):
            row = line if rows is None else _row(rows[line].as_py(), table.n_rows)
            value = target.read(_plain(labels[line].as_py()))
            answers.append((line, ImportedAnswer(row, "label", value, "imported")))
    return ImportedFile(_each_row_once(name, answers), 0)


def _read(
    name: str, content: bytes, target: LabelTarget, table: TableCopy, missing: tuple[str, ...] | None
) -> Reading:
    """The file, with labels and row numbers as text and other columns of the table's kinds."""
    known = {
        field.name: kind_of(field.type) for field in table.schema if kind_of(field.type) != "empty"
    }
    text = dict.fromkeys((*LIST_COLUMNS, target.name), "category")
    others = {other: kind for other, kind in known.items() if other not in text}
    header = content.partition(b"\n")[0]
    delimiter = None if any(sign in header for sign in (b",", b";", b"\t", b"|")) else ","
    options = ReadingOptions(delimiter=delimiter, expected={**others, **text}, missing=missing)
    try:
        return read("-", options, stream=io.BytesIO(content))
    except ValueError as error:  # in which a stream is called standard input
        raise ValueError(str(error).replace("standard input", name)) from error


def _read_list(
    name: str, found: Reading, names: dict[str, str], target: LabelTarget, n_rows: int
) -> ImportedFile:
    with found.plain_errors():
        columns = {one: _text(found, names[one]).to_pylist() for one in LIST_COLUMNS if one in names}
    n_lines = len(columns["row"])
    for one in LIST_COLUMNS:
        columns.setdefault(one, [None] * n_lines)
    answers = []
    for line in range(n_lines):
        if _plain(columns["target"][line] or "") != target.name:
            continue
        with _in_line(name, line):
            row = _row(columns["row"][line], n_rows)
            answer = columns["answer"][line] or "label"
            if answer not in ("label", "skip", "unsure"):
                raise ValueError(f"answer {answer!r} must be label, skip or unsure.")
            value = target.read(_plain(columns["value"][line] or "")) if answer == "label" else None
            origin = columns["origin"][line] or "imported"
            if origin not in get_args(Origin):
                raise ValueError(f"origin {origin!r} must be one of {', '.join(get_args(Origin))}.")
            answers.append((line, ImportedAnswer(row, answer, value, origin)))  # type: ignore[arg-type]
    if not answers:
        targets = sorted({repr(_plain(one)) for one in columns["target"] if one is not None})
        raise ValueError(
            f"{name} has no labels of {target.name!r}, but of {', '.join(targets[:8]) or 'nothing'}. "
            f"Choose the target first, then the file."
        )
    return ImportedFile(_each_row_once(name, answers), n_lines - len(answers))


def _text(found: Reading, column: str) -> pa.ChunkedArray:
    return found.dataset.to_table(columns=[column]).column(0).cast(pa.string())


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


def _each_row_once(name: str, lines: Sequence[tuple[int, ImportedAnswer]]) -> list[ImportedAnswer]:
    """The answers, one for each row; an error if a row has two different ones."""
    found: dict[int, ImportedAnswer] = {}
    for line, answer in lines:
        before = found.setdefault(answer.row, answer)
        if before[:3] != answer[:3]:
            one, other = (
                each.answer if each.value is None else each.value for each in (before, answer)
            )
            with _in_line(name, line):
                raise ValueError(
                    f"row {answer.row + 1:,} of the table is named twice, as {one!r} and as {other!r}. "
                    f"Keep one of them."
                )
    return list(found.values())


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
    not_compared = {target.name, *excluded}
    shared = [one for one in table.schema.names if one in names and one not in not_compared]
    start = 0
    with TableCopy(found) as given:
        for batch in table.batches(shared):
            rows = given.rows(np.arange(start, start + batch.num_rows))
            for one in shared:
                ours, theirs = batch.column(one), rows.column(names[one]).combine_chunks()
                different = _first_difference(one, ours, theirs)
                if different is not None:
                    with _in_line(name, start + different):
                        raise ValueError(
                            f"{one} is {theirs[different]}, and in that row of the table it is "
                            f"{ours[different]}. {numbers}, or leave out all columns but {target.name}."
                        )
            start += batch.num_rows


def _first_difference(name: str, ours: pa.Array, theirs: pa.Array) -> int | None:
    kind = kind_of(ours.type)
    if kind == "category":
        words = [pc.utf8_trim_whitespace(as_words(one)) for one in (ours, theirs)]
        words[1] = pc.replace_substring_regex(words[1], r"^'([=+\-@])", r"\1")
        blank = [np.asarray(one.is_null()) for one in words]
        same = np.asarray(pc.fill_null(pc.equal(*words), False)) | (blank[0] & blank[1])
    elif kind == "date":
        x, y = as_days(name, ours), as_days(name, theirs)
        same = np.isclose(x, y, rtol=0, atol=_TIMES_DIFFER, equal_nan=True)
    else:
        x, y = as_numbers(name, ours), as_numbers(name, theirs)
        same = np.isclose(x, y, rtol=_NUMBERS_DIFFER, atol=0, equal_nan=True)
    return None if same.all() else int(np.flatnonzero(~same)[0])
