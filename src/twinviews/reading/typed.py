"""A table of text becomes a typed one: all rows are looked at, then every batch is converted alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.column_types import ColumnSummary, MissingWords, choose, offered_to, refusal
from twinviews.reading.copies import typed_copy
from twinviews.reading.findings import Guess, Reading, plain_errors, types_in_words
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spellings import DASH, Nothing, Spelling, TextSpelling

# After so many values of one kind, one of another is worth a word.
_LONG = 20
# The kind of a column in which a dash is a value.
PLUS_AND_MINUS = "category:+-"
Batches = Iterable[pa.RecordBatch]
# Says where row i of a table is, in the words of its file: "prices.csv, line 17".
Where = Callable[[int], str]


@dataclass(frozen=True)
class Typing:
    """What every column of text is, among others perhaps, and how to make it so."""

    summaries: dict[str, ColumnSummary]
    spellings: dict[str, Spelling]
    missing: MissingWords
    guesses: tuple[Guess, ...]
    n_rows: int

    @property
    def types(self) -> dict[str, pa.DataType]:
        return {name: spelling.type for name, spelling in self.spellings.items()}

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

    def convert(self, batches: Batches, schema: pa.Schema | None = None) -> Iterator[pa.RecordBatch]:
        """The columns of text typed; with the schema of all columns, the others as they are."""
        names = list(self.spellings) if schema is None else schema.names
        for batch in batches:
            columns = {name: self._converted(name, batch.column(name)) for name in names}
            yield pa.record_batch(columns)

    def _converted(self, name: str, column: pa.Array) -> pa.Array:
        spelling = self.spellings.get(name)
        if spelling is None:
            return column
        if not isinstance(spelling, TextSpelling):
            return spelling.convert(self.missing.tidied(column))
        # Words keep the blanks around them.
        missing = pc.is_in(column, pa.array(sorted(self.gaps(name))))
        return pc.if_else(missing, pa.scalar(None, pa.string()), column)

    def reading(self, source: str, dataset: ds.Dataset, said: Iterable[Guess] = ()) -> Reading:
        guesses = (*said, *self.guesses, *types_in_words(dataset.schema))
        return Reading(source, dataset, guesses, self.n_rows, self.written)


def read_text_columns(
    batches: Callable[[], Batches],
    schema: pa.Schema,
    names: Sequence[str],
    options: ReadingOptions,
    source: str,
    where: Where,
) -> Reading:
    """A copy of a table in which these columns of text get types; the others stay."""
    with plain_errors(source):
        typing = find_types(batches(), names, options, where)
        types = {field.name: field.type for field in schema} | typing.types
        copy = typed_copy(typing.convert(batches(), schema), pa.schema(types))
    return typing.reading(source, copy)


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
    summaries = {
        name: ColumnSummary(
            offered_to(name, options), signs=options.expected.get(name) == PLUS_AND_MINUS
        )
        for name in names
        if options.kinds.get(name) != "skip"
    }
    n_rows, spoilt = 0, []

    def look(name: str, strings: pa.Array) -> ColumnSummary:
        """What is known of a column after another batch."""
        seen = summaries[name]
        part = ColumnSummary.of(strings, seen.possible, missing)
        if not part.possible:
            row = _first_unfit(strings, seen.possible, missing)
            raise ValueError(f"{where(n_rows + row)}, {refusal(name, strings[row].as_py(), options)}")
        if part.zero_byte:
            row = pc.index(pc.match_substring(strings, "\0"), pa.scalar(True)).as_py()
            raise ValueError(
                f"{where(n_rows + row)}, column {name!r}: holds a zero byte, so the file is damaged. "
                f"Save it again."
            )
        return seen.merge(part)

    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        for batch in _read_ahead(batches):
            columns = [batch.column(name) for name in summaries]
            after = dict(zip(summaries, pool.map(look, summaries, columns), strict=True))
            for name, seen in summaries.items():
                if _is_typed(seen) and not _is_typed(after[name]):
                    spoilt += _what_spoilt(name, seen, batch.column(name), n_rows, missing)
            summaries = after
            n_rows += batch.num_rows
    spellings, guesses = choose(summaries, options, commas_separate=commas_separate)
    return Typing(summaries, spellings, missing, (*spoilt, *guesses), n_rows)


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
    return not isinstance(summary.possible[0], TextSpelling)


def _what_spoilt(
    name: str, seen: ColumnSummary, strings: pa.Array, n_rows: int, missing: MissingWords
) -> list[Guess]:
    """The value that made a category of what had long been a column of numbers, dates or booleans."""
    typed = tuple(one for one in seen.possible if not isinstance(one, TextSpelling))
    row = _first_unfit(strings, typed, missing)
    before = ColumnSummary.of(strings.slice(0, row), typed, missing)
    if seen.n_values + before.n_values < _LONG:
        return []
    kind = before.possible[0].kind
    what = (
        f"{name} is a category: {strings[row].as_py()[:30]!r} in row {n_rows + row + 1:,} is no {kind}"
    )
    return [Guess(what, f"--kind {name}={kind}")]


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
