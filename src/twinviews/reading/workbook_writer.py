"""Batches as a sheet of Excel."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from twinviews._system.temporary_files import held_folder
from twinviews.reading.writers import is_endless

# Of Excel; one row is the header.
_MOST_SHEET_ROWS = 1_048_576
_MOST_CELL_LETTERS = 32_767
# Excel keeps fifteen digits of a number.
_EXACT_BELOW = 10**15


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
        if isinstance(value, str) or is_endless(value) or _is_too_long(value):
            self.sheet.write_string(self.n_rows, j, str(value))
        else:
            self.sheet.write(self.n_rows, j, value)

    def close(self) -> None:
        try:
            self.book.close()
            self.path.write_bytes(self.packed.getbuffer())
        finally:
            self.folder.release()


def _is_too_long(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= _EXACT_BELOW


def _in_utc(column: pa.Array) -> pa.Array:
    """Moments without their zone."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.cast(column, pa.timestamp(column.type.unit))
    return column
