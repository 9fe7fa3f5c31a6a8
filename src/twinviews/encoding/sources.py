"""What a fit reads: tables of any engine, files as they are written, and columns as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa

from twinviews.encoding.column_kinds import kinds_by_name
from twinviews.encoding.encoder import Encoder, encoder_of_table, numbers_by
from twinviews.passes.targets import missing_labels, no_label_at_all
from twinviews.reading import Reading, ReadingOptions, columnar_copy, read, written_like
from twinviews.tables import Block, SourceTable, StackedTable, Table, Wanted
from twinviews.tables.arrow import Selection
from twinviews.tables.base import ChosenRows, MappedTable, NoRowsError
from twinviews.tables.engines import is_file, open_table


@dataclass(frozen=True)
class OpenedSource:
    """Tables of one fit, one under the other, with what to remember of them."""

    tables: tuple[SourceTable, ...]  # as they were opened, the labeled one first
    table: Table  # all rows, as numbers
    selection: Selection
    encoder: Encoder | None  # None: all inputs are numbers
    about: dict[str, Any]  # how the columns were written in a file; empty if it was none
    code: Callable[[Table], Encoder | None]  # what makes an encoder of raw rows

    def has_whole_labels(self) -> bool:
        """Whether the first target is of whole numbers, which blanks beside them make floats."""
        return bool(pa.types.is_integer(self.selection.schema.field(self.selection.targets[0]).type))

    def labeled_rows(self, missing_label: Any) -> Self:
        """The rows with a label, encoded as if there were no others."""
        raw = ChosenRows(self.tables[0], partial(_have_a_label, missing_label))
        try:
            encoder = self.code(raw)
        except NoRowsError:
            raise no_label_at_all() from None
        numbers = MappedTable(raw, numbers_by(encoder, self.selection.columns))
        return replace(self, table=numbers, encoder=encoder)


def open_fit_source(
    source: Any,
    wanted: Wanted,
    *,
    unlabeled: Sequence[Any] = (),
    encode: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    reading: ReadingOptions | None = None,
) -> OpenedSource:
    """Whatever a user names, opened for a fit.

    ``encode`` says whether columns are encoded. None leaves that to the types of a table; of files
    whose types were found out, as of text, columns are encoded unless all are numbers without blanks.
    """
    options = _with_kinds(reading, kinds) if is_file(source) else reading
    first = _opened(source, options, often=True)
    others = [open_like(first, other, options, wanted.targets) for other in unlabeled]
    table, selection = open_table(first, wanted)
    no_labels: dict[str, Any] = {"targets": (), "weight": None, "label_probability": None}
    inputs = replace(wanted, columns=selection.columns, cluster=None, **no_labels)
    tables = (table, *(open_table(other, inputs)[0] for other in others))
    given = _given_kinds(options, selection.columns) | dict(kinds or {})
    if_needed = encode is None and isinstance(first, Reading) and not first.own_types

    def code(raw: Table) -> Encoder | None:
        encoder = encoder_of_table(raw, selection, given, encode=True if if_needed else encode)
        return None if if_needed and encoder is not None and encoder.is_needless else encoder

    raw = StackedTable(*tables)
    encoder = code(raw)
    numbers = MappedTable(raw, numbers_by(encoder, selection.columns))
    about = _about(first, options, selection.columns)
    return OpenedSource(tables, numbers, selection, encoder, about, code)


def _have_a_label(missing_label: Any, block: Block) -> np.ndarray:
    """(rows,) whether any target is known."""
    if block.Y is None:
        return np.zeros(block.X.shape[0], bool)
    return np.asarray(~missing_labels(block.Y, missing_label).all(axis=1))


def open_dask_rows(X: Any, y: Any, X_unlabeled: Any) -> tuple[Table, Encoder | None, Selection | None]:
    """Rows with labels, and more without, as ``fit`` takes them, encoded as by ``fit_table``."""
    from twinviews.tables.dask import rows_table

    table: Table
    table, selection = rows_table(X, y)
    if X_unlabeled is not None:
        table = StackedTable(table, rows_table(X_unlabeled, None)[0])
    if selection is None:  # an array, of numbers
        return table, None, None
    encoder = encoder_of_table(table, selection, {})
    return MappedTable(table, numbers_by(encoder, selection.columns)), encoder, selection


def _opened(source: Any, options: ReadingOptions | None, *, often: bool = False) -> Any:
    """Files and streams as a ``Reading``; a table of an engine, or in memory, as it is.

    With ``often``, text is parsed once more, into a temporary copy that is fast to read.
    """
    if is_file(source):
        stream = source if hasattr(source, "read") else None
        source = read(source if stream is None else "-", options, stream=stream)
    elif options is not None and not isinstance(source, Reading):
        raise ValueError(
            f"reading=... says how a file is written, and this is a {type(source).__name__}, whose "
            f"columns have types of their own. Leave it out."
        )
    return columnar_copy(source) if often and isinstance(source, Reading) else source


def open_like(first: Any, other: Any, options: ReadingOptions | None, targets: Sequence[str]) -> Any:
    """More rows without labels, written like the first table."""
    if not is_file(other):
        return _opened(other, None, often=True)
    options = options or ReadingOptions()
    found = first.kinds if isinstance(first, Reading) else {}
    kinds, expected = (
        {name: kind for name, kind in known.items() if name not in targets}
        for known in (options.kinds, found)
    )
    return _opened(other, written_like(replace(options, kinds=kinds), expected, None), often=True)


def read_like_the_fit(
    source: Any, about: Mapping[str, Any], reading: ReadingOptions | None = None
) -> Any:
    """A source of more rows, read as the table of the fit was written; a table as it is."""
    if not is_file(source):
        return _opened(source, reading)
    missing = about.get("missing")
    if isinstance(missing, str):  # as model files of version 0.1 have it
        missing = [word.strip() for word in missing.split(",")]
    return _opened(source, written_like(reading, about.get("kinds"), missing))


def _with_kinds(
    reading: ReadingOptions | None, kinds: Mapping[str, str] | None
) -> ReadingOptions | None:
    """Kinds that the user gave say how a file is read, too."""
    if not isinstance(kinds, Mapping) or not kinds:
        return reading
    reading, known = reading or ReadingOptions(), kinds_by_name()
    read_as = {name: known[kind].read_as if kind in known else kind for name, kind in kinds.items()}
    return replace(reading, kinds={**reading.kinds, **read_as})


def _given_kinds(options: ReadingOptions | None, names: Sequence[str]) -> dict[str, str]:
    """What the user says of the inputs, without how it is written."""
    given = {} if options is None else options.kinds
    return {name: kind.partition(":")[0] for name, kind in given.items() if name in names}


def _about(source: Any, options: ReadingOptions | None, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(source, Reading):
        return {}
    missing = None if options is None or options.missing is None else list(options.missing)
    kinds = {name: kind for name, kind in source.kinds.items() if name in names}
    return {"kinds": kinds, "missing": missing}
