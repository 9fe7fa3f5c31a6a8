"""fit_table and predict_table: the same estimators on files, Dask and Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

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
    from twinviews.estimators._frame import SemiSupervised as _Frame
else:
    _Frame = object


class TableMethods(_Frame):
    """Tables that need not fit in memory."""

    def fit_table(
        self,
        source: Any,
        *,
        target: str | Sequence[str],
        columns: Sequence[str] | None = None,
        unlabeled: Any = None,
        weight: str | None = None,
        encode: bool | str = "auto",
        kinds: Mapping[str, str] | None = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit on a table of any size: files, a Dask or Spark data frame, an Arrow table.

        The rows are read twice, block by block; memory does not grow with their number. The model is
        that of ``fit`` on the same rows.

        Parameters
        ----------
        source : path, list of paths, data set or data frame
            Parquet, CSV or Arrow IPC: a file, a folder, a partitioned data set, a
            ``pyarrow.dataset.Dataset`` (on any file system that pyarrow knows) or ``pyarrow.Table``; a
            Dask data frame; a Spark data frame.
        target : str or list of str
            Column of the labels, with nulls where there is none; several columns for several targets.
        columns : list of str, optional
            Input columns; by default all others.
        unlabeled : as source, or a list of such, optional
            More tables with the same input columns and no labels.
        weight : str, optional
            Column of weights.
        encode : bool or "auto", default="auto"
            Whether columns become numbers as by :class:`TableEncoder`, which takes one more pass:
            words, dates and blanks then are inputs too, and columns that say nothing are left out.
            "auto" does where some column is not a number by its type; blanks among numbers then are
            an error that says where.
        kinds : mapping of str to str, optional
            What columns are to be taken for: "number", "boolean", "date" or "category".
        checkpoint : path, optional
            File in which the passes over files remember how far they are, once a second. If the
            process is killed, the same call goes on from there and ends with the identical model; the
            file is removed at the end. (A Dask or Spark cluster repeats what is lost by itself.)

        Returns
        -------
        self
        """
        self._check_parameters()
        if encode != AUTO:
            check_flag("encode", encode)
        if kinds and not encode:
            raise ValueError("kinds says what columns become, and encode=False that none does.")
        targets = [target] if isinstance(target, str) else list(target)
        options: dict[str, Any] = {"n_threads": self.n_threads, "progress": self.progress}
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
        with all_or_nothing(self):
            self._encoder = self._learn_encoder(whole, selection, kinds or {}) if raw else None
            notes = None if checkpoint is None else self._take_notes(checkpoint, tables)
            self._one_column = isinstance(target, str)
            self._remember_columns(np.array(names, dtype=object), len(names))
            self._fit_table(whole if self._encoder is None else self._encoder.table(whole))
        if notes is not None:
            notes.remove()
        if is_classifier(self) and is_whole(selection.schema.field(targets[0]).type):
            # Blanks beside them made floats of whole numbers.
            self.classes_ = self.classes_.astype(np.int64)
        return self

    classes_: Any  # of classifiers

    def _learn_encoder(self, table: Table, selection: Any, given: Mapping[str, Any]) -> Encoder:
        from twinviews.encoding.encoder import encoder_of, facts_of_table, kinds_of

        kinds = kinds_of(selection.schema, selection.columns, given)
        return encoder_of(facts_of_table(table, kinds), given)

    def _take_notes(self, path: Any, tables: Sequence[Table]) -> Checkpoint:
        if not all(hasattr(table, "fingerprint") for table in tables):
            raise ValueError(
                "checkpoint is for files. A Dask or Spark cluster repeats by itself what is lost."
            )
        if getattr(self, "random_state", 0) is None:
            raise ValueError(
                "checkpoint needs a number as random_state: with None, the passes before and after a "
                "kill would choose other landmarks."
            )
        # Another version may choose or sum something else.
        about = [version("twinviews"), type(self).__name__, repr(self.get_params())]
        about.append(repr(self._encoder))
        about += [table.fingerprint() for table in tables]  # type: ignore[attr-defined]
        fingerprint = hashlib.sha256("\n".join(about).encode()).hexdigest()
        notes = Checkpoint(path, fingerprint, [FirstPass, Moments])
        for table in tables:
            table.checkpoint = notes  # type: ignore[attr-defined]
        return notes

    def predict_table(self, source: Any, out: Any = None, *, keep: Sequence[str] = ()) -> Any:
        """Predict for a table of any size.

        Parameters
        ----------
        source : as for ``fit_table``, with the input columns of the fit
        out : path
            Parquet file to write, row by row as the source has them. It appears when it is complete;
            until then there is a file beside it whose name begins with a dot. For Spark, None.
        keep : list of str
            Columns of the source to carry over, such as an id. For Spark, all are.

        Returns
        -------
        The path, or for Spark a data frame with the columns of predictions added.
        """
        check_is_fitted(self)
        names = self._input_names()
        if engine_of(source) == "pyspark":
            from twinviews.tables.spark import predict_frame

            sample = self._prediction_columns(np.zeros((1, self._width)))
            kinds = {name: _spark_kind(values) for name, values in sample.items()}
            raw = self._encoder is not None
            return predict_frame(source, names, self._predict_block, kinds, raw=raw)
        if out is None:
            raise ValueError("out=None: name a Parquet file to write the predictions to.")
        self._predict_to_file(source, Path(out), keep)
        return Path(out)

    def predict_batches(
        self, source: Any, *, keep: Sequence[str] = (), coverage: float | None = None
    ) -> Iterator[Any]:
        """Predict for a table of any size, block by block, in the order of its rows.

        Parameters
        ----------
        source : as for ``fit_table``, with the input columns of the fit; not of Dask or Spark
        keep : list of str
            Columns of the source to carry over.
        coverage : float, optional
            For regressors, of intervals to add as columns ``lower`` and ``upper``.

        Yields
        ------
        pyarrow.Table
            The columns kept, then those of predictions.
        """
        check_is_fitted(self)
        names = self._input_names()
        try:
            import pyarrow as pa

            from twinviews.tables.arrow import ArrowTable, Selection, open_dataset
        except ImportError as error:
            raise missing_engine("pyarrow") from error
        dataset = open_dataset(source)
        raw = self._encoder is not None
        inputs = Selection(dataset.schema, names, [], None, raw=raw)
        table = ArrowTable(dataset, Selection(dataset.schema, names, keep, None, raw=raw), None, False)

        def predict_piece(piece: Any) -> Any:
            written = []
            with one_blas_thread(look=False):  # not around a yield: the caller's work is none of ours
                for batch in table.batches(piece):
                    found = self._predict_block(inputs.inputs(batch), coverage)
                    columns = {name: batch.column(name) for name in keep}
                    _check_new_names(found, columns)
                    written.append(pa.table({**columns, **found}))
            return pa.concat_tables(written) if written else None

        with one_blas_thread() as allowed:
            threads = self.n_threads or allowed
        with (
            table.steady(),
            progress_bar(table.count() if self.progress else None, self.progress) as bar,
        ):
            for predicted in map_in_order(predict_piece, table.pieces(), threads):
                if predicted is not None:
                    yield predicted
                    bar.update(predicted.num_rows)

    def _input_names(self) -> list[str]:
        if self._encoder is not None:
            return self._encoder.names
        if not hasattr(self, "feature_names_in_"):
            raise ValueError(
                "This model was fitted on rows without column names, so it cannot tell which columns "
                "of a table are its inputs. Fit it on a data frame or with fit_table."
            )
        return [str(name) for name in self.feature_names_in_]

    def _predict_block(self, rows: Any, coverage: float | None = None) -> dict[str, np.ndarray]:
        """Columns of predictions, for rows as a table's blocks have them."""
        X = rows if self._encoder is None else self._encoder(rows)
        return self._prediction_columns(X, coverage)

    def _predict_to_file(self, source: Any, out: Path, keep: Sequence[str]) -> None:
        tables = self.predict_batches(source, keep=keep)
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
