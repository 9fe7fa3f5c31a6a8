"""From what a user names to a typed table: what a file is, its first bytes say, not its name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from pyarrow.fs import LocalFileSystem

from twinviews._system.unchanged_files import SameFiles
from twinviews.reading.columnar import read_columnar, read_stream
from twinviews.reading.copies import read_standard_input
from twinviews.reading.delimited import read_delimited
from twinviews.reading.diagnosis import opened
from twinviews.reading.findings import Reading
from twinviews.reading.json_lines import read_json_lines
from twinviews.reading.options import ReadingOptions
from twinviews.reading.workbook import read_workbook

STANDARD_INPUT = "-"
# What files may be, in words.
_FORMS = {
    "parquet": "a Parquet file",
    "ipc": "an Arrow file",
    "stream": "an Arrow stream",
    "workbook": "a workbook",
    "json": "JSON lines",
    "delimited": "CSV",
}
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "ipc"),
    (b"\xff\xff\xff\xff", "stream"),
    (b"PK\x03\x04", "workbook"),
    (b"\xd0\xcf\x11\xe0", "workbook"),
)
# First bytes of what people take for tables, what it is, and the remedy.
_NO_TABLES = (
    (b"%PDF", "a PDF", "Save the table as CSV"),
    (b"SQLite format 3", "a database", "Write the table to a CSV file"),
    (b"\x89PNG", "a picture", "Type the table, or find its source"),
    (b"\xff\xd8\xff", "a picture", "Type the table, or find its source"),
    (b"\x93NUMPY", "a NumPy array", "Save it as Parquet or CSV, with names of columns"),
    (b"\x80\x04\x95", "a pickle, which can run programs", "Save the table as Parquet or CSV"),
    (b"<", "a web page or XML", "Save the table as CSV"),
    (b"BZh", "packed by bzip2", "Unpack it first"),
    (b"\xfd7zXZ", "packed by xz", "Unpack it first"),
    (b"(\xb5/\xfd", "packed by zstd", "Unpack it first"),
)


def read(
    source: str | Path, options: ReadingOptions | None = None, *, stream: BinaryIO | None = None
) -> Reading:
    """A table as a typed data set: CSV, TSV, Excel, Parquet, Arrow, JSON lines.

    Parameters
    ----------
    source : path or "-"
        A file, a folder of files that are one table, or standard input.
    options : ReadingOptions, optional
        What is known of the table; the rest is found out, and said in ``Reading.guesses``.
    stream : file, optional
        Read instead of standard input.

    Returns
    -------
    Reading

    Raises
    ------
    ValueError
        If it is no table or a wrong one: one line with the place and the remedy.

    Examples
    --------
    >>> import io
    >>> table = read("-", stream=io.BytesIO(b"id;price;sold\\n1;2,50;31.12.2024\\n2;;1.1.2025\\n"))
    >>> [(column.name, column.kind) for column in table.columns]
    [('id', 'number'), ('price', 'number'), ('sold', 'date')]
    >>> for guess in table.guesses:
    ...     print(guess)
    delimiter ';' (--delimiter)
    encoding utf-8 (--encoding)
    decimal ',' (--decimal)
    columns 2 number, 1 date (--kind NAME=number|category|date|boolean|skip)
    >>> table.dataset.to_table()["price"].to_pylist()
    [2.5, None]
    """
    options = options or ReadingOptions()
    files = SameFiles.at(LocalFileSystem(), [str(path) for path in _files_of(Path(source))])
    with files.held():  # what was found out of a file must be true of it when it is read again
        found = _read(source, options, stream)
        found = replace(found, files=SameFiles.of(found.dataset))
    return found if options.missing is None else replace(found, missing=options.missing)


def _files_of(path: Path) -> list[Path]:
    """Those that can be read again; in a folder, names that begin with a dot or underscore are none."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    found: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=_refuse):
        folders[:] = filter(_is_shown, folders)
        found += [Path(folder) / name for name in filter(_is_shown, names)]
    return sorted(one for one in found if one.is_file())


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))


