"""File formats: how each is recognised, read and written. A new one is registered here.

Files are written whole or not at all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from twinviews._system.whole_files import told_of, whole_file
from twinviews.reading.columnar import read_columnar, read_stream
from twinviews.reading.delimited import read_delimited
from twinviews.reading.findings import Reading
from twinviews.reading.json_lines import read_json_lines
from twinviews.reading.options import ReadingOptions
from twinviews.reading.workbook import read_workbook
from twinviews.reading.writers import CsvWriter, JsonLinesWriter, WorkbookWriter

STANDARD_OUTPUT = "-"


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


def _openers() -> dict[str, WriterOpener]:
    """Endings that are written, and what opens a file of each."""
    return {
        ending: form.open_writer
        for form in reversed(_FORMATS)
        if form.open_writer is not None
        for ending in form.endings
    }


def can_be_written(path: Path) -> bool:
    """Whether the ending of a file's name says a format that is written."""
    return path.suffix.lower() in _openers()


def write(
    batches: Iterable[pa.RecordBatch | pa.Table],
    schema: pa.Schema,
    out: str | Path,
    *,
    formulas: bool = False,
    stream: BinaryIO | None = None,
    ending: str | None = None,
) -> int:
    """Write batches as they come; the number of rows is returned.

    A file appears when it is complete: until then there is one beside it whose name begins with a dot,
    which is gone in any case. CSV is UTF-8 with commas and plain newlines.

    Parameters
    ----------
    batches : iterable of RecordBatch or Table
    schema : Schema
        Of all of them.
    out : path or "-"
        The ending says the format: .csv, .tsv, .parquet, .arrow, .jsonl or .xlsx; "-" is CSV to
        standard output.
    formulas : bool, default=False
        In CSV and TSV, text that a spreadsheet would take for a formula gets an apostrophe in front,
        names of columns too. True writes it as it is.
    stream : file, optional
        Written to instead of standard output.
    ending : str, optional
        Of the format, instead of the one that the name of the file has.
    """
    if str(out) == STANDARD_OUTPUT:
        target = sys.stdout.buffer if stream is None else stream
        return _copy(batches, CsvWriter(target, schema, formulas), Path("standard output"))
    path = Path(out)
    ending = path.suffix if ending is None else ending
    openers = _openers()
    if ending.lower() not in openers:
        raise ValueError(
            f"{str(path)!r} ends in {ending or 'nothing'!r}, which says no format that is written. Use "
            f"{', '.join(reversed(openers))}, or - for CSV on standard output."
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"There is no folder {str(path.parent)!r} to write {path.name} to. Make it first."
        )
    with whole_file(path) as part:
        with told_of(path):
            writer = openers[ending.lower()](part, schema, formulas)
        return _copy(batches, writer, path)


def _copy(batches: Iterable[pa.RecordBatch | pa.Table], writer: BatchWriter, path: Path) -> int:
    n_rows = 0
    try:
        for some in batches:
            for batch in some.to_batches() if isinstance(some, pa.Table) else [some]:
                with told_of(path):  # not around the batches, which may be read from a file
                    writer.write(batch)
                n_rows += batch.num_rows
    except BaseException:
        with suppress(Exception):  # what it cannot write any more is of no use, and the first error is
            writer.close()
        raise
    with told_of(path):
        writer.close()
    return n_rows
