"""JSON lines. Types are the file's own; where a column mixes them, they are found as in text."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.json as arrow_json

from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.copies import typed_copy
from twinviews.reading.diagnosis import opened
from twinviews.reading.findings import Guess, Reading, plain_errors, types_in_words
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, find_types, kinds_changed

_BLOCK_BYTES = 1 << 22
# A line longer than this is no row of a table, and would fill the memory.
_MOST_LINE_BYTES = 1 << 26
# Of a line that Arrow reads: far deeper ones would end Python.
_MOST_BRACKETS = 1000


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
                json.dumps(record, ensure_ascii=False).encode()  # not of half a letter, "\\ud800"
            except UnicodeError:
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
        if self._may_be_deep():
            deque(self.records(), maxlen=0)  # which ends in an error, unless the brackets are in texts
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
        mixed = {name for name, kind in types.items() if kind == _MIXED}
        return types | self._without(mixed).types() if mixed else types

    def _may_be_deep(self) -> bool:
        lines = self.text.split(b"\n")
        return any(line.count(b"[") + line.count(b"{") > _MOST_BRACKETS for line in lines)

    def _without(self, names: set[str]) -> _Block:
        """The same without some columns: what the others are, Arrow knows better."""
        kept = [
            {name: value for name, value in record.items() if name not in names}
            for record in self.records()
        ]
        return replace(self, text="".join(json.dumps(record) + "\n" for record in kept).encode())

    def batch(self, schema: pa.Schema, text: list[str]) -> pa.RecordBatch:
        """The rows, with these columns as text and the others as Arrow reads them."""
        own = pa.schema([field for field in schema if field.name not in text])
        records = list(self.records())
        columns = {
            name: pa.array([_as_text(record.get(name)) for record in records], pa.string())
            for name in text
        }
        if len(own):
            table = arrow_json.read_json(
                pa.BufferReader(self.text),
                read_options=arrow_json.ReadOptions(block_size=len(self.text) + 1),
                parse_options=_parse_options(own),
            )
            columns |= {name: table[name].combine_chunks() for name in own.names}
        return pa.record_batch([columns[name] for name in schema.names], schema.names)


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


def read_json_lines(paths: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """One file, or several that are one table."""
    types: dict[str, pa.DataType] = {}
    for block in _blocks(paths, source):
        _merge(types, block.types())
    if not types:
        raise ValueError(f"{source} is empty. Name a file with one JSON object a line.")
    check_names(options, list(types), source)
    schema = pa.schema(
        [(name, kind) for name, kind in types.items() if options.kinds.get(name) != "skip"]
    )
    mixed = [field.name for field in schema if field.type == _MIXED]
    text = list(dict.fromkeys([*mixed, *kinds_changed(schema, options)]))
    if not text:
        return Reading(source, _dataset(paths, schema), types_in_words(schema))

    def batches() -> Iterator[pa.RecordBatch]:
        return (block.batch(schema, text) for block in _blocks(paths, source))

    with plain_errors(source):
        typing = find_types(batches(), text, options, lambda row: _where(paths, source, row))
        found = typing.schema_among(schema)
        dataset = typed_copy(typing.convert_among(batches(), schema), found)
    said = (Guess(f"{', '.join(mixed)} of several types"),) if mixed else ()
    guesses = (*said, *typing.guesses, *types_in_words(found))
    return Reading(source, dataset, guesses, typing.n_rows, typing.written)


def _parse_options(schema: pa.Schema) -> arrow_json.ParseOptions:
    return arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")


def _dataset(paths: Sequence[Path], schema: pa.Schema) -> ds.Dataset:
    form = ds.JsonFileFormat(
        parse_options=_parse_options(schema),
        # Arrow needs every line whole within two blocks.
        read_options=arrow_json.ReadOptions(block_size=_BLOCK_BYTES),
    )
    return ds.dataset([str(path) for path in paths], format=form, schema=schema)


def _blocks(paths: Sequence[Path], source: str) -> Iterator[_Block]:
    for path in paths:
        yield from _blocks_of(path, source if len(paths) == 1 else str(path))


def _blocks_of(path: Path, source: str) -> Iterator[_Block]:
    line, rest = 1, b""
    with opened(path) as file:
        while chunk := file.read(_BLOCK_BYTES):
            rest += chunk
            end = rest.rfind(b"\n") + 1
            if end:
                if not rest[:end].isspace():
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


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _where(paths: Sequence[Path], source: str, row: int) -> str:
    for path in paths:
        with opened(path) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    if row == 0:
                        return f"{source if len(paths) == 1 else path}, line {number}"
                    row -= 1
    raise ValueError(f"There is no row {row} in {source}.")