def _refuse(error: OSError) -> None:
    """A folder that may not be read is not an empty one."""
    raise error


def _read(source: str | Path, options: ReadingOptions, stream: BinaryIO | None) -> Reading:
    if str(source) == STANDARD_INPUT:
        return read_standard_input(lambda path: _read_file(path, options, "standard input"), stream)
    path = Path(source)
    if path.is_dir():
        return _read_folder(path, options)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}. Check the path{_alike(path)}")
    if not path.is_file():  # a pipe can be read once, like standard input
        with path.open("rb") as pipe:
            return read_standard_input(lambda copy: _read_file(copy, options, str(path)), pipe)
    return _read_file(path, options, str(path))


def _alike(path: Path) -> str:
    """A file beside it whose name differs in its ending or in capitals only."""
    if not path.parent.is_dir():
        return ""
    same = [one.name for one in path.parent.iterdir() if one.stem.lower() == path.stem.lower()]
    return f"; did you mean {min(same)}?" if same else ""


def _read_file(path: Path, options: ReadingOptions, source: str) -> Reading:
    with _plain_gzip_errors(path, source):
        form = _form_of(path, source)
        if form in ("parquet", "ipc"):
            return read_columnar(path, form, options, source)
        if form == "stream":
            return read_stream(path, options, source)
        if form == "workbook":
            return read_workbook(path, options, source)
        reader = read_json_lines if form == "json" else read_delimited
        return reader([path], options, source)


def _form_of(path: Path, source: str) -> str:
    """What a file is: a key of ``_FORMS``."""
    with path.open("rb") as file:
        first = file.read(4096)
    for magic, form in _MAGIC:
        if first.startswith(magic):
            return form
    if first.startswith(b"\x1f\x8b") or path.suffix == ".gz":
        if path.suffix != ".gz":
            raise ValueError(
                f"{source} is packed by gzip. Give its name the ending .gz, or unpack it first."
            )
        with opened(path) as file:
            first = file.read(4096)
    for magic, what, remedy in _NO_TABLES:
        if first.lstrip().startswith(magic):
            raise ValueError(f"{source} is {what}, not a table. {remedy}.")
    start = first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"[":
        raise ValueError(
            f"{source} is one JSON list. Write one object a line, without brackets and commas between."
        )
    return "json" if start == b"{" else "delimited"


@contextmanager
def _plain_gzip_errors(path: Path, source: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error):
        if path.suffix != ".gz":
            raise
        raise ValueError(f"{source} is a gzip file cut short or damaged. Pack it again.") from None


def _read_folder(folder: Path, options: ReadingOptions) -> Reading:
    """Files of one kind."""
    files = _files_of(folder)
    if not files:
        raise ValueError(f"The folder {str(folder)!r} has no files. Name a table.")
    form = _one_form_of(files)
    if form in ("parquet", "ipc"):
        return read_columnar(folder, form, options, str(folder))
    reader = read_json_lines if form == "json" else read_delimited
    with _plain_gzip_errors(files[0], f"A file of {folder}"):
        return reader(files, options, str(folder))


def _one_form_of(files: Sequence[Path]) -> str:
    forms: dict[str, Path] = {}
    for path in files:
        with _plain_gzip_errors(path, str(path)):
            forms.setdefault(_form_of(path, str(path)), path)
    if len(forms) > 1:
        (one, first), (other, second) = list(forms.items())[:2]
        raise ValueError(
            f"{second} is {_FORMS[other]}, but {first} is {_FORMS[one]}. Files that are one table need "
            f"one format."
        )
    ((form, path),) = forms.items()
    if form in ("workbook", "stream"):
        raise ValueError(
            f"{path} is {_FORMS[form]}, of which folders are not read. Name one file, or write them as "
            f"CSV or Parquet."
        )
    return form
