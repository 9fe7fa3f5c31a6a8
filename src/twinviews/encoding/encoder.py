"""How the columns of a table become numbers, block by block, wherever the blocks are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.codes import Code, DateCode, LeftOutColumn, LevelCode, NumberCode
from twinviews.encoding.column_kinds import code_of, facts_of, kinds_by_name
from twinviews.encoding.facts import Kind, TableFacts
from twinviews.encoding.seen_columns import profile_of_facts
from twinviews.encoding.values import as_numbers, one_array
from twinviews.passes.input_profile import InputProfile
from twinviews.reading.arrow_kinds import kind_of_type
from twinviews.tables import ArrayTable, Block, Table
from twinviews.tables.arrow import Selection, check_columns, is_plain


@dataclass(frozen=True)
class Encoder:
    """A code for each input column, in their order."""

    codes: Annotated[tuple[Code, ...], "F", ">= 1"]
    # What the fit has seen of the columns; unknown in older files. It is no part of how rows are coded.
    profile: Annotated[InputProfile, "F"] | None = field(default=None, compare=False, repr=False)

    @property
    def _used(self) -> list[NumberCode | LevelCode | DateCode]:
        return [code for code in self.codes if not isinstance(code, LeftOutColumn)]

    @property
    def names(self) -> list[str]:
        """Of the columns that are needed."""
        return [code.name for code in self._used]

    @property
    def outputs(self) -> list[str]:
        """Names of the numbers, each another one."""
        names: dict[str, None] = {}
        numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        for output in chain.from_iterable(code.outputs for code in self.codes):
            name = output
            while name in names:
                name = f"{output} ({next(numbers[output])})"
            names[name] = None
        return list(names)

    @property
    def is_needless(self) -> bool:
        """Whether every column is a number, or 0 and 1, in every row."""
        return all(isinstance(code, NumberCode) and not code.flag for code in self.codes)

    def __call__(self, rows: Any) -> np.ndarray:
        """(rows, D) of a record batch or a table."""
        check_columns(self.names, rows.schema.names)
        return np.hstack([code(one_array(rows.column(code.name))) for code in self._used])


def numbers_by(encoder: Encoder | None, names: Sequence[str]) -> Callable[[Any], np.ndarray]:
    """What makes (rows, D) numbers of record batches; without an encoder, their columns as they are."""
    return partial(_plain_numbers, names) if encoder is None else encoder


def _plain_numbers(names: Sequence[str], rows: pa.RecordBatch) -> np.ndarray:
    check_columns(names, rows.schema.names)
    _refuse_other_types(names, rows.schema)
    X = np.empty((rows.num_rows, len(names)))
    for j, name in enumerate(names):
        X[:, j] = as_numbers(name, rows.column(name))
    if np.isnan(X).any():
        j = int(np.flatnonzero(np.isnan(X).any(axis=0))[0])
        raise ValueError(
            f"Column {names[j]!r} has missing values. Say encode=True, and blanks count as the mean "
            f"and are flagged; or leave it out with columns=[...]."
        )
    return X


def _refuse_other_types(names: Sequence[str], schema: pa.Schema) -> None:
    for name in names:
        if not is_plain(schema.field(name).type):
            raise ValueError(
                f"Column {name!r} is of type {schema.field(name).type}, and inputs must be numbers. "
                f"Leave it out with columns=[...], or say encode=True."
            )


def encoder_of_table(
    table: Table, selection: Selection, given: Mapping[str, Kind], *, encode: bool | None = None
) -> Encoder | None:
    """From one pass over a table; None if columns are taken as they are.

    ``encode`` says whether they are; None leaves that to their types.
    """
    schema, names = selection.schema, selection.columns
    if encode is None:
        encode = not all(is_plain(schema.field(name).type) for name in names)
    if not encode:
        _refuse_other_types(names, schema)
        return None
    return encoder_of(table.fold(partial(facts_of, kinds=kinds_of(schema, names, given))), given)


def kinds_of(schema: pa.Schema, columns: list[str], given: Mapping[str, Kind]) -> dict[str, Kind]:
    """What each column is taken for: what the user says, or else its type."""
    if not isinstance(given, Mapping):
        raise ValueError(f"kinds={given!r} must be a mapping, such as {{'age': 'number'}}.")
    for name, kind in given.items():
        if kind not in kinds_by_name():
            known = ", ".join(map(repr, kinds_by_name()))
            raise ValueError(f"kinds[{name!r}]={kind!r} must be one of {known}.")
    check_columns(given, columns)
    return {name: given.get(name) or kind_of_type(schema.field(name).type) for name in columns}


def encoder_of(facts: TableFacts, given: Mapping[str, Kind]) -> Encoder:
    """From the facts of all rows, which must leave something to learn from."""
    codes = code_columns(facts, given)
    encoder = Encoder(codes, profile_of_facts(facts, codes))
    check_not_empty(encoder, facts)
    return encoder


def code_columns(facts: TableFacts, given: Mapping[str, Kind]) -> tuple[Code, ...]:
    """A code for each column; a kind that the user gave is never left out for what it looks like."""
    return tuple(
        code_of(name, column, facts.n_rows, wanted=name in given)
        for name, column in facts.columns.items()
    )


def check_not_empty(encoder: Encoder, facts: TableFacts) -> None:
    if not encoder.names:
        reasons = "; ".join(f"{code.name!r}: {code.words}" for code in encoder.codes)
        raise ValueError(
            f"No input column of n_samples={facts.n_rows} rows is left to learn from. {reasons}."
        )


# --- data frames in memory --------------------------------------------------------------------------


def is_plain_frame(frame: pa.Table) -> bool:
    """Whether all columns are numbers and no value is missing."""
    if not all(is_plain(field.type) for field in frame.schema):
        return False
    return not any(pc.any(column.is_null(nan_is_null=True)).as_py() for column in frame.columns)


def facts_of_frame(
    frame: pa.Table, kinds: Mapping[str, Kind], weight: np.ndarray | None = None
) -> TableFacts:
    """Of the rows whose weight is not zero."""
    check_columns(kinds, frame.schema.names)
    return ArrayTable(Block(frame, None, weight)).fold(partial(facts_of, kinds=kinds))


def encoder_of_frames(frames: Sequence[pa.Table], weight: np.ndarray | None) -> Encoder:
    """Of frames one under the other; ``weight`` is of the rows of the first, the others have 1."""
    first, *others = frames
    facts = facts_of_frame(first, kinds_of(first.schema, first.schema.names, {}), weight)
    for other in others:
        facts = facts.merge(facts_of_frame(other, known_kinds(facts, other.schema)))
    return encoder_of(facts, {})


def known_kinds(facts: TableFacts, schema: pa.Schema) -> dict[str, Kind]:
    """For more rows of a table: what its columns were taken for or, if they were empty, their types."""
    check_columns(facts.columns, schema.names)
    return {
        name: kind_of_type(schema.field(name).type) if column.kind == "empty" else column.kind
        for name, column in facts.columns.items()
    }
