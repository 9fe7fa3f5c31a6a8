"""The file formats that the paper's sets are published in: bytes on disk -> named columns."""

from __future__ import annotations

import io
import zipfile
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

# Numbers are floats (NaN where missing); categories and other words are objects (None where missing).
Columns = dict[str, np.ndarray]


def read_parquet(path: Path) -> Columns:
    import pyarrow.parquet

    return columns_of(pyarrow.parquet.read_table(path))


def read_delimited(
    path: Path,
    member: str,
    *,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
    header: bool = True,
    skip: int = 0,
    blanks: Sequence[str] = ("", "NA", "NaN"),
) -> Columns:
    """A text table, or the member of a zip file; ``names`` where it has no header of its own."""
    from pyarrow import csv

    with opened(path, member) as file:
        table = csv.read_csv(
            file,
            read_options=csv.ReadOptions(
                column_names=names,
                autogenerate_column_names=names is None and not header,
                skip_rows=skip,
            ),
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, null_values=list(blanks)),
        )
    return columns_of(table)


def read_attribute_file(path: Path) -> Columns:
    """A table of KEEL: lines ``@attribute name ...``, a line ``@data``, then values and commas."""
    with path.open(encoding="utf-8") as file:
        header = [
            line.split() for line in takewhile(lambda line: line.strip().lower() != "@data", file)
        ]
    # A name may be followed by its levels without a space between.
    names = [words[1].split("{")[0] for words in header if words and words[0].lower() == "@attribute"]
    columns = read_delimited(path, path.name, names=names, skip=len(header) + 1)
    for name, values in columns.items():
        if values.dtype == object:  # a space may follow a comma
            columns[name] = np.array([word and word.strip() for word in values], dtype=object)
    return columns


def read_matrix(path: Path, member: str) -> np.ndarray:
    """Numbers with spaces between, one row a line, as in the challenges' .data and .label files."""
    with opened(path, member) as file, io.TextIOWrapper(file, "ascii") as text:
        return np.loadtxt(text, ndmin=2)


def read_matlab(path: Path, name: str) -> np.ndarray:
    """One matrix of a MATLAB file."""
    from scipy.io import loadmat

    found = loadmat(path, variable_names=[name])
    if name not in found:
        raise ValueError(f"{path} holds no matrix {name!r}. Is it the file it is said to be?")
    return np.asarray(found[name], dtype=float)


@contextmanager
def opened(path: Path, member: str) -> Iterator[IO[bytes]]:
    """The file itself, or that member of it if it is a zip, wherever in the archive it lies."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as plain:
            yield plain
        return
    with zipfile.ZipFile(path) as archive:
        found = [name for name in archive.namelist() if name.lower().split("/")[-1] == member.lower()]
        if not found:
            raise ValueError(
                f"{path} holds no {member!r}, only {', '.join(archive.namelist()[:8])}. Is it the "
                f"archive it is said to be?"
            )
        with archive.open(found[0]) as inside:
            yield inside


def numbered(matrix: np.ndarray, name: str = "x") -> Columns:
    """Columns named x1, x2, ..."""
    return {f"{name}{j}": column for j, column in enumerate(matrix.T, start=1)}


def columns_of(table: pa.Table) -> Columns:
    """Dates are counted in whatever unit the table has."""
    found: Columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if str(kind).startswith("dictionary"):
            column = column.cast(kind.value_type)
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "M":
            values = np.where(np.isnat(values), np.nan, values.astype(float))
        found[name] = values if values.dtype == object else values.astype(float)
    return found
