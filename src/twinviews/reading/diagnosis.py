"""Where a text table is wrong: a slow second look, line by line, that ends in one sentence."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import IO, NamedTuple, cast

from twinviews.reading.dialect import Dialect, undecodable


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


# No row that Arrow reads is longer, and a packed file can hold a line that no memory can.
_LONGEST_LINE = 1 << 23


class _LongLineError(Exception):
    """A line is longer than that."""


class _Record(NamedTuple):
    line: int  # in which it begins, from 1
    last_line: int
    cells: list[str]
    text: str


def _records(path: Path, dialect: Dialect) -> Generator[_Record, None, None]:
    """Header and rows, without what stands above and without blank lines."""
    lines: list[str] = []

    def remembered(text: io.TextIOWrapper) -> Iterator[str]:
        while line := text.readline(_LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                raise _LongLineError
            lines.append(line)
            yield line

    with io.TextIOWrapper(opened(path), dialect.encoding, newline="") as text:
        for _ in range(dialect.lines_above):
            next(text)
        reader = csv.reader(remembered(text), **dialect.csv_options)  # type: ignore[arg-type]
        before = 0
        for cells in reader:
            if cells:
                first = dialect.lines_above + before + 1
                yield _Record(first, dialect.lines_above + reader.line_num, cells, "".join(lines))
            before = reader.line_num
            lines.clear()


def what_is_wrong(path: Path, dialect: Dialect, source: str) -> str | None:
    """The first thing that is; None if there is none, but for a line that is too long.

    A row with another number of cells than the header, a quote that never closes, or a line that is not
    in the encoding.
    """
    expected = len(dialect.names)
    line = dialect.lines_above + 1
    try:
        with closing(_records(path, dialect)) as records:
            for record in records:
                line = record.last_line + 1
                if _never_closes(record, dialect):
                    return _open_quote(source, record.line, dialect)
                if len(record.cells) != expected:
                    return _ragged(source, record, expected, dialect)
    except csv.Error:  # the module's limit to the length of a cell
        return _open_quote(source, line, dialect)
    except _LongLineError:
        return None
    except UnicodeDecodeError as error:
        line = _undecodable_line(path, dialect.encoding) or line
        return undecodable(source, line, error.object[error.start : error.start + 2], dialect.encoding)
    return None


def _undecodable_line(path: Path, encoding: str) -> int | None:
    """Its number, in encodings in which every line can be decoded by itself."""
    if encoding.startswith(("utf-16", "utf-32")):
        return None
    with opened(path) as file:
        for number in count(1):
            line = file.readline(_LONGEST_LINE + 1)
            if not line or len(line) > _LONGEST_LINE:
                break
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return None


def _never_closes(record: _Record, dialect: Dialect) -> bool:
    if record.line == record.last_line and record.text.count(dialect.quote) % 2 == 0:
        return False
    reader = csv.reader(
        record.text.splitlines(keepends=True),
        strict=True,
        **dialect.csv_options,  # type: ignore[arg-type]
    )
    try:
        list(reader)
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _open_quote(source: str, line: int, dialect: Dialect) -> str:
    return (
        f"{source}, line {line}: a cell begins with {dialect.quote} and never ends. Close it, or write "
        f"{dialect.quote * 2} for a quote that belongs to the text."
    )


def _ragged(source: str, record: _Record, expected: int, dialect: Dialect) -> str:
    found = len(record.cells)
    where = f"line {record.line}"
    if record.last_line > record.line:
        where += f" to {record.last_line}"
    cells = "1 cell" if found == 1 else f"{found} cells"
    if found > expected:
        remedy = f"put cells that hold {dialect.delimiter!r} in quotes"
    else:
        remedy = "add what is missing (blank cells need their delimiters too)"
    if record.last_line > record.line:
        remedy = f"close the quote that opens in line {record.line}, or {remedy}"
    return (
        f"{source}, {where}: {cells}, but the header in line {dialect.lines_above + 1} has {expected} "
        f"columns. {remedy[0].upper()}{remedy[1:]}; if cells are not separated by "
        f"{dialect.delimiter!r}, use --delimiter."
    )


def line_of_row(paths: Sequence[Path], dialect: Dialect, row: int) -> tuple[Path, int]:
    """The file and the line in which a row begins; rows count from 0 below the header."""
    for path in paths:
        with closing(_records(path, dialect)) as records:
            next(records)
            for record in records:
                if row == 0:
                    return path, record.line
                row -= 1
    raise ValueError(f"There is no row {row} in {paths[-1]}.")
