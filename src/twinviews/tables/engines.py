"""Which engines there are, and which of them opens what a user names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from twinviews.tables.base import SourceTable

if TYPE_CHECKING:  # it needs pyarrow, which need not be installed
    from twinviews.tables.arrow import Selection


@dataclass(frozen=True)
class Wanted:
    """What a caller wants of a table: which columns are what, and how blocks come."""

    columns: Sequence[str] | None = None  # inputs; None: all that are not something else
    targets: Sequence[str] = ()
    weight: str | None = None
    label_probability: str | None = None
    strata: str | None = None
    cluster: str | None = None
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


def _open_by(module: str) -> Callable[[Any, Wanted], tuple[SourceTable, Selection]]:
    """The function ``open_table`` of a module, imported when it is needed: not all are installed."""

    def opened(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
        return import_module(f"twinviews.tables.{module}").open_table(source, wanted)

    return opened


def _defined_by(*libraries: str) -> Callable[[Any], bool]:
    return lambda source: library_of(source) in libraries


# The last one takes whatever no other does: files, Arrow objects and data frames in memory.
_ARROW = Engine("pyarrow", lambda source: True, _open_by("arrow"), "files", "reading files")
_DASK = Engine(
    "dask", _defined_by("dask", "dask_expr"), _open_by("dask"), "dask", "Dask arrays and frames"
)
_SPARK = Engine("pyspark", _defined_by("pyspark"), _open_by("spark"), "spark", "Spark data frames")
_ENGINES = [_DASK, _SPARK]


def register_engine(engine: Engine) -> None:
    """Let every function that takes a table take those of another engine."""
    _ENGINES.insert(0, engine)


def _engine(source: Any) -> Engine:
    return next((engine for engine in _ENGINES if engine.takes(source)), _ARROW)


def engine_of(source: Any) -> str:
    """The name of the engine that opens a source: pyarrow for all that no other takes."""
    return _engine(source).name


def open_table(source: Any, wanted: Wanted) -> tuple[SourceTable, Selection]:
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


def is_file(source: Any) -> bool:
    """Whether it is named, or comes as bytes: what it holds must be found out."""
    if engine_of(source) != "pyarrow":
        return False
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, PathLike)) for one in source)
    if isinstance(source, (str, PathLike)):
        return True
    # A data frame may have a column of that name.
    return callable(getattr(source, "read", None)) and not hasattr(source, "columns")


def is_table(source: Any) -> bool:
    """Whether a source is read block by block, not as rows in memory."""
    if engine_of(source) != "pyarrow" or is_file(source):
        return True
    is_reading = library_of(source) == "twinviews" and type(source).__name__ == "Reading"
    return is_reading or library_of(source) == "pyarrow"
