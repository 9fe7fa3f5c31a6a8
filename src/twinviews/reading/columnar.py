"""Parquet and Arrow files: the types are the file's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from twinviews.reading.copies import read_copy, typed_copy
from twinviews.reading.findings import Guess, Reading, plain_errors, types_in_words
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, find_types, kinds_changed

# What one row group of a Parquet file may unpack to: it is read at once, and runs of equal values
# can make much of few bytes.
_MOST_UNPACKED_BYTES = 2 << 30
# With threads of its own Arrow reads ahead without bounds.
_IN_ORDER: dict[str, Any] = {"batch_size": 32_768, "use_threads": False}


def read_columnar(place: Path, form: str, options: ReadingOptions, source: str) -> Reading:
    """A file or a folder of files, ``form`` "parquet" or "ipc"."""

    def opened(schema: pa.Schema | None = None) -> ds.Dataset:
        return ds.dataset(str(place), format=form, partitioning="hive", schema=schema)

    try:
        dataset = opened()
        if form == "parquet":
            _check_sizes(dataset.files, source)
            n_rows = dataset.count_rows()
        else:
            n_rows = _check_batches(dataset)
        common, said = _common_schema(dataset, options)
    except (pa.ArrowException, OSError):
        word = "a Parquet" if form == "parquet" else "an Arrow"
        raise ValueError(
            f"{source} cannot be read as {word} file: it is cut short or damaged, or two columns have "
            f"one name. Write it again."
        ) from None
    if n_rows == 0:
        raise ValueError(f"{source} has no rows. Name a table with rows.")
    check_names(options, common.names, source)
    fields, left_out = _plain_fields(common, options)
    guesses = (*said, *left_out)
    others = kinds_changed(pa.schema(fields), options)
    schema = pa.schema(
        [field.with_type(pa.string()) if field.name in others else field for field in fields]
    )
    found_out = [name for name, kind in others.items() if not kind.startswith("category")]
    if found_out:
        found = _with_types_of_text(opened(schema), found_out, options, source)
        return replace(found, guesses=(*guesses, *found.guesses))
    return Reading(source, opened(schema), (*guesses, *types_in_words(schema)), n_rows)


def read_stream(path: Path, options: ReadingOptions, source: str) -> Reading:
    """Arrow's format for streams, which can be read once only."""
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
            return read_copy(
                reader, reader.schema, lambda copy: read_columnar(copy, "ipc", options, source)
            )
    except (pa.ArrowException, OSError):
        raise ValueError(f"{source} is an Arrow stream cut short or damaged. Write it again.") from None


def _common_schema(dataset: ds.Dataset, options: ReadingOptions) -> tuple[pa.Schema, list[Guess]]:
    """The columns of all files of a data set, in types that hold the values of each."""
    parts = list(dataset.get_fragments())
    if len(parts) == 1:
        return dataset.schema, []
    types: dict[str, pa.DataType] = {}
    having: dict[str, list[str]] = {}  # in which files a column is what
    for part in parts:
        for field in part.physical_schema:
            name, own = field.name, _plain(field.type) or field.type
            common = _common_type(types.get(name, own), own)
            if options.kinds.get(name) in ("category", "skip"):
                common = pa.string()
            if common is None:
                raise ValueError(
                    f"{part.path}: column {name!r} is {own}, but {having[name][0]}. Write both with "
                    f"one type, or use --kind {name}=category."
                )
            types[name] = common
            having.setdefault(name, []).append(f"{own} in {part.path}")
    lacking = [
        Guess(f"{name} blank in {len(parts) - len(files)} of {len(parts)} files, which lack it")
        for name, files in having.items()
        if len(files) < len(parts)
    ]
    partitions = [field for field in dataset.schema if field.name not in types]
    return pa.schema([*types.items(), *partitions]), lacking


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    schemas = [pa.schema([("column", kind)]) for kind in (one, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("column").type
    except pa.ArrowTypeError:
        return None


def _plain_fields(schema: pa.Schema, options: ReadingOptions) -> tuple[list[pa.Field], list[Guess]]:
    fields, guesses = [], []
    for field in schema:
        if options.kinds.get(field.name) == "skip":
            continue
        plain = _plain(field.type)
        if plain is None:
            guesses.append(Guess(f"{field.name} left out: {field.type} is no single value"))
        else:
            fields.append(pa.field(field.name, plain))
    return fields, guesses


def _plain(kind: pa.DataType) -> pa.DataType | None:
    """The type in which a column is handed on; None for lists, objects and bytes."""
    types = pa.types
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind) or types.is_time(kind):
        return pa.string()
    if types.is_decimal(kind) or types.is_duration(kind):
        return pa.float64()
    return (
        None if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind) else kind
    )


def _with_types_of_text(
    dataset: ds.Dataset, names: Sequence[str], options: ReadingOptions, source: str
) -> Reading:
    """For columns of words that the user calls numbers, dates or booleans; the others stay."""
    with plain_errors(source):
        text = dataset.to_batches(columns=list(names), **_IN_ORDER)
        typing = find_types(text, names, options, lambda row: f"{source}, row {row + 1}")
        schema = typing.schema_among(dataset.schema)
        everything = dataset.to_batches(**_IN_ORDER)
        copy = typed_copy(typing.convert_among(everything, dataset.schema), schema)
    guesses = (*typing.guesses, *types_in_words(schema))
    return Reading(source, copy, guesses, typing.n_rows, typing.written)


def _check_batches(dataset: ds.Dataset) -> int:
    """The number of rows, after a look at all of them.

    Arrow believes what an Arrow file says of itself, and a wrong offset would have it read beyond its
    memory.
    """
    n_rows = 0
    for part in dataset.get_fragments():
        for batch in part.to_batches(schema=part.physical_schema, **_IN_ORDER):
            batch.validate(full=True)
            n_rows += batch.num_rows
    return n_rows


def _check_sizes(files: Sequence[str], source: str) -> None:
    for path in files:
        about = pq.read_metadata(path)
        for place in range(about.num_row_groups):
            group = about.row_group(place)
            size = sum(
                max(group.column(j).total_uncompressed_size, 8 * group.num_rows)
                for j in range(group.num_columns)
            )
            if size > _MOST_UNPACKED_BYTES:
                raise ValueError(
                    f"{source}: a row group of {group.num_rows:,} rows unpacks to {size:,} bytes, more "
                    f"than the {_MOST_UNPACKED_BYTES:,} that are read at once. Write it with smaller "
                    f"row groups, such as row_group_size=100_000."
                )
