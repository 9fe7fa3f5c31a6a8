"""Which engines there are, and which of them opens what a user names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twinviews.tables.base import SourceTable

if TYPE_CHECKING:  # it needs pyarrow, which need not be installed
    from twinviews.tables.arrow import Selection


@dataclass(frozen=True)
class Wanted:
    """What a caller wants of a table: which columns are what, and how blocks come.

    With ``raw`` the inputs of a block are a record batch, of any types, instead of an array; None
    leaves that to the types.
    """

    columns: Sequence[str] | None = None
    targets: Sequence[str] = ()
    weight: str | None = None
    raw: bool | None = False
    n_threads: int | None = None
    progress: bool = False
    block_rows: int | None = None  # None: few enough for a fit to work on


@dataclass(frozen=True)
class Engine:
    """A library that holds tables, and how one of its tables is opened.

    Parameters
    ----------
    name : str
        The library to install.
    takes : callable
        Whether an object is a table of this engine.
    open : callable
        From such an object and what is wanted of it to a table and its selection of columns. A table
        has ``fold`` and ``map_blocks``; with ``with_columns`` too, ``predict_table`` gives back a
        table of the same engine.
    extra : str
        Of this package, which installs the library.
    used_for : str
        In messages: what the library is needed for.
    """

    name: str
    takes: Callable[[Any], bool]
    open: Callable[[Any, Wanted], tuple[SourceTable, Selection]]
    extra: str = ""
    used_for: str = ""


def library_of(source: Any) -> str:
    """The package that defines the type of an object."""
    return type(source).__module__.partition(".")[0]


def _open_dask(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
    from twinviews.tables.dask import frame_table

    return frame_table(source, wanted)


def _open_spark(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
    from twinviews.tables.spark import SparkTable

    table = SparkTable(source, wanted)
    return table, table.selection


def _open_arrow(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
    from twinviews.tables.arrow import open_arrow

    return open_arrow(source, wanted)


# The last one takes whatever no other does: files, Arrow objects and data frames in memory.
_ARROW = Engine("pyarrow", lambda source: True, _open_arrow, "files", "reading files")
_ENGINES = [
    Engine(
        "dask",
        lambda source: library_of(source) in ("dask", "dask_expr"),
        _open_dask,
        "dask",
        "Dask arrays and frames",
    ),
    Engine(
        "pyspark",
        lambda source: library_of(source) == "pyspark",
        _open_spark,
        "spark",
        "Spark data frames",
    ),
]


def register_engine(engine: Engine) -> None:
    """Let every function that takes a table take those of another engine."""
    _ENGINES.insert(0, engine)


def _engine(source: Any) -> Engine:
    return next((engine for engine in _ENGINES if engine.takes(source)), _ARROW)


def engine_of(source: Any) -> str:
    """The name of the engine that opens a source: pyarrow for all that no other takes."""
    return _engine(source).name


def open_with_engine(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
    """The source as a table, and which of its columns are what."""
    engine = _engine(source)
    try:
        return engine.open(source, wanted)
    except ImportError as error:
        raise missing_engine(engine.name) from error


def missing_engine(name: str) -> ImportError:
    """The error that names a library which is not installed, and the extra that brings it."""
    engine = next(engine for engine in (*_ENGINES, _ARROW) if engine.name == name)
    extra = f"twinviews[{engine.extra}]" if engine.extra else name
    return ImportError(
        f"For {engine.used_for or 'such tables'} {name} is needed, which is not installed: pip install "
        f"{extra}"
    )
