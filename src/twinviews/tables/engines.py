"""From what a user names to a table: the one place that knows which engines there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from twinviews.tables.base import Table

if TYPE_CHECKING:  # it needs pyarrow, which need not be installed
    from twinviews.tables.arrow import Selection

_EXTRAS = {
    "pyarrow": ("files", "reading files"),
    "dask": ("dask", "Dask arrays and frames"),
    "pyspark": ("spark", "Spark data frames"),
}


def engine_of(source: Any) -> str:
    """The library whose object the source is: dask, pyspark, or pyarrow for all others."""
    library = type(source).__module__.partition(".")[0]
    if library in ("dask", "dask_expr"):
        return "dask"
    return "pyspark" if library == "pyspark" else "pyarrow"


def open_table(
    source: Any,
    *,
    columns: Sequence[str] | None,
    targets: Sequence[str],
    weight: str | None,
    n_threads: int | None,
    progress: bool,
    raw: bool | None = False,
) -> tuple[Table, Selection]:
    """The source as a table, and which of its columns are what."""
    engine = engine_of(source)
    try:
        if engine == "dask":
            from twinviews.tables.dask import frame_table

            return frame_table(source, columns, targets, weight, raw=raw)
        if engine == "pyspark":
            from twinviews.tables.spark import SparkTable

            table = SparkTable(source, columns, targets, weight, raw=raw)
            return table, table.selection
        from twinviews.tables.arrow import ArrowTable, Selection, open_dataset
    except ImportError as error:
        raise missing_engine(engine) from error
    dataset = open_dataset(source)
    selection = Selection(dataset.schema, columns, targets, weight, raw=raw)
    return ArrowTable(dataset, selection, n_threads, progress), selection


def is_whole(type_: Any) -> bool:
    """Whether an Arrow type is one of whole numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(type_))


def missing_engine(engine: str) -> ImportError:
    extra, what = _EXTRAS[engine]
    return ImportError(
        f"For {what} {engine} is needed, which is not installed: pip install twinviews[{extra}]"
    )
