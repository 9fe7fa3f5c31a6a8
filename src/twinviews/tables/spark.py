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
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing
from twinviews.tables.engines import Wanted

S = TypeVar("S", bound=Summary)
R = TypeVar("R")

# Summaries that one task, and in the end the driver, merges.
_FAN_IN = 8
# The column in which results leave the executors.
_OBJECT = "result"


class SparkTable:
    """A Spark data frame; only summaries leave the executors, and few of them reach the driver."""

    def __init__(self, frame: Any, wanted: Wanted) -> None:
        self.selection = Selection.of(to_arrow_schema(frame.schema), wanted)
        self.frame = frame

    def _mapped(self, function: Callable[[Iterator[Block]], Iterator[Any]]) -> Any:
        """A frame of one pickled object for each that the function makes of a partition's blocks."""
        selected = self.frame.select(*self.selection.names)
        return selected.mapInArrow(_PickleResults(self.selection, function), f"{_OBJECT} binary")

    def fold(self, summarise: Callable[[Block], S]) -> S:
        numbered = self._mapped(_Summarise(summarise)).rdd.mapPartitionsWithIndex(_number)
        return refuse_nothing(_merge_tree(numbered))

    def map_blocks(self, function: Callable[[Block], R]) -> Iterator[R]:
        """The function's results for all blocks, in the order of the partitions."""
        for row in self._mapped(partial(map, function)).toLocalIterator():
            yield _unpickled(row)

    def with_columns(self, function: Callable[[pa.RecordBatch], pa.Table], added: pa.Schema) -> Any:
        """A Spark frame with all columns of this one and those that the function makes of its rows."""
        more = from_arrow_schema(added)
        schema = StructType([*self.frame.schema.fields, *more.fields])
        return self.frame.mapInArrow(_BatchesWithColumns(function), schema)


def _merge_tree(numbered: Any) -> Any:
    """Merge (number, summary) pairs, neighbours first, always in the order of their numbers.

    ``treeReduce`` would merge in the order in which tasks happen to end, and sums of floating-point
    numbers depend on their order in the last digit.
    """
    left = numbered.getNumPartitions()
    while left > _FAN_IN:
        left = math.ceil(left / _FAN_IN)
        numbered = numbered.map(_to_parent).groupByKey(left).mapValues(_merge_in_order)
    return _merge_in_order(numbered.collect())


def _number(index: int, rows: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    return ((index, _unpickled(row)) for row in rows)


def _unpickled(row: Any) -> Any:
    # Each row was written by _PickleResults of this same job, on an executor of the user's cluster.
    return pickle.loads(bytes(row[_OBJECT]))  # nosec B301


def _to_parent(numbered: tuple[int, Any]) -> tuple[int, tuple[int, Any]]:
    return numbered[0] // _FAN_IN, numbered


def _merge_in_order(numbered: Iterable[tuple[int, Any]]) -> Any:
    in_order = sorted(numbered, key=itemgetter(0))
    return merge_all(summary for _, summary in in_order if summary is not None)


class _Summarise:
    """Blocks of a partition -> their summary; None if there are none."""

    def __init__(self, summarise: Callable[[Block], Any]) -> None:
        self.summarise = summarise

    def __call__(self, blocks: Iterator[Block]) -> Iterator[Any]:
        yield merge_all(map(self.summarise, blocks))


class _PickleResults:
    """Record batches of a partition -> a row for each object that a function makes of its blocks."""

    def __init__(
        self, selection: Selection, function: Callable[[Iterator[Block]], Iterator[Any]]
    ) -> None:
        self.selection, self.function = selection, function

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        blocks = (block for batch in batches for block in self.selection.blocks(batch))
        with one_blas_thread():
            for result in self.function(blocks):
                column = pa.array([pickle.dumps(result)], pa.binary())
                yield pa.RecordBatch.from_arrays([column], names=[_OBJECT])


class _BatchesWithColumns:
    """Record batches -> the same with more columns."""

    def __init__(self, function: Callable[[pa.RecordBatch], pa.Table]) -> None:
        self.function = function

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                made = self.function(batch).combine_chunks().to_batches()[0]
                names = [*batch.schema.names, *made.schema.names]
                yield pa.RecordBatch.from_arrays([*batch.columns, *made.columns], names=names)
