"""Batches as CSV, TSV, JSON lines and a sheet of Excel."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from twinviews._system.temporary_files import held_folder

# Text that begins with one of these, in full width too, is a formula to a spreadsheet (CWE-1236),
# unless it is a number.
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?$"
# Of Excel; one row is the header.
_MOST_SHEET_ROWS = 1_048_576
_MOST_CELL_LETTERS = 32_767
# Excel keeps fifteen digits of a number.
_EXACT_BELOW = 10**15


class CsvWriter:
    """Text cells that would be formulas get an apostrophe; Arrow writes the rest."""

    def __init__(
        self, target: Path | BinaryIO, schema: pa.Schema, formulas: bool, delimiter: str = ","
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
            written = pc.cast(column, kind)
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


class JsonLinesWriter:
    """One object a line; dates as ISO text, what is missing or not finite as null."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            finite = {name: None if _is_endless(value) else value for name, value in row.items()}
            line = json.dumps(finite, default=lambda date: date.isoformat(), ensure_ascii=False)
            self.file.write(line + "\n")

    def close(self) -> None:
        self.file.close()


def _is_endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


class WorkbookWriter:
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
        is_too_long = isinstance(value, int) and abs(value) >= _EXACT_BELOW
        if isinstance(value, str) or _is_endless(value) or is_too_long:
            self.sheet.write_string(self.n_rows, j, str(value))
        else:
            self.sheet.write(self.n_rows, j, value)

    def close(self) -> None:
        try:
            self.book.close()
            self.path.write_bytes(self.packed.getbuffer())
        finally:
            self.folder.release()


def _in_utc(column: pa.Array) -> pa.Array:
    """Moments without their zone."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.cast(column, pa.timestamp(column.type.unit))
    return column
