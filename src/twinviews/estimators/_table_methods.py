"""fit_table and predict_table: the same estimators on files, Dask and Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews._system.whole_files import told_of, whole_file
from twinviews.estimators._all_or_nothing import all_or_nothing
from twinviews.estimators._checks import AUTO, check_flag
from twinviews.method.moments import Moments
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import StackedTable, Table
from twinviews.tables.checkpoint import Checkpoint
from twinviews.tables.engines import engine_of, is_whole, missing_engine, open_table

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


def fit_table(
    model: Any,
    source: Any,
    target: str | Sequence[str],
    columns: Sequence[str] | None,
    unlabeled: Any,
    weight: str | None,
    encode: bool | str,
    kinds: Mapping[str, str] | None,
    checkpoint: Any,
) -> None:
    """Fit a model on a table of any size."""
    if encode != AUTO:
        check_flag("encode", encode)
    if kinds and not encode:
        raise ValueError("kinds says what columns become, and encode=False that none does.")
    targets = [target] if isinstance(target, str) else list(target)
    options: dict[str, Any] = {"n_threads": model.n_threads, "progress": model.progress}
    raw = None if encode == AUTO and not kinds else bool(encode)
    table: Table
    table, selection = open_table(
        source, columns=columns, targets=targets, weight=weight, raw=raw, **options
    )
    tables, names, raw = [table], selection.columns, selection.raw
    for more in unlabeled if isinstance(unlabeled, (list, tuple)) else [unlabeled]:
        if more is not None:
            rest, _ = open_table(more, columns=names, targets=[], weight=None, raw=raw, **options)
            tables.append(rest)
    whole = table if len(tables) == 1 else StackedTable(*tables)
    with all_or_nothing(model):
        model._encoder = _learn_encoder(whole, selection, kinds or {}) if raw else None
        notes = None if checkpoint is None else _take_notes(model, checkpoint, tables)
        model._one_column = isinstance(target, str)
        model._remember_columns(np.array(names, dtype=object), len(names))
        model._fit_blocks(whole if model._encoder is None else model._encoder.table(whole))
    if notes is not None:
        notes.remove()
    if is_classifier(model) and is_whole(selection.schema.field(targets[0]).type):
        # Blanks beside them made floats of whole numbers.
        model.classes_ = model.classes_.astype(np.int64)


def _learn_encoder(table: Table, selection: Any, given: Mapping[str, Any]) -> Encoder:
    from twinviews.encoding.encoder import encoder_of, facts_of_table, kinds_of

    kinds = kinds_of(selection.schema, selection.columns, given)
    return encoder_of(facts_of_table(table, kinds), given)


def _take_notes(model: Any, path: Any, tables: Sequence[Table]) -> Checkpoint:
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


def predict_table(model: Any, source: Any, out: Any, keep: Sequence[str]) -> Any:
    """Predict for a table of any size, into a file or a Spark frame."""
    names = model._input_names()
    if engine_of(source) == "pyspark":
        from twinviews.tables.spark import predict_frame

        sample = model._prediction_columns(np.zeros((1, model._width)))
        kinds = {name: _spark_kind(values) for name, values in sample.items()}
        raw = model._encoder is not None
        return predict_frame(source, names, partial(_predict_block, model), kinds, raw=raw)
    if out is None:
        raise ValueError("out=None: name a Parquet file to write the predictions to.")
    _predict_to_file(model, source, Path(out), keep)
    return Path(out)


def predict_batches(
    model: Any, source: Any, keep: Sequence[str], coverage: float | None = None
) -> Iterator[Any]:
    """Predict for a table of any size, block by block."""
    names = model._input_names()
    try:
        import pyarrow as pa

        from twinviews.tables.arrow import ArrowTable, Selection, open_dataset
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    dataset = open_dataset(source)
    raw = model._encoder is not None
    inputs = Selection(dataset.schema, names, [], None, raw=raw)
    table = ArrowTable(dataset, Selection(dataset.schema, names, keep, None, raw=raw), None, False)

    def predict_piece(piece: Any) -> Any:
        written = []
        with one_blas_thread(look=False):  # not around a yield: the caller's work is none of ours
            for batch in table.batches(piece):
                found = _predict_block(model, inputs.inputs(batch), coverage)
                columns = {name: batch.column(name) for name in keep}
                _check_new_names(found, columns)
                written.append(pa.table({**columns, **found}))
        return pa.concat_tables(written) if written else None

    with one_blas_thread() as allowed:
        threads = model.n_threads or allowed
    with (
        table.steady(),
        progress_bar(table.count() if model.progress else None, model.progress) as bar,
    ):
        for predicted in map_in_order(predict_piece, table.pieces(), threads):
            if predicted is not None:
                yield predicted
                bar.update(predicted.num_rows)


def _predict_block(model: Any, rows: Any, coverage: float | None = None) -> dict[str, np.ndarray]:
    """Columns of predictions, for rows as a table's blocks have them."""
    X = rows if model._encoder is None else model._encoder(rows)
    return model._prediction_columns(X, coverage)


def _predict_to_file(model: Any, source: Any, out: Path, keep: Sequence[str]) -> None:
    tables = predict_batches(model, source, keep)
    first = next(tables, None)
    if first is None:
        raise ValueError("The table has no rows. Check the path, or the filter that made it.")
    import pyarrow.parquet as pq

    with whole_file(out) as part:
        with told_of(out):
            writer = pq.ParquetWriter(part, first.schema)
        with writer:
            for table in chain([first], tables):
                with told_of(out):
                    writer.write_table(table)


def _check_new_names(found: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    for name in found:
        if name in kept:
            raise ValueError(
                f"The table has a column {name!r} already, which is what the predictions are called. "
                f"Keep the others, by name."
            )


def _spark_kind(values: np.ndarray) -> str:
    kinds = {"f": "double", "i": "long", "b": "boolean"}
    return kinds.get(values.dtype.kind, "string")
