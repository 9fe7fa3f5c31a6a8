"""The formats that this package brings."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from twinviews.reading.columnar import read_arrow, read_parquet, read_stream
from twinviews.reading.delimited import read_delimited
from twinviews.reading.formats import FileFormat, register_format
from twinviews.reading.json_lines import read_json_lines
from twinviews.reading.workbook import read_workbook
from twinviews.reading.workbook_writer import WorkbookWriter
from twinviews.reading.writers import CsvWriter, JsonLinesWriter

# Text has no first bytes of its own: what a file is that no other format recognises.
JSON_LINES = FileFormat("JSON lines", read=read_json_lines)
DELIMITED = FileFormat("CSV", read=read_delimited)

# In the reverse of the order in which messages name their endings.
for _form in (
    FileFormat(
        "a workbook",
        (".xlsx",),
        begins=(b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
        read=read_workbook,
        open_writer=lambda path, schema, formulas: WorkbookWriter(path, schema),
        one_file=True,
    ),
    FileFormat(
        "JSON lines", (".jsonl",), open_writer=lambda path, schema, formulas: JsonLinesWriter(path)
    ),
    FileFormat("an Arrow stream", begins=(b"\xff\xff\xff\xff",), read=read_stream, one_file=True),
    FileFormat(
        "an Arrow file",
        (".arrow",),
        begins=(b"ARROW1",),
        read=read_arrow,
        open_writer=lambda path, schema, formulas: pa.ipc.new_file(str(path), schema),
    ),
    FileFormat(
        "a Parquet file",
        (".parquet",),
        begins=(b"PAR1",),
        read=read_parquet,
        open_writer=lambda path, schema, formulas: pq.ParquetWriter(path, schema),
    ),
    FileFormat(
        "CSV",
        (".tsv",),
        open_writer=lambda path, schema, formulas: CsvWriter(path, schema, "\t", formulas),
    ),
    FileFormat(
        "CSV",
        (".csv",),
        open_writer=lambda path, schema, formulas: CsvWriter(path, schema, ",", formulas),
    ),
):
    register_format(_form)
