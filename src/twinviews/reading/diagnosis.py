"""Where a text table is wrong: a slow second look, line by line, that ends in one sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from twinviews.reading.copies import opened
from twinviews.reading.dialect import Cut, Dialect, undecodable

# No row that Arrow reads is longer, and a packed file can hold a line that no memory can.
_LONGEST_LINE = 1 << 23


class _WrongLineError(Exception):
    """A line that cannot be read; with a sentence, unless it is too long."""


class _Record(NamedTuple):
    line: int  # in which it begins, from 1
    last_line: int
    cells: list[str]
    text: str


def _lines(path: Path, dialect: Dialect) -> Iterator[str]:
    with io.TextIOWrapper(opened(path), dialect.encoding, newline="") as text:  # type: ignore[type-var]
        number = 1
        try:
            while line := text.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise _WrongLineError
                yield line
                number += 1
        except UnicodeDecodeError as error:
            raise _WrongLineError(undecodable(number, error, dialect.encoding)) from None


def _records(path: Path, dialect: Dialect) -> Iterator[_Record]:
    """Header and rows, without what stands above and without blank lines."""
    lines: list[str] = []
    last_line = dialect.lines_above

    def remembered() -> Iterator[str]:
        for line in islice(_lines(path, dialect), last_line, None):
            lines.append(line)
            yield line

    for cells in dialect.cut.reader(remembered()):
        first_line, last_line = last_line + 1, last_line + len(lines)
        if cells:
            yield _Record(first_line, last_line, cells, "".join(lines))
        lines.clear()


def what_is_wrong(path: Path, dialect: Dialect) -> str | None:
    """The first thing that is, from its line on; None if there is none, but for a line too long.

    A row with another number of cells than the header, a quote that never closes, or a line that is not
    in the encoding.
    """
    line = dialect.lines_above + 1
    try:
        for record in _records(path, dialect):
            line = record.line
            if _never_closes(record, dialect.cut):
                return _open_quote(line, dialect.cut)
            if len(record.cells) != len(dialect.names):
                return _ragged(record, dialect)
            line = record.last_line + 1
    except csv.Error:  # the module's limit to the length of a cell
        return _open_quote(line, dialect.cut)
    except _WrongLineError as error:
        return str(error) or None
    return None


def _never_closes(record: _Record, cut: Cut) -> bool:
    if record.line == record.last_line and record.text.count(cut.quote) % 2 == 0:
        return False
    try:
        list(cut.reader(record.text.splitlines(keepends=True), strict=True))
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _open_quote(line: int, cut: Cut) -> str:
    return (
        f"line {line}: a cell begins with {cut.quote} and never ends. Close it, or write "
        f"{cut.quote * 2} for a quote that belongs to the text."
    )


def _ragged(record: _Record, dialect: Dialect) -> str:
    found, expected, delimiter = len(record.cells), len(dialect.names), dialect.cut.delimiter
    where = f"line {record.line}"
    remedy = "add what is missing (blank cells need their delimiters too)"
    if found > expected:
        remedy = f"put cells that hold {delimiter!r} in quotes"
    if record.last_line > record.line:
        where += f" to {record.last_line}"
        remedy = f"close the quote that opens in line {record.line}, or {remedy}"
    return (
        f"{where}: {'1 cell' if found == 1 else f'{found} cells'}, but the header in line "
        f"{dialect.lines_above + 1} has {expected} columns. {remedy[0].upper()}{remedy[1:]}; if cells "
        f"are not separated by {delimiter!r}, use --delimiter."
    )


def line_of_row(paths: Sequence[Path], dialect: Dialect, row: int) -> tuple[Path, int]:
    """The file and the line in which a row begins; rows count from 0 below the header."""
    rows = (
        (path, record.line) for path in paths for record in islice(_records(path, dialect), 1, None)
    )
    return next(islice(rows, row, None))
