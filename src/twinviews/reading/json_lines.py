"""JSON lines. Types are the file's own; where a column mixes them, they are found as in text."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.json as arrow_json

from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.copies import opened
from twinviews.reading.findings import Guess, Reading, types_in_words
from twinviews.reading.named_blanks import without_named_blanks
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, kinds_changed, read_text_columns

_BLOCK_BYTES = 1 << 22
# A line longer than this is no row of a table, and would fill the memory.
_MOST_LINE_BYTES = 1 << 26
# Of a line that Arrow reads: far deeper ones would end Python.
_MOST_BRACKETS = 1000
# Stands for a column in which lines have values of several types.
_MIXED = pa.dictionary(pa.int8(), pa.string())


@dataclass(frozen=True)
class _Block:
    """Whole lines of a file."""

    source: str
    line: int  # the number of the first
    text: bytes

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every line that is not blank, with its number."""
        for number, line in enumerate(self.text.split(b"\n"), start=self.line):
            if line.strip():
                try:
                    record = _record_of(line)
                except ValueError as error:
                    raise ValueError(f"{self.source}, line {number}: {error}") from None
                yield number, record

    def read(self, schema: pa.Schema | None = None) -> pa.Table:
        """By Arrow."""
        return arrow_json.read_json(
            pa.BufferReader(self.text),
            read_options=arrow_json.ReadOptions(block_size=len(self.text) + 1),
            parse_options=_parse_options(schema),
        )

    def types(self) -> dict[str, pa.DataType]:
        """Those that Arrow finds, or ``_MIXED``."""
        lines = self.text.split(b"\n")
        if any(line.count(b"[") + line.count(b"{") > _MOST_BRACKETS for line in lines):
            deque(self.records(), maxlen=0)  # which ends in an error, unless the brackets are in texts
        try:
            found = self.read().schema
            self.text.decode("utf-8")
        except (pa.ArrowInvalid, UnicodeDecodeError):
            found = None
        if found is not None and not any(pa.types.is_nested(field.type) for field in found):
            return {field.name: field.type for field in found}
        types: dict[str, pa.DataType] = {}
        for _, record in self.records():
            _merge(types, {name: _type_of(value) for name, value in record.items()})
        mixed = dict.fromkeys((name for name, kind in types.items() if kind == _MIXED), _MIXED)
        # What the others are, Arrow knows better.
        return types | self.with_text(mixed).types() | mixed if mixed else types

    def with_text(self, names: Iterable[str]) -> _Block:
        """The same lines, with these columns as text."""
        lines = []
        for _, record in self.records():
            text = {name: _as_text(record[name]) for name in names if name in record}
            lines.append(json.dumps(record | text) + "\n")
        return replace(self, text="".join(lines).encode())


def _record_of(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()  # not of half a letter, "\\ud800"
    except UnicodeError:
        raise ValueError("is not UTF-8, as JSON must be. Save it as UTF-8.") from None
    except (ValueError, RecursionError):
        raise ValueError('is not one JSON object. Write one object a line, such as {"a": 1}.') from None
    if not isinstance(record, dict):
        raise ValueError('is not a JSON object. Write one object a line, such as {"a": 1}.')
    for name, value in record.items():
        if isinstance(value, dict | list):
            what = "an object" if isinstance(value, dict) else "a list"
            raise ValueError(
                f"column {name!r} holds {what}, and a table has one value a cell. Take it apart into "
                f"columns of its own."
            )
    return record


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _type_of(value: Any) -> pa.DataType:
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    return pa.string() if isinstance(value, str) else pa.float64()


def _merge(types: dict[str, pa.DataType], more: dict[str, pa.DataType]) -> None:
    for name, kind in more.items():
        known = types.get(name, pa.null())
        kinds = {kind_of_type(known), kind_of_type(kind)}
        if pa.types.is_null(known) or known == kind:
            types[name] = kind
        elif kinds == {"number"}:
            types[name] = pa.float64()
        elif kinds == {"date", "category"} and _MIXED not in (known, kind):
            types[name] = pa.string()
        elif not pa.types.is_null(kind):
            types[name] = _MIXED


def read_json_lines(paths: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """One file, or several that are one table."""
    types: dict[str, pa.DataType] = {}
    for block in _blocks(paths, source):
        _merge(types, block.types())
    if not types:
        raise ValueError(f"{source} is empty. Name a file with one JSON object a line.")
    check_names(options, list(types), source)
    types = {name: kind for name, kind in types.items() if options.kinds.get(name) != "skip"}
    mixed = [name for name, kind in types.items() if kind == _MIXED]
    text = list(dict.fromkeys([*mixed, *kinds_changed(pa.schema(types), options)]))
    schema = pa.schema(types | dict.fromkeys(text, pa.string()))
    if not text:
        form = ds.JsonFileFormat(
            parse_options=_parse_options(schema),
            # Arrow needs every line whole within two blocks.
            read_options=arrow_json.ReadOptions(block_size=_BLOCK_BYTES),
        )
        dataset = ds.dataset([str(path) for path in paths], format=form, schema=schema)
        return without_named_blanks(Reading(source, dataset, types_in_words(schema)), options)

    def batches() -> Iterator[pa.RecordBatch]:
        for block in _blocks(paths, source):
            yield from block.with_text(text).read(schema).select(schema.names).to_batches()

    def where(row: int) -> str:
        for block in _blocks(paths, source):
            for number, _ in block.records():
                if row == 0:
                    return f"{block.source}, line {number}"
                row -= 1
        raise AssertionError("a row that was read is there")

    found = read_text_columns(batches, schema, text, options, source, where)
    said = [Guess(f"{', '.join(mixed)} of several types")] if mixed else []
    found = without_named_blanks(found, options)
    return replace(found, guesses=(*said, *found.guesses))


def _parse_options(schema: pa.Schema | None) -> arrow_json.ParseOptions:
    return arrow_json.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
    )


def _blocks(paths: Sequence[Path], source: str) -> Iterator[_Block]:
    for path in paths:
        name = source if len(paths) == 1 else str(path)
        line = 1
        with opened(path) as file:
            while text := file.read(_BLOCK_BYTES):
                text += file.readline(_MOST_LINE_BYTES)
                after = line + text.count(b"\n")
                if len(text) > _MOST_LINE_BYTES and not text.endswith(b"\n"):
                    raise ValueError(
                        f"{name}, line {after}: longer than {_MOST_LINE_BYTES:,} bytes. Write one "
                        f"object a line."
                    )
                if not text.isspace():
                    yield _Block(name, line, text)
                line = after
