"""A table of text becomes a typed one: all rows are looked at, then every batch is converted alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.column_types import (
    ColumnSummary,
    MissingWords,
    choose,
    distinct_values,
    offered_to,
    refusal,
)
from twinviews.reading.findings import Guess
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spelling_base import Spelling
from twinviews.reading.spellings import CodeSpelling, Nothing, TextSpelling
from twinviews.reading.vocabulary import DASH

# After so many values of one kind, one of another is worth a word.
_LONG = 20
# The kind of a column in which a dash is a value.
PLUS_AND_MINUS = "category:+-"
Batches = Iterable[pa.RecordBatch]
# Says where row i of a table is, in the words of its file: "prices.csv, line 17".
Where = Callable[[int], str]


@dataclass(frozen=True)
class Typing:
    """What every column of a table of text is, and how to make it so."""

    summaries: dict[str, ColumnSummary]
    spellings: dict[str, Spelling]
    missing: MissingWords
    guesses: tuple[Guess, ...]
    n_rows: int

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, spelling.type) for name, spelling in self.spellings.items()])

    def keeps_dashes(self, name: str) -> bool:
        """Whether plus and minus signs are the values of a column."""
        return isinstance(self.spellings[name], TextSpelling) and self.summaries[name].signs

    @property
    def written(self) -> dict[str, str]:
        """What every column is and how it is written, for ``Reading.written``."""
        return {
            name: PLUS_AND_MINUS if self.keeps_dashes(name) else spelling.notation
            for name, spelling in self.spellings.items()
            if not isinstance(spelling, Nothing)
        }

    def gaps(self, name: str) -> set[str]:
        """What means missing in a column, as it is written."""
        found = {*self.missing.words, *self.summaries[name].gaps}
        return found - {DASH} if self.keeps_dashes(name) else found

    def convert(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = self.schema
        for batch in batches:
            columns = [self._converted(name, batch.column(name)) for name in self.spellings]
            yield pa.record_batch(columns, schema=schema)

    def convert_among(self, batches: Batches, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The same for columns of text among others, which stay as they are."""
        schema = self.schema_among(schema)
        for batch in batches:
            columns = [
                self._converted(name, batch.column(name))
                if name in self.spellings
                else batch.column(name)
                for name in schema.names
            ]
            yield pa.record_batch(columns, schema=schema)

    def schema_among(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema(
            [
                field.with_type(self.spellings[field.name].type)
                if field.name in self.spellings
                else field
                for field in schema
            ]
        )

    def _converted(self, name: str, strings: pa.Array) -> pa.Array:
        spelling = self.spellings[name]
        if not isinstance(spelling, TextSpelling | CodeSpelling):
            return spelling.convert(self.missing.tidied(strings))
        gaps = pa.array(sorted(self.gaps(name)))  # text stays as it is, blanks included
        return pc.if_else(pc.is_in(strings, gaps), pa.scalar(None, pa.string()), strings)


def find_types(
    batches: Batches,
    names: Sequence[str],
    options: ReadingOptions,
    where: Where,
    *,
    commas_separate: bool = False,
) -> Typing:
    """From all rows, in one pass; the columns of a batch side by side."""
    missing = MissingWords.of(options)
    kept = [name for name in names if options.kinds.get(name) != "skip"]
    summaries = {
        name: ColumnSummary(
            offered_to(name, options), signs=options.expected.get(name) == PLUS_AND_MINUS
        )
        for name in kept
    }
    n_rows, spoilt = 0, []
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        for batch in _read_ahead(batches):
            columns = [batch.column(name) for name in kept]
            try:
                found = pool.map(partial(_look, options, missing), summaries.items(), columns)
                after = dict(zip(kept, found, strict=True))
            except _WrongValueError as error:
                raise ValueError(f"{where(n_rows + error.row)}, {error.what}") from None
            for name, seen in summaries.items():
                if _is_typed(seen) and not _is_typed(after[name]):
                    spoilt += _what_spoilt(name, seen, batch.column(name), n_rows, missing)
            summaries = after
            n_rows += batch.num_rows
    choice = choose(summaries, options, commas_separate=commas_separate)
    return Typing(summaries, choice.spellings, missing, (*spoilt, *choice.guesses), n_rows)


def _read_ahead(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same batches; the next one is parsed while the caller looks at the last."""
    left = iter(batches)
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, left, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, left, None)
            yield batch


def _is_typed(summary: ColumnSummary) -> bool:
    """Whether a column can still be more than text."""
    return not all(isinstance(one, TextSpelling | CodeSpelling) for one in summary.possible)


def _what_spoilt(
    name: str, seen: ColumnSummary, strings: pa.Array, n_rows: int, missing: MissingWords
) -> list[Guess]:
    """The value that made a category of what had long been a column of numbers, dates or booleans."""
    typed = tuple(one for one in seen.possible if not isinstance(one, TextSpelling | CodeSpelling))
    row = _first_unfit(strings, typed, missing)
    before = ColumnSummary.of(strings.slice(0, row), typed, missing)
    if seen.n_values + before.n_values < _LONG:
        return []
    kind = before.possible[0].kind
    what = (
        f"{name} is a category: {strings[row].as_py()[:30]!r} in row {n_rows + row + 1:,} is no {kind}"
    )
    return [Guess(what, f"--kind {name}={kind}")]


class _WrongValueError(Exception):
    """A value that its column cannot have, in this row of a batch."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(what)
        self.row, self.what = row, what


def _look(
    options: ReadingOptions, missing: MissingWords, column: tuple[str, ColumnSummary], strings: pa.Array
) -> ColumnSummary:
    """What is known of a column after another batch."""
    name, seen = column
    part = ColumnSummary.of(strings, seen.possible, missing)
    if not part.possible:
        row = _first_unfit(strings, seen.possible, missing)
        raise _WrongValueError(row, refusal(name, strings[row].as_py(), options))
    # Arrow takes zero bytes for letters; only text can hold them, since nothing else would parse.
    is_text = all(isinstance(one, TextSpelling) for one in part.possible)
    if is_text and pc.any(pc.match_substring(distinct_values(strings), "\0")).as_py():
        row = pc.index(pc.match_substring(strings, "\0"), pa.scalar(True)).as_py()
        what = f"column {name!r}: holds a zero byte, so the file is damaged. Save it again."
        raise _WrongValueError(row, what)
    return seen.merge(part)


def _first_unfit(strings: pa.Array, possible: tuple[Spelling, ...], missing: MissingWords) -> int:
    """The row with which the last possibility ends, by halving."""
    fits, fails = 0, len(strings)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if ColumnSummary.of(strings.slice(0, middle), possible, missing).possible:
            fits = middle
        else:
            fails = middle
    return fits


def check_names(options: ReadingOptions, names: Sequence[str], source: str) -> None:
    """That the columns of which the user speaks are there."""
    unknown = [name for name in options.kinds if name not in names]
    if unknown:
        some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise ValueError(
            f"{source} has no column {unknown[0]!r}, of which --kind speaks. Its columns are {some}."
        )


def kinds_changed(schema: pa.Schema, options: ReadingOptions) -> dict[str, str]:
    """The columns that are to be of another kind than they are, and which."""
    asked = {**options.expected, **options.kinds}
    return {
        field.name: asked[field.name]
        for field in schema
        if field.name in asked and asked[field.name].partition(":")[0] != kind_of_type(field.type)
    }
