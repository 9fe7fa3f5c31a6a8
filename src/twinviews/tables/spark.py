"""Spark data frames: Arrow batches become summaries on the executors, and a tree merges them."""

from __future__ import annotations

import math
import pickle  # nosec B403  # of what this very job wrote, see _number
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from twinviews._system.threads import one_blas_thread
from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing

S = TypeVar("S", bound=Summary)

# Summaries that one task, and in the end the driver, merges.
_FAN_IN = 8


class SparkTable:
    """A Spark data frame; only summaries leave the executors, and few of them reach the driver."""

    def __init__(
        self,
        frame: Any,
        columns: Sequence[str] | None,
        targets: Sequence[str],
        weight: str | None,
        *,
        raw: bool | None,
    ) -> None:
        self.selection = Selection(to_arrow_schema(frame.schema), columns, targets, weight, raw=raw)
        self.frame = frame.select(*self.selection.names)

    def fold(self, summarise: Callable[[Block], S]) -> S:
        summaries = self.frame.mapInArrow(
            _SummariseBatches(self.selection, summarise), "summary binary"
        )
        numbered = summaries.rdd.mapPartitionsWithIndex(_number)
        return refuse_nothing(_merge_tree(numbered))


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
    # Each row was written by _SummariseBatches of this same job, on an executor of the user's cluster.
    return ((index, pickle.loads(bytes(row.summary))) for row in rows)  # nosec B301


def _to_parent(numbered: tuple[int, Any]) -> tuple[int, tuple[int, Any]]:
    return numbered[0] // _FAN_IN, numbered


def _merge_in_order(numbered: Iterable[tuple[int, Any]]) -> Any:
    in_order = sorted(numbered, key=itemgetter(0))
    return merge_all(summary for _, summary in in_order if summary is not None)


class _SummariseBatches:
    """Record batches of a partition -> one row with its summary."""

    def __init__(self, selection: Selection, summarise: Callable[[Block], Any]) -> None:
        self.selection, self.summarise = selection, summarise

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with one_blas_thread():
            merged = merge_all(
                self.summarise(block) for batch in batches for block in self.selection.blocks(batch)
            )
        column = pa.array([pickle.dumps(merged)], pa.binary())
        yield pa.RecordBatch.from_arrays([column], names=["summary"])


def predict_frame(
    frame: Any, columns: Sequence[str], predict: Any, kinds: dict[str, str], *, raw: bool | None
) -> Any:
    """The frame with columns of predictions added; ``predict`` makes them of a block's rows."""
    selection = Selection(to_arrow_schema(frame.schema), columns, [], None, raw=raw)
    schema = StructType(list(frame.schema.fields))  # add() would change the schema of the frame
    for name, kind in kinds.items():
        schema = schema.add(name, kind)
    return frame.mapInArrow(_PredictBatches(selection, predict), schema)


class _PredictBatches:
    def __init__(self, selection: Selection, predict: Any) -> None:
        self.selection, self.predict = selection, predict

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                found = self.predict(self.selection.inputs(batch))
                arrays = [*batch.columns, *(pa.array(values) for values in found.values())]
                yield pa.RecordBatch.from_arrays(arrays, names=[*batch.schema.names, *found])
