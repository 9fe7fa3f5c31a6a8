"""What a file of labels says of which rows."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.facts import kind_of
from twinviews.encoding.values import as_days, as_numbers, as_words
from twinviews.labeling.entries import Answer, Origin, Target
from twinviews.labeling.pool import Pool
from twinviews.reading import Reading, ReadingOptions, read

# Columns of a file with a line for each label; such a file is written by ``transfer.export_labels``.
LIST_COLUMNS = ("row", "target", "answer", "value", "origin", "time")
_LEAST_OF_A_LIST = {"row", "target", "value"}
# In front of text that a spreadsheet would take for a formula, written by ``reading.write``.
_APOSTROPHE = re.compile(r"^'(?=[=+\-@\t\r])")
# Between numbers, relative, and moments, in days, that were written and read by other programs.
_NUMBERS_DIFFER, _MOMENTS_DIFFER = 1e-6, 1 / 86_400


class Said(NamedTuple):
    """Of one row."""

    row: int
    answer: Answer
    value: float | str | None
    origin: Origin


class Incoming(NamedTuple):
    said: list[Said]  # each row once
    of_others: int  # lines about other targets


def read_labels(
    name: str, content: bytes, target: Target, pool: Pool, besides: Collection[str]
) -> Incoming:
    """Of a file in any format that is read: a list of labels, or a table with the target's column.

    A table says by a column "row" which rows it speaks of, counted from 1, or has all rows of the pool
    in their order; then its other columns, ``besides`` those of targets, must hold what the pool's do.
    """
    found = _read(name, content, target, pool, missing=None)
    names = {_plain(one).strip(): one for one in found.dataset.schema.names}
    if names.keys() >= _LEAST_OF_A_LIST:
        # Every letter counts: a class may be called NA.
        found = _read(name, content, target, pool, missing=())
        return _of_list(name, found, names, target, pool.n_rows)
    if target.name not in names:
        raise ValueError(
            f"{name} has no column {target.name!r}. Give it one, with a line for each row of the table "
            f"or a column row with their numbers, counted from 1."
        )
    with found.plain_errors():
        labels = _text(found, names[target.name])
        if "row" in names and "row" not in pool.schema.names:
            rows = _text(found, names["row"])
        else:
            rows = None
            _check_same_rows(name, found, names, target, pool, besides)
    said = []
    for line in np.flatnonzero(np.asarray(labels.is_valid())).tolist():
        with _in_line(name, line):
            row = line if rows is None else _row(rows[line].as_py(), pool.n_rows)
            value = target.read(_plain(labels[line].as_py()))
            said.append((line, Said(row, "label", value, "imported")))
    return Incoming(_each_once(name, said), 0)


def _read(
    name: str, content: bytes, target: Target, pool: Pool, missing: tuple[str, ...] | None
) -> Reading:
    """With text where labels and row numbers are, and what the pool has everywhere else."""
    known = {field.name: kind_of(field.type) for field in pool.schema if kind_of(field.type) != "empty"}
    text = dict.fromkeys((*LIST_COLUMNS, target.name), "category")
    others = {other: kind for other, kind in known.items() if other not in text}
    header = content.partition(b"\n")[0]
    delimiter = None if any(sign in header for sign in (b",", b";", b"\t", b"|")) else ","
    options = ReadingOptions(delimiter=delimiter, expected={**others, **text}, missing=missing)
    try:
        return read("-", options, stream=io.BytesIO(content))
    except ValueError as error:  # which calls what comes without a name standard input
        raise ValueError(str(error).replace("standard input", name)) from error


def _of_list(name: str, found: Reading, names: dict[str, str], target: Target, n_rows: int) -> Incoming:
    with found.plain_errors():
        columns = {one: _text(found, names[one]).to_pylist() for one in LIST_COLUMNS if one in names}
    n_lines = len(columns["row"])
    for one in LIST_COLUMNS:
        columns.setdefault(one, [None] * n_lines)
    said = []
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
            said.append((line, Said(row, answer, value, origin)))  # type: ignore[arg-type]
    if not said:
        targets = sorted({repr(_plain(one)) for one in columns["target"] if one is not None})
        raise ValueError(
            f"{name} has no labels of {target.name!r}, but of {', '.join(targets[:8]) or 'nothing'}. "
            f"Choose the target first, then the file."
        )
    return Incoming(_each_once(name, said), n_lines - len(said))


def _text(found: Reading, column: str) -> pa.ChunkedArray:
    return found.dataset.to_table(columns=[column]).column(0).cast(pa.string())


def _plain(text: str) -> str:
    """Without what writing has put in front of it."""
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


def _each_once(name: str, lines: Sequence[tuple[int, Said]]) -> list[Said]:
    """A row may be named twice only if the same is said of it."""
    found: dict[int, Said] = {}
    for line, said in lines:
        before = found.setdefault(said.row, said)
        if before[:3] != said[:3]:
            one, other = (each.answer if each.value is None else each.value for each in (before, said))
            with _in_line(name, line):
                raise ValueError(
                    f"row {said.row + 1:,} of the table is named twice, as {one!r} and as {other!r}. "
                    f"Keep one of them."
                )
    return list(found.values())


def _check_same_rows(
    name: str,
    found: Reading,
    names: dict[str, str],
    target: Target,
    pool: Pool,
    besides: Collection[str],
) -> None:
    """That a table without row numbers has the rows of the pool in their order."""
    numbers = "Give it a column row with the numbers of the rows, counted from 1"
    if found.n_rows != pool.n_rows:
        raise ValueError(
            f"{name} has {found.n_rows:,} rows, and the table has {pool.n_rows:,}. {numbers}."
        )
    apart = {target.name, *besides}
    shared = [one for one in pool.schema.names if one in names and one not in apart]
    start = 0
    with Pool(found) as given:
        for batch in pool.batches(shared):
            rows = given.rows(np.arange(start, start + batch.num_rows))
            for one in shared:
                ours, theirs = batch.column(one), rows.column(names[one]).combine_chunks()
                unlike = _first_unlike(one, ours, theirs)
                if unlike is not None:
                    with _in_line(name, start + unlike):
                        raise ValueError(
                            f"{one} is {theirs[unlike]}, and in that row of the table it is "
                            f"{ours[unlike]}. {numbers}, or leave out all columns but {target.name}."
                        )
            start += batch.num_rows


def _first_unlike(name: str, ours: pa.Array, theirs: pa.Array) -> int | None:
    kind = kind_of(ours.type)
    if kind == "category":
        words = [pc.utf8_trim_whitespace(as_words(one)) for one in (ours, theirs)]
        words[1] = pc.replace_substring_regex(words[1], r"^'([=+\-@])", r"\1")
        blank = [np.asarray(one.is_null()) for one in words]
        same = np.asarray(pc.fill_null(pc.equal(*words), False)) | (blank[0] & blank[1])
    elif kind == "date":
        x, y = as_days(name, ours), as_days(name, theirs)
        same = np.isclose(x, y, rtol=0, atol=_MOMENTS_DIFFER, equal_nan=True)
    else:
        x, y = as_numbers(name, ours), as_numbers(name, theirs)
        same = np.isclose(x, y, rtol=_NUMBERS_DIFFER, atol=0, equal_nan=True)
    return None if same.all() else int(np.flatnonzero(~same)[0])
