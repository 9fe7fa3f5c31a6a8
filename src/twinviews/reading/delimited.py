"""CSV, TSV and their kin: one pass over all rows as text finds the types that Arrow then reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.dataset as ds

from twinviews.reading.column_types import MissingWords
from twinviews.reading.copies import opened, typed_copy
from twinviews.reading.date_spellings import Moment
from twinviews.reading.diagnosis import line_of_row, what_is_wrong
from twinviews.reading.dialect import HEAD_BYTES, Cut, Dialect, find_dialect
from twinviews.reading.findings import Reading
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spellings import (
    DASH,
    FALSE_IF_ASKED,
    TRUE_IF_ASKED,
    NumberSpelling,
    TextSpelling,
)
from twinviews.reading.typed import Typing, check_names, find_types

# Read at once, and so the most that one row may have.
_BLOCK_BYTES = 1 << 21


def read_delimited(paths: Sequence[Path], options: ReadingOptions, source: str) -> Reading:
    """One file, or several with the same header."""
    dialect = _dialect_of(paths, options, source)
    check_names(options, dialect.names, source)
    files = _Files(tuple(paths), dialect, options, source)
    try:
        typing = files.find_types()
    except _NotUtf8Error:
        files = replace(files, dialect=replace(dialect, encoding="cp1252", encoding_is_sure=True))
        typing = files.find_types()
    if _is_for_arrow(typing):
        dataset = files.dataset(typing)
    else:
        dataset = typed_copy(typing.convert(files.text()), pa.schema(typing.types))
    encoding = () if options.encoding is not None else (files.dialect.encoding_guess,)
    return typing.reading(source, dataset, (*dialect.guesses, *encoding))


def _dialect_of(paths: Sequence[Path], options: ReadingOptions, source: str) -> Dialect:
    found = []
    for path in paths:
        with opened(path) as file:
            head = file.read(HEAD_BYTES + 1)
        name = source if len(paths) == 1 else str(path)
        found.append(find_dialect(head[:HEAD_BYTES], len(head) <= HEAD_BYTES, options, name))
        if (found[-1].names, found[-1].cut.delimiter) != (found[0].names, found[0].cut.delimiter):
            raise ValueError(
                f"{path} has other columns than {paths[0]}: {', '.join(found[-1].names[:8])}. Files "
                f"that are one table need the same header."
            )
    return found[0]


class _NotUtf8Error(Exception):
    """The encoding was a guess, and a wrong one."""


@dataclass(frozen=True)
class _Files:
    paths: tuple[Path, ...]
    dialect: Dialect
    options: ReadingOptions
    source: str

    def _name(self, path: Path) -> str:
        return self.source if len(self.paths) == 1 else str(path)

    def find_types(self) -> Typing:
        commas_separate = self.dialect.cut.delimiter == ","
        return find_types(
            self.text(), self.dialect.names, self.options, self._where, commas_separate=commas_separate
        )

    def _where(self, row: int) -> str:
        path, line = line_of_row(self.paths, self.dialect, row)
        return f"{self._name(path)}, line {line}"

    def text(self) -> Iterator[pa.RecordBatch]:
        """All rows, all columns as text; null where a word means missing."""
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(self.dialect.names, pa.string()),
            strings_can_be_null=True,
            null_values=list(MissingWords.of(self.options).words),
        )
        read, parse = _read_options(self.dialect), _parse_options(self.dialect.cut)
        for path in self.paths:
            last = None
            try:
                with arrow_csv.open_csv(str(path), read, parse, convert) as reader:
                    for batch in reader:
                        if batch.num_rows:
                            last = batch.column(batch.num_columns - 1)[-1].as_py()
                            yield batch
            except (pa.ArrowInvalid, UnicodeDecodeError) as error:
                if "UTF8" in str(error) and not self.dialect.encoding_is_sure:
                    raise _NotUtf8Error from None
                self._refuse(path)
                raise ValueError(
                    f"{self._name(path)}: a row is longer than {_BLOCK_BYTES:,} bytes. Is it a table?"
                ) from None
            # Arrow takes the end of a file for the end of a quote; only the last cell can be such.
            if "\n" in (last or ""):
                self._refuse(path)

    def _refuse(self, path: Path) -> None:
        """If something is wrong with a file."""
        wrong = what_is_wrong(path, self.dialect)
        if wrong is not None:
            raise ValueError(f"{self._name(path)}, {wrong}")

    def dataset(self, typing: Typing) -> ds.Dataset:
        scan = ds.CsvFragmentScanOptions(
            convert_options=_convert_options(typing), read_options=_read_options(self.dialect)
        )
        form = ds.CsvFileFormat(
            parse_options=_parse_options(self.dialect.cut), default_fragment_scan_options=scan
        )
        schema = pa.schema(typing.types)
        return ds.dataset([str(path) for path in self.paths], format=form, schema=schema)


def _read_options(dialect: Dialect) -> arrow_csv.ReadOptions:
    return arrow_csv.ReadOptions(
        column_names=list(dialect.names),
        skip_rows=dialect.lines_above,
        skip_rows_after_names=1,  # the header: its names may have been changed
        encoding="utf8" if dialect.encoding in ("utf-8", "utf-8-sig") else dialect.encoding,
        block_size=_BLOCK_BYTES,
    )


def _parse_options(cut: Cut) -> arrow_csv.ParseOptions:
    return arrow_csv.ParseOptions(
        delimiter=cut.delimiter,
        quote_char=cut.quote,
        double_quote=cut.escape is None,
        escape_char=cut.escape or False,
        newlines_in_values=True,
    )


def _decimals(typing: Typing) -> set[str]:
    numbers = [one for one in typing.spellings.values() if isinstance(one, NumberSpelling)]
    return {one.decimal for one in numbers if one.decimal is not None}


def _forms(typing: Typing) -> set[str]:
    return {one.form for one in typing.spellings.values() if isinstance(one, Moment)}


def _is_for_arrow(typing: Typing) -> bool:
    """Arrow has one decimal sign, one form of dates and one list of missing words for a whole table."""
    dashes = {name: typing.keeps_dashes(name) for name in typing.spellings}
    return (
        len(_decimals(typing)) <= 1
        and len(_forms(typing)) <= 1
        and not (any(dashes.values()) and any(DASH in typing.gaps(name) for name in dashes))
        and all(_is_plain(typing, name) for name in typing.spellings)
    )


def _is_plain(typing: Typing, name: str) -> bool:
    """Arrow leaves out spaces and tabs around numbers by itself, and nothing else."""
    spelling, summary = typing.spellings[name], typing.summaries[name]
    if isinstance(spelling, NumberSpelling):
        return spelling.grouping is None and spelling.symbol is None and not summary.oddly
    return isinstance(spelling, TextSpelling) or not summary.padded


def _convert_options(typing: Typing) -> arrow_csv.ConvertOptions:
    return arrow_csv.ConvertOptions(
        column_types=typing.types,
        strings_can_be_null=True,
        null_values=sorted(set().union(*(typing.gaps(name) for name in typing.spellings))),
        true_values=list(TRUE_IF_ASKED),
        false_values=list(FALSE_IF_ASKED),
        decimal_point=next(iter(_decimals(typing)), "."),
        timestamp_parsers=[arrow_csv.ISO8601, *_forms(typing)],
    )
