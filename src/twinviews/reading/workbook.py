"""Excel workbooks: one sheet, in memory, typed by what its cells hold and say."""

from __future__ import annotations

import datetime
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from twinviews.reading.dialect import column_names
from twinviews.reading.findings import Guess, Reading
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, find_types

# What a workbook may unpack to; a full sheet of Excel's million rows by 50 columns is about this large.
_MOST_UNPACKED_BYTES = 2 << 30
# From here on whole numbers in a float have digits that are not there.
_EXACT_BELOW = 1e15


def read_workbook(paths: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """One sheet of a workbook."""
    (path,) = paths
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError as error:
        raise ImportError(
            "For Excel files python-calamine is needed, which is not installed: pip install "
            "'twinviews[excel]'. Or save the sheet as CSV."
        ) from error
    _check_size(path, source)
    try:
        book = CalamineWorkbook.from_path(str(path))
        sheets = book.sheet_names
        if not sheets:
            raise _unreadable(source)
        sheet = options.sheet or sheets[0]
        if sheet not in sheets:
            raise ValueError(f"{source} has no sheet {sheet!r}. It has {', '.join(sheets)}.")
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    except CalamineError:
        raise _unreadable(source) from None
    start = _header_row(rows)
    if start is None or start + 1 == len(rows):
        raise ValueError(
            f"{source}: sheet {sheet!r} has no rows below a header. Name another with --sheet: "
            f"{', '.join(sheets)}."
        )
    used = [j for j in range(len(rows[start])) if any(row[j] != "" for row in rows[start:])]
    names, guesses = column_names([_as_text(rows[start][j]) or "" for j in used])
    check_names(options, names, source)
    # Row numbers are Excel's; blank rows, such as those at its end, are none.
    filled = [i for i in range(start + 1, len(rows)) if any(rows[i][j] != "" for j in used)]
    text = pa.record_batch(
        [pa.array([_as_text(rows[i][j]) for i in filled], pa.string()) for j in used], names
    )
    typing = find_types([text], names, options, lambda row: f"{source}, row {filled[row] + 1}")
    dataset = ds.dataset(pa.Table.from_batches(typing.convert([text])))
    if len(sheets) > 1:
        guesses.insert(0, Guess(f"sheet {sheet!r} of {len(sheets)}", "--sheet"))
    if start:
        guesses.append(Guess(f"header in row {start + 1}, what is above it left out"))
    return typing.reading(source, dataset, guesses)


def _check_size(path: Path, source: str) -> None:
    """That a workbook does not unpack to more than the memory can hold, before anything is unpacked."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return  # the format of before 2007, which is not packed
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            # Reads no further than the sizes that were said, and tells if they are wrong.
            broken = None if size > _MOST_UNPACKED_BYTES else archive.testzip()
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
        raise _unreadable(source) from None
    if size > _MOST_UNPACKED_BYTES:
        raise ValueError(
            f"{source} unpacks to {size:,} bytes, more than the {_MOST_UNPACKED_BYTES:,} that are read "
            f"of a workbook. Save the sheet as CSV."
        )
    if broken is not None:
        raise _unreadable(source)


def _unreadable(source: str) -> ValueError:
    return ValueError(
        f"{source} cannot be read as a workbook: it is damaged, locked by a password or another kind "
        f"of archive. Save it again, or save the sheet as CSV."
    )


def _header_row(rows: list[list[Any]]) -> int | None:
    """The first with at least half as many filled cells as the fullest: titles have one or two."""
    filled = [sum(cell != "" for cell in row) for row in rows]
    most = max(filled, default=0)
    return next((i for i, count in enumerate(filled) if 2 * count >= most), None) if most else None


def _as_text(cell: Any) -> str | None:
    """As a CSV of the sheet would have it."""
    if cell == "" or cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime.timedelta):
        return repr(cell.total_seconds())
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT_BELOW:
        return str(int(cell))
    return str(cell)
