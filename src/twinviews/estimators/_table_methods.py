"""fit_table and predict_table: the same estimators on files, Dask and Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from twinviews.estimators._all_or_nothing import all_or_nothing
from twinviews.estimators._checks import AUTO, check_flag
from twinviews.method.moments import Moments
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table
from twinviews.tables.checkpoint import Checkpoint
from twinviews.tables.engines import missing_engine

if TYPE_CHECKING:
    from twinviews.reading import ReadingOptions
    from twinviews.tables.predictions import TablePredictor


class FitSource(NamedTuple):
    """A table to fit on, as the user named it."""

    source: Any
    target: str | Sequence[str]
    columns: Sequence[str] | None
    unlabeled: Any
    weight: str | None
    encode: bool | str
    kinds: Mapping[str, str] | None
    reading: ReadingOptions | None


def fit_on_table(model: Any, wanted: FitSource, checkpoint: Any) -> None:
    """Fit a model on a table of any size; its parameters are checked."""
    found = _open(model, wanted)
    with all_or_nothing(model):
        model._encoder = found.encoder
        notes = None if checkpoint is None else _checkpoint(model, checkpoint, found.tables)
        model._one_column = isinstance(wanted.target, str)
        model._remember_columns(np.array(found.names, dtype=object), len(found.names))
        model._fit_blocks(found.table)
    if notes is not None:
        notes.remove()
    if is_classifier(model) and found.has_whole_labels():
        # Blanks beside them made floats of whole numbers.
        model.classes_ = model.classes_.astype(np.int64)
    if found.about:
        task = "classification" if is_classifier(model) else "regression"
        model.about_ = {"target": wanted.target, "task": task, **found.about}


def _open(model: Any, wanted: FitSource) -> Any:
    if wanted.encode != AUTO:
        check_flag("encode", wanted.encode)
    if wanted.kinds and not wanted.encode:
        raise ValueError("kinds says what columns become, and encode=False that none does.")
    try:
        from twinviews.encoding.sources import open_fit_source
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    target, unlabeled = wanted.target, wanted.unlabeled
    more = unlabeled if isinstance(unlabeled, list | tuple) else [unlabeled]
    return open_fit_source(
        wanted.source,
        targets=[target] if isinstance(target, str) else list(target),
        columns=wanted.columns,
        unlabeled=[one for one in more if one is not None],
        weight=wanted.weight,
        raw=None if wanted.encode == AUTO and not wanted.kinds else bool(wanted.encode),
        kinds=wanted.kinds,
        reading=wanted.reading,
        n_threads=model.n_threads,
        progress=model.progress,
    )


def _checkpoint(model: Any, path: Any, tables: Sequence[Table]) -> Checkpoint:
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
    about.append(repr(model._encoder))
    about += [table.fingerprint() for table in tables]  # type: ignore[attr-defined]
    fingerprint = hashlib.sha256("\n".join(about).encode()).hexdigest()
    notes = Checkpoint(path, fingerprint, [FirstPass, Moments])
    for table in tables:
        table.checkpoint = notes  # type: ignore[attr-defined]
    return notes


def predict_to_table(
    model: Any, source: Any, out: Any, keep: Sequence[str], reading: ReadingOptions | None
) -> Any:
    """Predictions in a file, or in a lazy frame of the engine of the source."""
    if out is not None:
        from twinviews.tables.predictions import write_predictions

        write_predictions(predictions_by_batch(model, source, keep, None, reading), Path(out))
        return Path(out)
    predictor, source = _predictor(model, (), None, source, reading)
    from twinviews.tables.predictions import predicted_frame

    sample = model._prediction_columns(np.zeros((1, model._width)), None)
    return predicted_frame(source, predictor, sample)


def predictions_by_batch(
    model: Any,
    source: Any,
    keep: Sequence[str],
    coverage: float | None,
    reading: ReadingOptions | None,
) -> Iterator[Any]:
    """Predictions as Arrow tables, block by block in the order of the rows."""
    predictor, source = _predictor(model, keep, coverage, source, reading)
    from twinviews.tables.predictions import predicted_batches

    yield from predicted_batches(source, predictor, n_threads=model.n_threads, progress=model.progress)


def _predictor(
    model: Any,
    keep: Sequence[str],
    coverage: float | None,
    source: Any,
    reading: ReadingOptions | None,
) -> tuple[TablePredictor, Any]:
    """What predicts for record batches, and the source read as the table of the fit was."""
    names = model._input_names()
    try:
        from twinviews.encoding.sources import read_like_the_fit
        from twinviews.tables.predictions import TablePredictor
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    predict = partial(_predict_block, model, coverage=coverage)
    predictor = TablePredictor(names, predict, raw=model._encoder is not None, keep=list(keep))
    return predictor, read_like_the_fit(source, getattr(model, "about_", {}), reading)


def _predict_block(model: Any, rows: Any, coverage: float | None) -> dict[str, np.ndarray]:
    """Columns of predictions, for rows as a table's blocks have them."""
    X = rows if model._encoder is None else model._encoder(rows)
    columns: dict[str, np.ndarray] = model._prediction_columns(X, coverage)
    return columns
