"""The one door for tables: whatever a user names becomes a table of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from twinviews.tables.base import SourceTable
from twinviews.tables.engines import Wanted, engine_of, library_of, missing_engine, open_with_engine

if TYPE_CHECKING:  # they need pyarrow, which need not be installed
    from twinviews.reading import ReadingOptions
    from twinviews.tables.arrow import Selection


def open_table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    targets: Sequence[str] = (),
    weight: str | None = None,
    n_threads: int | None = None,
    progress: bool = False,
    raw: bool | None = False,
    block_rows: int | None = None,
) -> tuple[SourceTable, Selection]:
    """The source as a table, and which of its columns are what."""
    wanted = Wanted(columns, targets, weight, raw, n_threads, progress, block_rows)
    return open_with_engine(open_source(source), wanted)


def open_source(
    source: Any,
    reading: ReadingOptions | None = None,
    *,
    passes: int = 1,
    expected: Mapping[str, str] | None = None,
    missing: Sequence[str] | None = None,
) -> Any:
    """Files and streams as a ``Reading``; a table of an engine, or in memory, as it is.

    Parameters
    ----------
    source : path, list of paths, "-", binary file, or a table of any engine
    reading : ReadingOptions, optional
        What is known of a file; the rest is found out.
    passes : int, default=1
        How often the rows will be read. Text is then parsed once more, into a temporary copy that is
        fast to read.
    expected, missing : optional
        What was found out of the table that a model was fitted on: see ``ReadingOptions``. Options
        that the caller gives come first.
    """
    if not is_file(source):
        if reading is not None and not _is_reading(source):
            raise ValueError(
                f"reading=... says how a file is written, and this is a {type(source).__name__}, whose "
                f"columns have types of their own. Leave it out."
            )
        return _read_often(source, passes) if _is_reading(source) else source
    try:
        import pyarrow as pa  # noqa: F401

        from twinviews.reading import read, written_like
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    options = written_like(reading, expected, missing)
    if hasattr(source, "read"):
        return _read_often(read("-", options, stream=source), passes)
    return _read_often(read(source, options), passes)


def _read_often(reading: Any, passes: int) -> Any:
    from twinviews.reading import columnar_copy

    return columnar_copy(reading) if passes > 1 else reading


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


def _is_reading(source: Any) -> bool:
    return library_of(source) == "twinviews" and type(source).__name__ == "Reading"


def is_table(source: Any) -> bool:
    """Whether a source is read block by block, not as rows in memory."""
    if is_file(source) or _is_reading(source) or library_of(source) == "pyarrow":
        return True
    return engine_of(source) != "pyarrow"
