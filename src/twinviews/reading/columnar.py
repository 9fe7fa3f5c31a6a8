"""Parquet and Arrow files: the types are the file's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.copies import read_copy
from twinviews.reading.findings import Guess, Reading, types_in_words
from twinviews.reading.named_blanks import without_named_blanks
from twinviews.reading.options import ReadingOptions
from twinviews.reading.typed import check_names, kinds_changed, read_text_columns

# What one row group of a Parquet file or one batch of an Arrow file may unpack to: it is read at once,
# and runs of equal values can make much of few bytes.
_MOST_UNPACKED_BYTES = 2 << 30
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_BATCH_ROWS = 32_768


def read_columnar(
    paths: Sequence[Path], options: ReadingOptions, source: str, *, form: str = "ipc"
) -> Reading:
    """One file of "parquet" or "ipc", which is Arrow, or several that are one table."""

    # Names of folders below the one that the user named may be values: part=3.
    root = source if Path(source).is_dir() else str(paths[0].parent)

    def opened(schema: pa.Schema | None = None) -> ds.Dataset:
        return ds.dataset(
            [str(path) for path in paths],
            format=form,
            partitioning="hive",
            partition_base_dir=root,
            schema=schema,
        )

    try:
        dataset = opened()
        check = _check_row_groups if form == "parquet" else _check_batches
        n_rows = sum(check(path, source) for path in dataset.files)
        common, said = _common_schema(dataset, options)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        word = "a Parquet" if form == "parquet" else "an Arrow"
        raise ValueError(
            f"{source} cannot be read as {word} file: it is cut short or damaged, or two columns have "
            f"one name. Write it again."
        ) from None
    if n_rows == 0:
        raise ValueError(f"{source} has no rows. Name a table with rows.")
    check_names(options, common.names, source)
    fields, left_out = _plain_fields(common, options)
    others = kinds_changed(pa.schema(fields), options)
    schema = pa.schema(
        [field.with_type(pa.string()) if field.name in others else field for field in fields]
    )
    found_out = [name for name, kind in others.items() if not kind.startswith("category")]
    if found_out:  # words that the user calls numbers, dates or booleans
        found = read_text_columns(
            # With threads of its own Arrow reads ahead without bounds.
            lambda: opened(schema).to_batches(batch_size=_BATCH_ROWS, use_threads=False),
            schema,
            found_out,
            options,
            source,
            lambda row: f"{source}, row {row + 1}",
        )
    else:
        found = Reading(source, opened(schema), types_in_words(schema), n_rows)
    found = without_named_blanks(found, options)
    return replace(found, guesses=(*said, *left_out, *found.guesses), own_types=True)


def read_stream(paths: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """Arrow's format for streams, which can be read once only."""
    (path,) = paths
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
            batches = _to_the_end(reader, file)
            return read_copy(
                batches, reader.schema, lambda copy: read_columnar([copy], options, source)
            )
    except (pa.ArrowException, OSError, UnicodeDecodeError):
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
            if options.kinds.get(name) in ("category", "skip"):
                own = pa.string()
                types[name] = own
            both = [pa.schema([(name, kind)]) for kind in (types.get(name, own), own)]
            try:
                common = pa.unify_schemas(both, promote_options="permissive")
            except pa.ArrowTypeError:
                raise ValueError(
                    f"{part.path}: column {name!r} is {own}, but {having[name][0]}. Write both with "
                    f"one type, or use --kind {name}=category."
                ) from None
            types[name] = common.field(name).type
            having.setdefault(name, []).append(f"{own} in {part.path}")
    lacking = [
        Guess(f"{name} blank in {len(parts) - len(files)} of {len(parts)} files, which lack it")
        for name, files in having.items()
        if len(files) < len(parts)
    ]
    partitions = [field for field in dataset.schema if field.name not in types]
    return pa.schema([*types.items(), *partitions]), lacking


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
    """The type in which a column is handed on; None for lists, objects and bytes, unless a kind that
    was registered takes them."""
    types = pa.types
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind) or types.is_time(kind):
        return pa.string()
    if types.is_decimal(kind) or types.is_duration(kind):
        return pa.float64()
    if types.is_float16(kind):  # which Arrow stores and hardly computes with
        return pa.float32()
    return None if kind_of_type(kind) == "other" else kind


def _check_batches(path: str, source: str) -> int:
    """The number of rows of an Arrow file, after a look at all of them."""
    n_rows = 0
    with pa.memory_map(path) as file, pa.ipc.open_file(file) as reader:
        for place in range(reader.num_record_batches):
            batch = _checked(reader.get_batch(place))
            _check_size(batch.num_rows, batch.num_columns, _text_bytes(batch), source)
            n_rows += batch.num_rows
    return n_rows


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Arrow believes what a batch says of itself; a wrong offset would end Python, texts be none."""
    batch.validate(full=True)
    return batch


def _to_the_end(batches: Iterable[pa.RecordBatch], file: pa.NativeFile) -> Iterator[pa.RecordBatch]:
    """All batches of a stream; one without its end mark may have lost some."""
    yield from map(_checked, batches)
    end = file.tell()
    file.seek(max(0, end - len(_END_OF_STREAM)))
    if file.read(len(_END_OF_STREAM)) != _END_OF_STREAM:
        raise pa.ArrowInvalid(f"no end mark at {end}")


def _check_row_groups(path: str, source: str) -> int:
    """The number of rows of a Parquet file, after a look at its sizes and at all of its texts.

    What a file says of its columns is not asked for: Arrow ends Python if that is damaged.
    """
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        about = file.metadata
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        if sum(group.num_rows for group in groups) != about.num_rows:
            raise pa.ArrowInvalid(f"{about.num_rows} rows are not those of the row groups")
        for place, group in enumerate(groups):
            _check_size(group.num_rows, group.num_columns, group.total_byte_size, source)
            # A long text that many rows have is stored once, and unpacks to one for each row.
            batches = file.iter_batches(row_groups=[place], columns=texts, use_threads=False)
            n_bytes = sum(_text_bytes(_checked(batch)) for batch in batches) if texts else 0
            _check_size(group.num_rows, len(texts), n_bytes, source)
        return int(about.num_rows)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _text_bytes(batch: pa.RecordBatch) -> int:
    """What the texts of categories are together, each as often as it occurs."""
    size = 0
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type):
            lengths = pc.cast(pc.binary_length(column.dictionary), pa.int64())
            size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


def _check_size(n_rows: int, n_columns: int, n_bytes: int, source: str) -> None:
    size = max(n_bytes, 8 * n_rows * n_columns)
    if size > _MOST_UNPACKED_BYTES:
        raise ValueError(
            f"{source}: {n_rows:,} rows that are read at once unpack to {size:,} bytes, more than "
            f"{_MOST_UNPACKED_BYTES:,}. Write it with fewer rows in a row group, such as "
            f"row_group_size=100_000, and without texts of many thousand letters."
        )
