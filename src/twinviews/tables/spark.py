"""Spark data frames: Arrow batches become summaries on the executors, and a tree merges them."""

from __future__ import annotations

import math
import pickle  # nosec B403  # of what this very job wrote, see _unpickled
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from twinviews._system.threads import one_blas_thread
from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing, summarise_blocks
from twinviews.tables.engines import Wanted

S = TypeVar("S", bound=Summary)
R = TypeVar("R")

# Summaries that one task, and in the end the driver, merges.
_FAN_IN = 8
# The column in which results leave the executors.
_OBJECT = "result"


class SparkTable:
    """A Spark data frame; only summaries leave the executors, and few of them reach the driver."""

    def __init__(self, frame: Any, selection: Selection) -> None:
        self.frame, self.selection = frame, selection

    def _mapped(self, function: Callable[[Iterator[Block]], Iterable[Any]]) -> Any:
        """A frame of one pickled object for each that the function makes of a partition's blocks."""
        pickled = partial(_pickle_results, self.selection, function)
        return self.frame.select(*self.selection.names).mapInArrow(pickled, f"{_OBJECT} binary")

    def fold(self, summarise: Callable[[Block], S]) -> S:
        summaries = self._mapped(lambda blocks: [summarise_blocks(summarise, blocks)])
        return refuse_nothing(_merge_tree(summaries.rdd.mapPartitionsWithIndex(_number)))

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the partitions."""
        return map(_unpickled, self._mapped(partial(map, function)).toLocalIterator())

    def with_columns(self, function: Callable[[pa.RecordBatch], pa.Table], added: pa.Schema) -> Any:
        """A Spark frame with all columns of this one and those that the function makes of its rows."""
        schema = StructType([*self.frame.schema.fields, *from_arrow_schema(added).fields])
        return self.frame.mapInArrow(partial(_add_columns, function), schema)


def open_table(frame: Any, wanted: Wanted) -> tuple[SparkTable, Selection]:
    """A Spark data frame, and which of its columns are what."""
    selection = Selection.of(to_arrow_schema(frame.schema), wanted)
    return SparkTable(frame, selection), selection


def _merge_tree(numbered: Any) -> Any:
    """Merge (number, summary) pairs, neighbours first, always in the order of their numbers.

    ``treeReduce`` would merge in the order in which tasks happen to end, and sums of floating-point
    numbers depend on their order in the last digit.
    """
    left = numbered.getNumPartitions()
    while left > _FAN_IN:
        left = math.ceil(left / _FAN_IN)
        groups = numbered.map(lambda pair: (pair[0] // _FAN_IN, pair)).groupByKey(left)
        numbered = groups.mapValues(_merge_in_order)
    return _merge_in_order(numbered.collect())


def _number(index: int, rows: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    return ((index, _unpickled(row)) for row in rows)


def _unpickled(row: Any) -> Any:
    # Each row was written by _pickle_results of this same job, on an executor of the user's cluster.
    return pickle.loads(bytes(row[_OBJECT]))  # nosec B301


def _merge_in_order(numbered: Iterable[tuple[int, Any]]) -> Any:
    return merge_all(summary for _, summary in sorted(numbered, key=itemgetter(0)))


def _pickle_results(
    selection: Selection,
    function: Callable[[Iterator[Block]], Iterable[Any]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Record batches of a partition -> a row for each object that a function makes of its blocks."""
    blocks = (block for batch in batches for block in selection.blocks(batch))
    with one_blas_thread():
        for result in function(blocks):
            column = pa.array([pickle.dumps(result)], pa.binary())
            yield pa.RecordBatch.from_arrays([column], names=[_OBJECT])


def _add_columns(
    function: Callable[[pa.RecordBatch], pa.Table], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Record batches -> the same with more columns."""
    for batch in batches:
        if batch.num_rows:
            made = function(batch).combine_chunks().to_batches()[0]
            names = [*batch.schema.names, *made.schema.names]
            yield pa.RecordBatch.from_arrays([*batch.columns, *made.columns], names=names)
