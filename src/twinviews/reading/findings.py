"""What reading a table gives: a data set, its columns, and everything that was found out on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.dataset as ds

from twinviews._system.unchanged_files import NO_FILES, SameFiles
from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.reading.options import KINDS
from twinviews.reading.spellings import USUAL


@dataclass(frozen=True)
class Guess:
    """Something that was found out, and the option that says otherwise."""

    what: str
    option: str | None = None

    def __str__(self) -> str:
        """One line, whatever the names of columns hold."""
        words = self.what if self.option is None else f"{self.what} ({self.option})"
        return " ".join(words.split())


@dataclass(frozen=True)
class Column:
    """A column as it is read."""

    name: str
    kind: str  # number, category, date, boolean; empty where there is no value at all
    type: pa.DataType


@contextmanager
def plain_errors(source: str) -> Iterator[None]:
    """One plain line for what Arrow says of a file that is damaged beyond its first bytes."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, not of the file's content
        raise ValueError(
            f"{source} is damaged, or changed while it was read. Write it again."
        ) from error


@dataclass(frozen=True)
class Reading:
    """A table, typed, to be read as often as one likes and never whole in memory.

    ``dataset`` keeps what it needs, temporary files included, for as long as it lives. To keep memory
    bounded, scan text files with ``use_threads=False``: with threads Arrow reads far ahead.
    """

    source: str
    dataset: ds.Dataset
    guesses: tuple[Guess, ...]
    n_rows: int | None = None  # None where counting would cost a pass
    # Kinds with the way in which values are written, of columns that were text.
    written: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = USUAL  # for ``ReadingOptions(missing=...)`` of more rows
    files: SameFiles = NO_FILES  # that the user named
    own_types: bool = False  # whether types were in the file, not found out

    @property
    def columns(self) -> tuple[Column, ...]:
        schema = self.dataset.schema
        return tuple(Column(field.name, kind_of_type(field.type), field.type) for field in schema)

    @property
    def kinds(self) -> dict[str, str]:
        """For ``ReadingOptions(expected=...)`` of more rows; empty columns may become anything."""
        return {
            column.name: self.written.get(column.name, column.kind)
            for column in self.columns
            if column.kind != "empty"
        }

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        """While the data set is read: one plain line if a file is damaged, or not what it was."""
        with plain_errors(self.source), self.files.held():
            yield

    def __str__(self) -> str:
        """One line for a person."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows; "
        return f"{self.source}: {rows}{'; '.join(str(guess) for guess in self.guesses)}"


def types_in_words(schema: pa.Schema) -> tuple[Guess, ...]:
    """Which columns are empty, and how many there are of each kind."""
    empty = [Guess(f"{field.name} is empty") for field in schema if pa.types.is_null(field.type)]
    kinds = [kind_of_type(kind) for kind in schema.types]
    order = ("number", "category", "date", "boolean", "empty")
    counts = [f"{kinds.count(kind)} {kind}" for kind in order if kind in kinds]
    return (*empty, Guess(f"columns {', '.join(counts)}", f"--kind NAME={'|'.join(KINDS)}"))
