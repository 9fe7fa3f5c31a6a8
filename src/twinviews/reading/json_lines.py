"""JSON lines. Types are the file's own; where a column mixes them, they are found as in text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.json as arrow_json

from twinviews.reading.copies import typed_copy
from twinviews.reading.diagnosis import opened
from twinviews.reading.findings import Guess, Reading, kind_of_type, types_in_words
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, find_types, kinds_changed

_BLOCK_BYTES = 1 << 22
# A line longer than this is no row of a table, and would fill the memory.
_MOST_LINE_BYTES = 1 << 26


@dataclass(frozen=True)
class _Block:
    """Whole lines of a file."""

    source: str
    line: int  # the number of the first
    text: bytes

    def error(self, offset: int, what: str) -> ValueError:
        return ValueError(f"{self.source}, line {self.line + offset}: {what}")

    def records(self) -> Iterator[dict[str, Any]]:
        for offset, line in enumerate(self.text.split(b"\n")):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except UnicodeDecodeError:
                raise self.error(offset, "is not UTF-8, as JSON must be. Save it as UTF-8.") from None
            except (ValueError, RecursionError):
                raise self.error(
                    offset, 'is not one JSON object. Write one object a line, such as {"a": 1}.'
                ) from None
            if not isinstance(record, dict):
                raise self.error(
                    offset, 'is not a JSON object. Write one object a line, such as {"a": 1}.'
                )
            for name, value in record.items():
                if isinstance(value, dict | list):
                    raise self.error(
                        offset,
                        f"column {name!r} holds "
                        f"{'an object' if isinstance(value, dict) else 'a list'}, and a "
                        f"table has one value a cell. Take it apart into columns of its own.",
                    )
            yield record

    def types(self) -> dict[str, pa.DataType]:
        """By Arrow; a dictionary type stands for a column of several types."""
        try:
            found = arrow_json.read_json(
                pa.BufferReader(self.text),
                read_options=arrow_json.ReadOptions(block_size=len(self.text) + 1),
            ).schema
            self.text.decode("utf-8")
        except (pa.ArrowInvalid, UnicodeDecodeError):
            found = None
        if found is not None and not any(pa.types.is_nested(field.type) for field in found):
            return {field.name: field.type for field in found}
        types: dict[str, pa.DataType] = {}
        for record in self.records():
            _merge(types, {name: _type_of(value) for name, value in record.items()})
        return types


# Stands for a column in which lines have values of several types.
_MIXED = pa.dictionary(pa.int8(), pa.string())


def _type_of(value: Any) -> pa.DataType:
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    return pa.string() if isinstance(value, str) else pa.float64()


def _merge(types: dict[str, pa.DataType], more: dict[str, pa.DataType]) -> None:
    for name, kind in more.items():
        known = types.get(name, pa.null())
        if pa.types.is_null(known) or known == kind:
            types[name] = kind
        elif not pa.types.is_null(kind):
            kinds = {kind_of_type(known), kind_of_type(kind)}
            if kinds == {"number"}:
                types[name] = pa.float64()
            elif kinds == {"date", "category"} and _MIXED not in (known, kind):
                types[name] = pa.string()
            else:
                types[name] = _MIXED


def read_json_lines(path: Path, options: ReadingOptions, source: str) -> Reading:
    types: dict[str, pa.DataType] = {}
    for block in _blocks(path, source):
        _merge(types, block.types())
    if not types:
        raise ValueError(f"{source} is empty. Name a file with one JSON object a line.")
    check_names(options, list(types), source)
    schema = pa.schema(
        [(name, kind) for name, kind in types.items() if options.kinds.get(name) != "skip"]
    )
    if _MIXED not in schema.types and not kinds_changed(schema, options):
        return Reading(source, _dataset(path, schema), types_in_words(schema))
    typing = find_types(
        _text(path, source, list(types)), list(types), options, lambda row: _where(path, source, row)
    )
    mixed = [name for name, kind in types.items() if kind == _MIXED]
    said = (Guess(f"{', '.join(mixed)} of several types"),) if mixed else ()
    dataset = typed_copy(typing.convert(_text(path, source, list(types))), typing.schema)
    guesses = (*said, *typing.guesses, *types_in_words(typing.schema))
    return Reading(source, dataset, guesses, typing.n_rows, typing.written)


def _dataset(path: Path, schema: pa.Schema) -> ds.Dataset:
    form = ds.JsonFileFormat(
        parse_options=arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="ignore"
        ),
        # Arrow needs every line whole within two blocks.
        read_options=arrow_json.ReadOptions(block_size=_BLOCK_BYTES),
    )
    return ds.dataset(str(path), format=form, schema=schema)


def _blocks(path: Path, source: str) -> Iterator[_Block]:
    line, rest = 1, b""
    with opened(path) as file:
        while chunk := file.read(_BLOCK_BYTES):
            rest += chunk
            end = rest.rfind(b"\n") + 1
            if end:
                yield _Block(source, line, rest[:end])
                line += rest.count(b"\n", 0, end)
                rest = rest[end:]
            elif len(rest) > _MOST_LINE_BYTES:
                raise ValueError(
                    f"{source}, line {line}: longer than {_MOST_LINE_BYTES:,} bytes. Write one object "
                    f"a line."
                )
    if rest.strip():
        yield _Block(source, line, rest)


def _text(path: Path, source: str, names: list[str]) -> Iterator[pa.RecordBatch]:
    for block in _blocks(path, source):
        records = list(block.records())
        columns = [
            pa.array([_as_text(one.get(name)) for one in records], pa.string()) for name in names
        ]
        yield pa.record_batch(columns, names=names)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _where(path: Path, source: str, row: int) -> str:
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                if row == 0:
                    return f"{source}, line {number}"
                row -= 1
    raise ValueError(f"There is no row {row} in {source}.")
