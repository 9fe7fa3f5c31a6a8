"""Tables to files, whole or not at all: CSV, TSV, Parquet, Arrow, JSON lines, Excel, a pipe."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from twinviews._system.temporary_files import held_folder
from twinviews._system.whole_files import told_of, whole_file

STANDARD_OUTPUT = "-"
# Text that begins with one of these, in full width too, is a formula to a spreadsheet (CWE-1236),
# unless it is a number.
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?$"
# Of Excel; one row is the header.
_MOST_SHEET_ROWS = 1_048_576
_MOST_CELL_LETTERS = 32_767
# Excel keeps fifteen digits of a number.
_EXACT_BELOW = 10**15


class _Writer(Protocol):
    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def write(
    batches: Iterable[pa.RecordBatch | pa.Table],
    schema: pa.Schema,
    out: str | Path,
    *,
    formulas: bool = False,
    stream: BinaryIO | None = None,
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
    """
    if str(out) == STANDARD_OUTPUT:
        target = sys.stdout.buffer if stream is None else stream
        return _copy(batches, _Csv(target, schema, ",", formulas), Path("standard output"))
    path = Path(out)
    opener = _opener_of(path, schema, formulas)
    if not path.parent.is_dir():
        raise ValueError(
            f"There is no folder {str(path.parent)!r} to write {path.name} to. Make it first."
        )
    with whole_file(path) as part:
        with told_of(path):
            writer = opener(part)
        return _copy(batches, writer, path)


def _copy(batches: Iterable[pa.RecordBatch | pa.Table], writer: _Writer, path: Path) -> int:
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


def _opener_of(path: Path, schema: pa.Schema, formulas: bool) -> Callable[[Path], _Writer]:
    openers: dict[str, Callable[[Path], _Writer]] = {
        ".csv": lambda part: _Csv(part, schema, ",", formulas),
        ".tsv": lambda part: _Csv(part, schema, "\t", formulas),
        ".parquet": lambda part: pq.ParquetWriter(part, schema),
        ".arrow": lambda part: pa.ipc.new_file(str(part), schema),
        ".jsonl": lambda part: _JsonLines(part),
        ".xlsx": lambda part: _Workbook(part, schema),
    }
    if path.suffix.lower() not in openers:
        raise ValueError(
            f"{str(path)!r} ends in {path.suffix or 'nothing'!r}, which says no format that is "
            f"written. Use {', '.join(openers)}, or - for CSV on standard output."
        )
    return openers[path.suffix.lower()]


class _Csv:
    """Text cells that would be formulas get an apostrophe; Arrow writes the rest."""

    def __init__(
        self, target: Path | BinaryIO, schema: pa.Schema, delimiter: str, formulas: bool
    ) -> None:
        self.formulas = formulas
        self.schema = pa.schema(
            [
                pa.field(name if formulas else harmless_name(name), _written_type(kind))
                for name, kind in zip(schema.names, schema.types, strict=True)
            ]
        )
        self.writer = arrow_csv.CSVWriter(
            str(target) if isinstance(target, Path) else target,
            self.schema,
            write_options=arrow_csv.WriteOptions(delimiter=delimiter, quoting_style="needed"),
        )

    def write(self, batch: pa.RecordBatch) -> None:
        columns = []
        for column, kind in zip(batch.columns, self.schema.types, strict=True):
            written = column if column.type == kind else pc.cast(column, kind)
            is_text = pa.types.is_string(kind) and not self.formulas
            columns.append(_harmless(written) if is_text else written)
        self.writer.write(pa.record_batch(columns, schema=self.schema))

    def close(self) -> None:
        self.writer.close()


def _written_type(kind: pa.DataType) -> pa.DataType:
    """Categories as their words, and everything that is text as one type of it."""
    if pa.types.is_dictionary(kind):
        return _written_type(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _harmless(strings: pa.Array) -> pa.Array:
    formula = pc.and_not(
        pc.match_substring_regex(strings, _FORMULA), pc.match_substring_regex(strings, _NUMBER)
    )
    return pc.if_else(formula, pc.binary_join_element_wise("'", strings, ""), strings)


def harmless_name(name: str) -> str:
    """With an apostrophe in front if a spreadsheet would take it for a formula."""
    return str(_harmless(pa.array([name]))[0].as_py())


class _JsonLines:
    """One object a line; dates as ISO text, what is missing or not finite as null."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            finite = {name: None if _is_endless(value) else value for name, value in row.items()}
            self.file.write(json.dumps(finite, default=_iso, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self.file.close()


def _is_endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _is_too_long(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= _EXACT_BELOW


def _in_utc(column: pa.Array) -> pa.Array:
    """Moments without their zone."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.cast(column, pa.timestamp(column.type.unit))
    return column


def _iso(value: Any) -> str:
    return str(value.isoformat())


class _Workbook:
    """One sheet; text is written as text, so that nothing is a formula.

    Excel knows no zones: moments that have one are written in UTC. Whole numbers of more digits than
    its numbers have are written as text.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        try:
            import xlsxwriter
        except ModuleNotFoundError as error:
            raise ImportError(
                "To write Excel files xlsxwriter is needed, which is not installed: pip install "
                "'twinviews[excel]'. Or write .csv."
            ) from error
        # Packed in memory: xlsxwriter cannot tell that a disk is full without a word of zipfile's own.
        self.path, self.packed, self.folder = path, io.BytesIO(), held_folder()
        options = {"constant_memory": True, "tmpdir": str(self.folder.path)}
        self.book = xlsxwriter.Workbook(
            self.packed, {**options, "default_date_format": "yyyy-mm-dd hh:mm:ss"}
        )
        self.sheet = self.book.add_worksheet("predictions")
        for j, name in enumerate(schema.names):
            self.sheet.write_string(0, j, name)
        self.n_rows = 1

    def write(self, batch: pa.RecordBatch) -> None:
        if self.n_rows + batch.num_rows > _MOST_SHEET_ROWS:
            raise ValueError(
                f"Excel has room for {_MOST_SHEET_ROWS - 1:,} rows, and there are more. Write .csv or "
                f".parquet."
            )
        columns = [_in_utc(column) for column in batch.columns]
        for row in pa.record_batch(columns, batch.schema.names).to_pylist():
            for j, (name, value) in enumerate(row.items()):
                self._write_cell(j, name, value)
            self.n_rows += 1

    def _write_cell(self, j: int, name: str, value: Any) -> None:
        if value is None or value != value:
            return
        if isinstance(value, str) and len(value) > _MOST_CELL_LETTERS:
            raise ValueError(
                f"Column {name!r} has a text of {len(value):,} letters, and a cell of Excel has room "
                f"for {_MOST_CELL_LETTERS:,}. Write .csv or .parquet."
            )
        if isinstance(value, str) or _is_endless(value) or _is_too_long(value):
            self.sheet.write_string(self.n_rows, j, str(value))
        else:
            self.sheet.write(self.n_rows, j, value)

    def close(self) -> None:
        try:
            self.book.close()
            self.path.write_bytes(self.packed.getbuffer())
        finally:
            self.folder.release()
