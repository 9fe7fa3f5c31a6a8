"""Tables to files, whole or not at all: CSV, TSV, Parquet, Arrow, JSON lines, Excel, a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from twinviews._system.whole_files import told_of, whole_file
from twinviews.reading.formats import BatchWriter, WriterOpener, writers
from twinviews.reading.writers import CsvWriter

STANDARD_OUTPUT = "-"


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
    opener = _opener_of(path, path.suffix if ending is None else ending)
    if not path.parent.is_dir():
        raise ValueError(
            f"There is no folder {str(path.parent)!r} to write {path.name} to. Make it first."
        )
    with whole_file(path) as part:
        with told_of(path):
            writer = opener(part, schema, formulas)
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


def can_be_written(path: Path) -> bool:
    """Whether the ending of a file's name says a format that is written."""
    return path.suffix.lower() in writers()


def _opener_of(path: Path, ending: str) -> WriterOpener:
    openers = writers()
    if ending.lower() not in openers:
        raise ValueError(
            f"{str(path)!r} ends in {ending or 'nothing'!r}, which says no format that is written. Use "
            f"{', '.join(openers)}, or - for CSV on standard output."
        )
    return openers[ending.lower()]
