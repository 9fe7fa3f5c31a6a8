"""Spark data frames: Arrow batches become summaries on the executors, and a tree merges them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from twinviews.tables.arrow import Selection
from twinviews.tables.base import Block, Summary, merge_all, refuse_nothing
from twinviews.threads import one_blas_thread

S = TypeVar("S", bound=Summary)


class SparkTable:
    """A Spark data frame; only summaries leave the executors, and few of them reach the driver."""

    def __init__(
        self,
        frame: Any,
        columns: Sequence[str] | None,
        targets: Sequence[str],
        weight: str | None,
    ) -> None:
        self.selection = Selection(to_arrow_schema(frame.schema), columns, targets, weight)
        self.frame = frame.select(*self.selection.names)

    def fold(self, summarise: Callable[[Block], S]) -> S:
        summaries = self.frame.mapInArrow(
            _SummariseBatches(self.selection, summarise), "summary binary"
        )
        parts = summaries.rdd.map(_unpack)
        # The driver merges about P^(1/depth) summaries; some eight, however many partitions there are.
        depth = max(2, math.ceil(math.log(max(parts.getNumPartitions(), 2), 8)))
        merged = parts.treeReduce(_merge_pair, depth)
        return refuse_nothing(merged)


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


def _unpack(row: Any) -> Any:
    # Written by _SummariseBatches of this same job, on an executor of the user's own cluster.
    return pickle.loads(bytes(row.summary))


def _merge_pair(first: S | None, second: S | None) -> S | None:
    return merge_all(summary for summary in (first, second) if summary is not None)


def predict_frame(frame: Any, columns: Sequence[str], predict: Any, kinds: dict[str, str]) -> Any:
    """The frame with columns of predictions added; ``predict`` maps (rows, D) to arrays by name."""
    selection = Selection(to_arrow_schema(frame.schema), columns, [], None)
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
