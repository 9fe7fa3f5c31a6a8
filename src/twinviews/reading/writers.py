"""Batches as text: CSV, TSV and JSON lines."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

# Text that begins with one of these, in full width too, is a formula to a spreadsheet (CWE-1236),
# unless it is a number.
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?$"


class CsvWriter:
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


class JsonLinesWriter:
    """One object a line; dates as ISO text, what is missing or not finite as null."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            finite = {name: None if is_endless(value) else value for name, value in row.items()}
            self.file.write(json.dumps(finite, default=_iso, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self.file.close()


def is_endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _iso(value: Any) -> str:
    return str(value.isoformat())
