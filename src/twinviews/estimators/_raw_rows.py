"""Data frames with more in them than numbers, on their way into an estimator and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinviews.estimators._weights import check_weight
from twinviews.tables.engines import engine_of, missing_engine

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


def learn_encoder(X: Any, X_unlabeled: Any, sample_weight: Any) -> Encoder | None:
    """How the columns of data frames become numbers; None if they are numbers, all of them."""
    parts = [X] if X_unlabeled is None else [X, X_unlabeled]
    for part in parts:
        check_frame(part)
    if not all(map(is_frame, parts)) or all(map(_is_plain_pandas, parts)):
        return None
    frames = [as_arrow(part) for part in parts]
    from twinviews.encoding.encoder import encoder_of_frames, is_plain_frame

    if all(map(is_plain_frame, frames)):
        return None
    weight = None
    if sample_weight is not None:
        weight = check_weight(sample_weight, X)
    return encoder_of_frames(frames, weight)


def encode(encoder: Encoder, X: Any) -> np.ndarray:
    """(rows, D) numbers of a data frame."""
    if not is_frame(X):
        raise ValueError(
            f"This model was fitted on a table with named columns, not all of them numbers, and needs "
            f"such a table here; this is a {type(X).__name__}. The columns are "
            f"{', '.join(encoder.names)}."
        )
    return encoder(as_arrow(X))


def column_names(X: Any) -> np.ndarray | None:
    """As scikit-learn has them: None unless all are strings."""
    names = _names(X)
    return np.array(names, dtype=object) if all(isinstance(name, str) for name in names) else None


def _names(X: Any) -> list[Any]:
    return list(X.column_names if hasattr(X, "column_names") else X.columns)


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "dtypes"))


def check_frame(X: Any) -> None:
    """Columns that are there, in memory, and each with a name of its own; arrays pass."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, whose rows are not there yet. Give X.collect().")
    if engine_of(X) != "pyarrow":
        raise TypeError(
            f"X is a {type(X).__name__} of {engine_of(X)}, whose rows are not in memory. Bring them "
            f"there, or use fit_table and predict_table, which take such tables as they are."
        )
    if not is_frame(X):
        return
    names = _names(X)
    if not names:
        raise ValueError("No input column: X has 0 feature(s). Give a table with at least one.")
    for alike in (list(map(str, names)), names):  # 1 and "1" are one name here, 1 and True in pandas
        if len(set(alike)) < len(alike):
            twice = next(name for name in alike if alike.count(name) > 1)
            raise ValueError(f"Two columns have the name {twice!r}. Rename one of them.")


def check_numbers_only(X: Any) -> None:
    """For a model of numbers: a frame, if it is one, whose columns are numbers as well."""
    if not is_frame(X) or (_is_pandas(X) and set(_kinds(X)) <= set("fiub")):
        return
    frame = as_arrow(X)
    from twinviews.tables.arrow import is_plain

    for field in frame.schema:
        if not is_plain(field.type):
            raise ValueError(
                f"Column {field.name!r} is of type {field.type}, and this model was fitted on numbers "
                f"alone. Make it numbers, without blanks."
            )


def dense_columns(X: Any) -> Any:
    """A pandas frame with some sparse columns, or with sparse ones that leave out something else than
    zeros, as one without; all others as they are."""
    if not _is_pandas(X):
        return X
    sparse = [name for name, dtype in X.dtypes.items() if hasattr(dtype, "fill_value")]
    without_zeros = [name for name in sparse if X.dtypes[name].fill_value == 0]
    if not sparse or len(without_zeros) == X.shape[1]:
        return X
    return X.astype({name: X.dtypes[name].subtype for name in sparse})


def _is_pandas(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas"


def _is_plain_pandas(X: Any) -> bool:
    """Whether a pandas frame holds numbers only, seen without a copy in another library."""
    if not _is_pandas(X):
        return False
    return set(_kinds(X)) <= set("fiub") and not X.isna().to_numpy().any()


def _kinds(X: Any) -> list[str]:
    return [getattr(dtype, "kind", "O") for dtype in X.dtypes]


def as_arrow(X: Any) -> Any:
    try:
        from twinviews.tables import arrow
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    return arrow.as_arrow(dense_columns(X))
