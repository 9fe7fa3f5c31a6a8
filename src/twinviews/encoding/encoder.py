"""A raw table becomes numbers, block by block, wherever the blocks are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa

from twinviews.encoding.codes import Code, LeftOutColumn, NumberCode
from twinviews.encoding.column_kinds import kind_names
from twinviews.encoding.facts import Kind, TableFacts, facts_of, kind_of
from twinviews.encoding.rules import code_columns
from twinviews.tables import Block, Summary, Table
from twinviews.tables.column_names import check_columns

S = TypeVar("S", bound=Summary)


@dataclass(frozen=True)
class Encoder:
    """A code for each input column, in their order."""

    codes: Annotated[tuple[Code, ...], "F", ">= 1"]

    @property
    def names(self) -> list[str]:
        """Of the columns that are needed."""
        return [code.name for code in self.codes if not isinstance(code, LeftOutColumn)]

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
        parts = [
            code(_one_array(rows.column(code.name)))
            for code in self.codes
            if not isinstance(code, LeftOutColumn)
        ]
        return np.hstack(parts)

    def table(self, raw: Table) -> EncodedTable:
        """The numbers of a table whose blocks hold record batches."""
        return EncodedTable(raw, self)


def _one_array(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def kinds_of(schema: pa.Schema, columns: list[str], given: Mapping[str, Kind]) -> dict[str, Kind]:
    """What each column is taken for: what the user says, or else its type."""
    if not isinstance(given, Mapping):
        raise ValueError(f"kinds={given!r} must be a mapping, such as {{'age': 'number'}}.")
    for name, kind in given.items():
        if kind not in kind_names():
            known = ", ".join(map(repr, kind_names()))
            raise ValueError(f"kinds[{name!r}]={kind!r} must be one of {known}.")
    check_columns(given, columns)
    return {name: given.get(name) or kind_of(schema.field(name).type) for name in columns}


def facts_of_table(table: Table, kinds: Mapping[str, Kind]) -> TableFacts:
    """One pass over a table whose blocks hold record batches."""
    return table.fold(partial(facts_of, kinds=kinds))


def encoder_of(facts: TableFacts, given: Mapping[str, Kind]) -> Encoder:
    """From the facts of all rows, which must leave something to learn from."""
    encoder = Encoder(code_columns(facts, given))
    check_not_empty(encoder, facts)
    return encoder


def check_not_empty(encoder: Encoder, facts: TableFacts) -> None:
    if not encoder.names:
        reasons = "; ".join(f"{code.name!r}: {code.words}" for code in encoder.codes)
        raise ValueError(
            f"No input column of n_samples={facts.n_rows} rows is left to learn from. {reasons}."
        )


class EncodedTable:
    """A raw table whose blocks are encoded one by one."""

    def __init__(self, table: Table, encoder: Encoder) -> None:
        self.table, self.encoder = table, encoder

    def fold(self, summarise: Callable[[Block], S]) -> S:
        return self.table.fold(_SummariseEncoded(self.encoder, summarise))


@dataclass(frozen=True)
class _SummariseEncoded:
    encoder: Encoder
    summarise: Callable[[Block], Any]

    def __call__(self, block: Block) -> Any:
        return self.summarise(block._replace(X=self.encoder(block.X)))
