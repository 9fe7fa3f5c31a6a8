"""What ``fit_table`` fits on: tables that were opened, and how their columns become numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from twinviews.encoding.column_kinds import column_kind, kind_names
from twinviews.encoding.encoder import Encoder, encoder_of, facts_of_table, kinds_of
from twinviews.reading import Reading, ReadingOptions
from twinviews.tables import SourceTable, StackedTable, Table
from twinviews.tables.arrow import Selection
from twinviews.tables.opening import is_file, open_source, open_table

# A pass for what columns hold, one for landmarks, one for moments.
_PASSES = 3


@dataclass(frozen=True)
class OpenedSource:
    """Tables of one fit, one under the other, with what to remember of them."""

    tables: tuple[SourceTable, ...]  # as they were opened, the labeled one first
    selection: Selection
    encoder: Encoder | None  # None: all inputs are numbers
    about: dict[str, Any]  # how the columns were written in a file; empty if it was none

    @property
    def table(self) -> Table:
        """All rows, as numbers."""
        whole = self.tables[0] if len(self.tables) == 1 else StackedTable(*self.tables)
        return whole if self.encoder is None else self.encoder.table(whole)

    @property
    def names(self) -> list[str]:
        """Of the input columns."""
        return self.selection.columns

    def has_whole_labels(self) -> bool:
        """Whether the first target is of whole numbers, which blanks beside them make floats."""
        return bool(pa.types.is_integer(self.selection.schema.field(self.selection.targets[0]).type))


def open_fit_source(
    source: Any,
    *,
    targets: Sequence[str],
    columns: Sequence[str] | None = None,
    unlabeled: Sequence[Any] = (),
    weight: str | None = None,
    raw: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    reading: ReadingOptions | None = None,
    n_threads: int | None = None,
    progress: bool = False,
) -> OpenedSource:
    """Whatever a user names, opened for a fit.

    ``raw`` says whether columns are encoded. None leaves that to the types of a table; of files whose
    types were found out, as of text, columns are encoded unless all are numbers without blanks.
    """
    options = _with_kinds(reading, kinds) if is_file(source) else reading
    first = open_source(source, options, passes=_PASSES)
    others = [open_like(first, other, options, targets) for other in unlabeled]
    if_needed = raw is None and isinstance(first, Reading) and not first.own_types

    def opened(raw: bool | None) -> OpenedSource:
        more: dict[str, Any] = {"n_threads": n_threads, "progress": progress}
        table, selection = open_table(
            first, columns=columns, targets=targets, weight=weight, raw=raw, **more
        )
        rest = [
            open_table(other, columns=selection.columns, raw=selection.raw, **more)[0]
            for other in others
        ]
        about = _about(first, options, selection.columns)
        return OpenedSource((table, *rest), selection, None, about)

    found = opened(True if if_needed else raw)
    if not found.selection.raw:
        return found
    given = _given_kinds(options, found.names) | dict(kinds or {})
    taken_for = kinds_of(found.selection.schema, found.names, given)
    encoder = encoder_of(facts_of_table(found.table, taken_for), given)
    return opened(False) if if_needed and encoder.is_needless else replace(found, encoder=encoder)


def _with_kinds(
    reading: ReadingOptions | None, kinds: Mapping[str, str] | None
) -> ReadingOptions | None:
    """Kinds that the user gave say how a file is read, too."""
    if not isinstance(kinds, Mapping) or not kinds:
        return reading
    reading = reading or ReadingOptions()
    known = {name: kind for name, kind in kinds.items() if kind in kind_names()}
    read_as = {name: column_kind(kind).read_as for name, kind in known.items()}
    return replace(reading, kinds={**reading.kinds, **kinds, **read_as})


def _given_kinds(options: ReadingOptions | None, names: Sequence[str]) -> dict[str, str]:
    """What the user says of the inputs, without how it is written."""
    given = {} if options is None else options.kinds
    return {name: kind.partition(":")[0] for name, kind in given.items() if name in names}


def open_like(first: Any, other: Any, options: ReadingOptions | None, targets: Sequence[str]) -> Any:
    """More rows without labels, written like the first table."""
    if not is_file(other):
        return open_source(other, passes=_PASSES)
    options = options or ReadingOptions()
    kinds = {name: kind for name, kind in options.kinds.items() if name not in targets}
    found = first.kinds if isinstance(first, Reading) else {}
    expected = {name: kind for name, kind in found.items() if name not in targets}
    return open_source(other, replace(options, kinds=kinds), passes=_PASSES, expected=expected)


def _about(source: Any, options: ReadingOptions | None, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(source, Reading):
        return {}
    missing = None if options is None or options.missing is None else list(options.missing)
    kinds = {name: kind for name, kind in source.kinds.items() if name in names}
    return {"kinds": kinds, "missing": missing}


def read_like_the_fit(
    source: Any, about: Mapping[str, Any], reading: ReadingOptions | None = None
) -> Any:
    """A source of more rows, read as the table of the fit was written; see ``open_source``."""
    if not is_file(source):
        return open_source(source, reading)
    missing = about.get("missing")
    if isinstance(missing, str):  # as model files of version 0.1 have it
        missing = [word.strip() for word in missing.split(",")]
    return open_source(source, reading, expected=about.get("kinds"), missing=missing)
