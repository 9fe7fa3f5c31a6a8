"""From what a user names to a typed table: what a file is, its first bytes say, not its name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from pyarrow.fs import LocalFileSystem

from twinviews._system.unchanged_files import SameFiles
from twinviews.reading.copies import opened, read_standard_input
from twinviews.reading.findings import Reading
from twinviews.reading.formats import DELIMITED, JSON_LINES, FileFormat, recognised
from twinviews.reading.options import ReadingOptions

STANDARD_INPUT = "-"
# What a user may name: one file or folder, or several files that are one table.
Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
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
    source: Source, options: ReadingOptions | None = None, *, stream: BinaryIO | None = None
) -> Reading:
    """A table as a typed data set: CSV, TSV, Excel, Parquet, Arrow, JSON lines.

    Parameters
    ----------
    source : path, list of paths or "-"
        A file, a folder of files that are one table, several such files, or standard input.
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
    if isinstance(source, str | os.PathLike):
        source = [source]
    paths = [Path(one) for one in source]
    files = [str(file) for path in paths for file in _files_of(path)]
    held = SameFiles.at(LocalFileSystem(), files)
    with held.held():  # what was found out of a file must be true of it when it is read again
        found = replace(_read_paths(paths, options, stream), files=held)
    return found if options.missing is None else replace(found, missing=options.missing)


def written_like(
    options: ReadingOptions | None,
    expected: Mapping[str, str] | None,
    missing: Sequence[str] | None,
) -> ReadingOptions:
    """Options for more rows of a table of which this was found out, where they do not say otherwise."""
    options = options or ReadingOptions()
    if options.missing is None and missing is not None:
        options = replace(options, missing=tuple(missing))
    return replace(options, expected=expected or options.expected)


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


def _read_paths(paths: Sequence[Path], options: ReadingOptions, stream: BinaryIO | None) -> Reading:
    """A file, a folder, a pipe, or files that the user named one by one."""
    if not paths:
        raise ValueError("The list of files is empty. Name at least one.")
    if [str(path) for path in paths] == [STANDARD_INPUT]:
        return read_standard_input(lambda copy: _read_files([copy], options, "standard input"), stream)
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"There is no file {str(path)!r}. Check the path{_alike(path)}")
    path, *others = paths
    if others:
        more = "another file" if len(others) == 1 else f"{len(others)} other files"
        return _read_files(paths, options, f"{path} and {more}")
    if path.is_dir():
        files = _files_of(path)
        if not files:
            raise ValueError(f"The folder {str(path)!r} has no files. Name a table.")
        return _read_files(files, options, str(path))
    if not path.is_file():  # a pipe can be read once, like standard input
        with path.open("rb") as pipe:
            return read_standard_input(lambda copy: _read_files([copy], options, str(path)), pipe)
    return _read_files(paths, options, str(path))


def _alike(path: Path) -> str:
    """A file beside it whose name differs in its ending or in capitals only."""
    if not path.parent.is_dir():
        return ""
    same = [one.name for one in path.parent.iterdir() if one.stem.lower() == path.stem.lower()]
    return f"; did you mean {min(same)}?" if same else ""


def _read_files(files: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """Files of one format that are one table."""
    is_one = len(files) == 1 and not Path(source).is_dir()
    forms: dict[FileFormat, Path] = {}
    for path in files:
        name = source if is_one else str(path)
        with _plain_gzip_errors(path, name):
            forms.setdefault(_format_of(path, name), path)
    (form, first), *others = forms.items()
    for other, path in others:
        raise ValueError(
            f"{path} is {other.name}, but {first} is {form.name}. Files that are one table need one "
            f"format."
        )
    if form.one_file and len(files) > 1:
        raise ValueError(
            f"{first} is {form.name}, of which folders are not read. Name one file, or write them as "
            f"CSV or Parquet."
        )
    assert form.read is not None, "only those that are read are recognised"
    with _plain_gzip_errors(first, source if is_one else f"A file of {source}"):
        return form.read(files, options, source)


def _format_of(path: Path, source: str) -> FileFormat:
    """What a file is."""
    with path.open("rb") as file:
        first = file.read(4096)
    if (form := recognised(path, first)) is not None:
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
    return JSON_LINES if start == b"{" else DELIMITED


@contextmanager
def _plain_gzip_errors(path: Path, source: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error):
        if path.suffix != ".gz":
            raise
        raise ValueError(f"{source} is a gzip file cut short or damaged. Pack it again.") from None
