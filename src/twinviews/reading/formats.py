"""File formats: how each is recognised, read and written. A new one is registered here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from twinviews.reading.columnar import read_columnar, read_stream
from twinviews.reading.delimited import read_delimited
from twinviews.reading.findings import Reading
from twinviews.reading.json_lines import read_json_lines
from twinviews.reading.options import ReadingOptions
from twinviews.reading.workbook import read_workbook
from twinviews.reading.writers import CsvWriter, JsonLinesWriter, WorkbookWriter


class BatchWriter(Protocol):
    """What a format opens to write a file: batches one after the other, then the end."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


Reader = Callable[[Sequence[Path], ReadingOptions, str], Reading]
WriterOpener = Callable[[Path, pa.Schema, bool], BatchWriter]


@dataclass(frozen=True)
class FileFormat:
    """A format of files that hold a table.

    Parameters
    ----------
    name : str
        In messages, with its article: "a Parquet file".
    endings : tuple of str
        Of the names of files that are written in it; without ``begins`` of those that are read, too.
    begins : tuple of bytes
        How its files begin, which is what tells a format, whatever a file is called.
    read : callable, optional
        From the files of one table, the user's options and the name of the table in messages to a
        ``Reading``.
    open_writer : callable, optional
        From a path, a schema and whether text that looks like a formula is written as it is, to an
        object with ``write(batch)`` and ``close()``.
    one_file : bool
        Whether a table is a single file, so that folders of them are refused.
    """

    name: str
    endings: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    read: Reader | None = None
    open_writer: WriterOpener | None = None
    one_file: bool = False

    def recognises(self, path: Path, first: bytes) -> bool:
        """Whether a file that begins with these bytes is of this format."""
        if self.read is None:
            return False
        return first.startswith(self.begins) if self.begins else path.name.endswith(self.endings)


# Text has no first bytes of its own: what a file is that no other format recognises.
JSON_LINES = FileFormat("JSON lines", read=read_json_lines)
DELIMITED = FileFormat("CSV", read=read_delimited)
# In the order in which messages name their endings.
_FORMATS = [
    FileFormat("CSV", (".csv",), open_writer=CsvWriter),
    FileFormat("CSV", (".tsv",), open_writer=partial(CsvWriter, delimiter="\t")),
    FileFormat(
        "a Parquet file",
        (".parquet",),
        begins=(b"PAR1",),
        read=partial(read_columnar, form="parquet"),
        open_writer=lambda path, schema, formulas: pq.ParquetWriter(path, schema),
    ),
    FileFormat(
        "an Arrow file",
        (".arrow",),
        begins=(b"ARROW1",),
        read=read_columnar,
        open_writer=lambda path, schema, formulas: pa.ipc.new_file(str(path), schema),
    ),
    FileFormat("an Arrow stream", begins=(b"\xff\xff\xff\xff",), read=read_stream, one_file=True),
    FileFormat(
        "JSON lines", (".jsonl",), open_writer=lambda path, schema, formulas: JsonLinesWriter(path)
    ),
    FileFormat(
        "a workbook",
        (".xlsx",),
        begins=(b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
        read=read_workbook,
        open_writer=lambda path, schema, formulas: WorkbookWriter(path, schema),
        one_file=True,
    ),
]


def register_format(form: FileFormat) -> None:
    """Let every function that reads or writes tables know another format; the last one comes first."""
    _FORMATS.insert(0, form)


def recognised(path: Path, first: bytes) -> FileFormat | None:
    """The format of a file that begins with these bytes, as far as that tells."""
    return next((form for form in _FORMATS if form.recognises(path, first)), None)


def writers() -> dict[str, WriterOpener]:
    """Endings that are written, and what opens a file of each."""
    found: dict[str, WriterOpener] = {}
    for form in _FORMATS:
        if form.open_writer is not None:
            for ending in form.endings:
                found.setdefault(ending, form.open_writer)
    return found
