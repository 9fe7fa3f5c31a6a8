"""fit_table and predict_table: the same estimators on files, Dask and Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._all_or_nothing import all_or_nothing
from twinviews.estimators._checks import AUTO, check_flag
from twinviews.estimators._outside import (
    OUTSIDE,
    look_at,
    names_outside,
    profile_of,
    refuse_without_profile,
    warn_of_counts,
)
from twinviews.estimators._questions import rows_of
from twinviews.estimators._raw_rows import remember_columns
from twinviews.passes.first_pass import SUMMARIES
from twinviews.tables import Table, Wanted
from twinviews.tables.base import merge_all
from twinviews.tables.checkpoint import Checkpoint
from twinviews.tables.engines import missing_engine

if TYPE_CHECKING:
    from twinviews.passes.outside_rows import OutsideCounts
    from twinviews.reading import ReadingOptions

Model = TypeVar("Model")


def fit_table(
    self: Model,
    source: Any,
    *,
    target: str | Sequence[str],
    columns: Sequence[str] | None = None,
    unlabeled: Any = None,
    without_unlabeled: bool = False,
    weight: str | None = None,
    label_probability: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    encode: bool | str = "auto",
    kinds: Mapping[str, str] | None = None,
    reading: ReadingOptions | None = None,
    checkpoint: Any = None,
) -> Model:
    """Fit on a table of any size: files, a Dask or Spark data frame, an Arrow table.

    The rows are read twice, block by block; memory does not grow with their number. The model is
    that of ``fit`` on the same rows, and that of ``twinviews fit`` on the same file.

    Parameters
    ----------
    source : path, list of paths, stream, data set or data frame
        A file, a folder of files or several files in any format that ``twinviews fit`` reads: CSV
        and its kin, Excel, JSON lines, Parquet, Arrow. "-" for standard input, or a binary file; a
        ``twinviews.reading.Reading``; a ``pyarrow.dataset.Dataset`` (on any file system that
        pyarrow knows), ``Table`` or ``RecordBatchReader``; a pandas or polars data frame; a Dask
        or a Spark data frame.
    target : str or list of str
        Column of the labels, with nulls where there is none; several columns for several targets.
    columns : list of str, optional
        Input columns; by default all others.
    unlabeled : as source, or a list of such, optional
        More tables with the same input columns and no labels.
    without_unlabeled : bool, default=False
        Whether to leave rows without a label out: the model is then that of the labeled rows alone,
        and ``n_left_out_`` says how many were. They are still compared with the labeled rows, for
        ``shift_``, which takes one more pass. (For ``fit``, give it the labeled rows only.)
    weight : str, optional
        Column of weights.
    label_probability : str, optional
        Column that has, for each row with a label, the probability with which it was given one: see
        ``fit``.
    strata : str, optional
        Column whose values are the strata within which rows were chosen at random for a label. It
        may be an input, too.
    cluster : str, optional
        Column with the same value in rows that depend on each other, such as those of one patient:
        see ``fit``. It is no input, unless ``columns`` names it.
    encode : bool or "auto", default="auto"
        Whether columns become numbers as by :class:`TableEncoder`, which takes one more pass:
        words, dates and blanks then are inputs too, and columns that say nothing are left out.
        "auto" does for text files and workbooks, and where some column is not a number by its
        type; blanks among numbers otherwise are an error that says where.
    kinds : mapping of str to str, optional
        What columns are to be taken for: "number", "boolean", "date" or "category".
    reading : twinviews.reading.ReadingOptions, optional
        What is known of a file: delimiter, decimal sign, encoding, sheet, words for missing
        values, kinds of columns. The rest is found out, as by ``twinviews fit``, and used again
        by ``predict_table``.
    checkpoint : path, optional
        File in which the passes over files remember how far they are, once a second. If the
        process is killed, the same call goes on from there and ends with the identical model; the
        file is removed at the end. (A Dask or Spark cluster repeats what is lost by itself.)

    Returns
    -------
    self
    """
    model: Any = self
    model._check_parameters()
    if encode != AUTO:
        check_flag("encode", encode)
    check_flag("without_unlabeled", without_unlabeled)
    if kinds and not encode:
        raise ValueError("kinds says what columns become, and encode=False that none does.")
    try:
        from twinviews.encoding.sources import open_fit_source
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    if label_probability is not None and strata is not None:
        raise ValueError("label_probability and strata both say how labels were given. Give one.")
    if strata is not None and without_unlabeled:
        raise ValueError(
            f"strata={strata!r} counts all rows of each stratum, and without_unlabeled=True leaves "
            f"those without a label out. Use label_probability instead of strata."
        )
    targets = [target] if isinstance(target, str) else list(target)
    more = unlabeled if isinstance(unlabeled, list | tuple) else [unlabeled]
    found = open_fit_source(
        source,
        Wanted(
            columns,
            targets,
            weight,
            label_probability,
            strata,
            cluster,
            n_threads=model.n_threads,
            progress=model.progress,
        ),
        unlabeled=[one for one in more if one is not None],
        encode=None if encode == AUTO and not kinds else bool(encode),
        kinds=kinds,
        reading=reading,
    )
    # Before there is a checkpoint, which has the passes of fits and not those of encoders.
    labeled = found.labeled_rows(model.missing_label) if without_unlabeled else found
    with all_or_nothing(model):
        model._encoder, model._rows_are_sparse = found.encoder, False
        model._one_column = isinstance(target, str)
        remember_columns(model, found.selection.columns, len(found.selection.columns))
        model.__dict__.pop("_expected", None)  # classes that an earlier partial_fit was told of
        model._notice(_column_in_memory(source, target))
        read_as = f"{reading!r} {kinds!r} {without_unlabeled}"  # other rows for the same file
        notes = None if checkpoint is None else _checkpoint(model, checkpoint, found.tables, read_as)
        rows = rows_of(found.tables[0], model.missing_label)
        if without_unlabeled:
            model._fit_labeled_rows_alone(found, labeled, rows)
        else:
            model._fit_blocks(found.table, rows=rows)
    if notes is not None:
        notes.remove()
    if is_classifier(model) and found.has_whole_labels():
        # Blanks beside them made floats of whole numbers.
        model.classes_ = model.classes_.astype(np.int64)
    if found.about:
        model.about_ = {"target": target, "task": model._task, **found.about}
    return self


def _column_in_memory(source: Any, target: Any) -> Any:
    """A column of a pandas data frame; None of any other source."""
    known = isinstance(target, str) and hasattr(source, "iloc") and target in source.columns
    return source[target] if known else None


def _checkpoint(model: Any, path: Any, tables: Sequence[Table], read_as: str) -> Checkpoint:
    """A file in which the passes over these tables remember how far they are."""
    if not all(hasattr(table, "fingerprint") for table in tables):
        raise ValueError(
            "checkpoint is for files. A Dask or Spark cluster repeats by itself what is lost."
        )
    if getattr(model, "random_state", 0) is None:
        raise ValueError(
            "checkpoint needs a number as random_state: with None, the passes before and after a "
            "kill would choose other landmarks."
        )
    # Another version may choose or sum something else.
    about = [version("twinviews"), type(model).__name__, repr(model.get_params())]
    about += [repr(model._encoder), read_as]
    about += [table.fingerprint() for table in tables]  # type: ignore[attr-defined]
    fingerprint = hashlib.sha256("\n".join(about).encode()).hexdigest()
    notes = Checkpoint(path, fingerprint, SUMMARIES)
    for table in tables:
        table.checkpoint = notes  # type: ignore[attr-defined]
    return notes


def predict_table(
    self: Any,
    source: Any,
    out: Any = None,
    *,
    keep: Sequence[str] = (),
    outside: bool = False,
    reading: ReadingOptions | None = None,
) -> Any:
    """Predict for a table of any size.

    Like ``predict``, it warns of columns that lie outside what the fit has seen, at the end; not where
    a lazy data frame comes back, whose rows are not read yet.

    Parameters
    ----------
    source : as for ``fit_table``, with the input columns of the fit
    out : path, optional
        File to write, row by row as the source has them: in the format that its ending says (.csv,
        .tsv, .parquet, .arrow, .jsonl, .xlsx), else Parquet. It appears when it is complete; until
        then there is a file beside it whose name begins with a dot. For Dask and Spark data
        frames None gives back a data frame.
    keep : list of str
        Columns of the source to carry over into the file, such as an id.
    outside : bool, default=False
        Whether to add a column ``outside``, with the names of the columns in which the row lies
        outside what the fit has seen, as :meth:`outside` tells; null where there is none.
    reading : twinviews.reading.ReadingOptions, optional
        As in ``fit_table``; what was given or found out there is used where this says nothing.

    Returns
    -------
    The path; without one a lazy Dask or Spark data frame, which has all columns of the source and
    those of predictions.
    """
    if out is not None:
        from twinviews.tables.predictions import write_predictions

        options: dict[str, Any] = {"keep": keep, "outside": outside, "reading": reading}
        write_predictions(predict_batches(self, source, **options), Path(out))
        return Path(out)
    check_flag("outside", outside)
    source = _read_like_the_fit(self, source, reading)
    from twinviews.tables.predictions import predicted_frame

    sample = self._prediction_columns(np.zeros((1, self._width)), None)
    if outside:
        refuse_without_profile(self)
        sample = {**sample, OUTSIDE: _text_column([None])}
    predict = partial(_predict_batch, self, outside=outside)
    return predicted_frame(source, self._input_names(), predict, sample)


def predict_batches(
    self: Any,
    source: Any,
    *,
    keep: Sequence[str] = (),
    coverage: float | None = None,
    by: str | None = None,
    outside: bool = False,
    reading: ReadingOptions | None = None,
) -> Iterator[Any]:
    """Predict for a table of any size, block by block, in the order of its rows.

    After the last block it warns, as ``predict`` does, of columns outside what the fit has seen.

    Parameters
    ----------
    source : as for ``fit_table``, with the input columns of the fit
    keep : list of str
        Columns of the source to carry over.
    coverage : float, optional
        For regressors, of intervals to add as columns ``lower`` and ``upper``.
    by : str, optional
        Column within whose values intervals are to hold, as in ``predict_interval``.
    outside : bool, default=False
        As in ``predict_table``.
    reading : twinviews.reading.ReadingOptions, optional
        As in ``predict_table``.

    Yields
    ------
    pyarrow.Table
        The columns kept, then those of predictions.
    """
    counts: OutsideCounts | None = None
    options: dict[str, Any] = {"coverage": coverage, "by": by, "outside": outside, "reading": reading}
    for table, of_block in counted_batches(self, source, keep=keep, **options):
        counts = merge_all([counts, of_block])
        yield table
    warn_of_counts(self, counts)


def counted_batches(
    model: Any,
    source: Any,
    *,
    keep: Sequence[str] = (),
    coverage: float | None = None,
    by: str | None = None,
    outside: bool = False,
    reading: ReadingOptions | None = None,
) -> Iterator[tuple[Any, OutsideCounts | None]]:
    """As ``predict_batches``, with how much of each block is outside what the fit has seen."""
    check_flag("outside", outside)
    source = _read_like_the_fit(model, source, reading)
    if outside:
        refuse_without_profile(model)
    from twinviews.tables.predictions import predicted_batches

    predict = partial(_predict_and_count, model, coverage=coverage, by=by, outside=outside)
    options = {"n_threads": model.n_threads, "progress": model.progress}
    yield from predicted_batches(source, model._input_names(), predict, list(keep), **options)


def _read_like_the_fit(model: Any, source: Any, reading: ReadingOptions | None) -> Any:
    """The source, read as the table of the fit was."""
    check_is_fitted(model)
    model._input_names()  # an error if there are none, before anything is read
    try:
        from twinviews.encoding.sources import read_like_the_fit
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    return read_like_the_fit(source, getattr(model, "about_", {}), reading)


def _predict_batch(model: Any, batch: Any, *, outside: bool = False) -> dict[str, Any]:
    """Columns of predictions, for rows as a table's blocks have them."""
    return _predict_and_count(model, batch, outside=outside, count=outside)[0]


def _predict_and_count(
    model: Any,
    batch: Any,
    *,
    coverage: float | None = None,
    by: str | None = None,
    outside: bool = False,
    count: bool = True,
) -> tuple[dict[str, Any], OutsideCounts | None]:
    """Columns of predictions, and how much is outside what the fit has seen."""
    numbers = numbers_of(model, batch)
    columns: dict[str, Any] = model._prediction_columns(numbers, coverage, by)
    if not count or profile_of(model) is None:
        return columns, None
    found = look_at(model, numbers if model._encoder is None else batch)
    if outside:
        columns[OUTSIDE] = _text_column(names_outside(model, found, len(numbers)))
    return columns, found.counts


def _text_column(texts: Sequence[str | None]) -> Any:
    import pyarrow as pa

    return pa.array(texts, pa.string())


def numbers_of(model: Any, batch: Any) -> np.ndarray:
    """(rows, D) of a record batch with the columns of the fit."""
    from twinviews.encoding.encoder import numbers_by

    return numbers_by(model._encoder, model._input_names())(batch)
