"""How the columns of data frames in memory become numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.encoder import Encoder, encoder_of, facts_of_table, kinds_of
from twinviews.encoding.facts import Kind, TableFacts, kind_of
from twinviews.tables import ArrayTable, Block
from twinviews.tables.arrow import is_plain
from twinviews.tables.column_names import check_columns


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
    blocks, start = [], 0
    for batch in frame.to_batches():
        some = None if weight is None else weight[start : start + batch.num_rows]
        start += batch.num_rows
        if some is not None:
            batch, some = batch.filter(pa.array(some > 0)), some[some > 0]
        if batch.num_rows:
            blocks.append(Block(batch, None, some))
    if not blocks:
        raise ValueError("The table has no rows. Check the path, or the filter that made it.")
    return facts_of_table(ArrayTable(*blocks), kinds)


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
        name: kind_of(schema.field(name).type) if column.kind == "empty" else column.kind
        for name, column in facts.columns.items()
    }
