"""Data frames with more in them than numbers, on their way into an estimator and out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinviews.tables.engines import engine_of, missing_engine


def remember_columns(model: Any, names: Any, width: int) -> None:
    """As scikit-learn does: how many columns a fit had and, if all are strings, their names."""
    model.n_features_in_ = width
    vars(model).pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.array(names, dtype=object)


def names_of(X: Any) -> list[Any]:
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
    names = names_of(X)
    if not names:
        raise ValueError("No input column: X has 0 feature(s). Give a table with at least one.")
    for alike in (list(map(str, names)), names):  # 1 and "1" are one name here, 1 and True in pandas
        if len(set(alike)) < len(alike):
            twice = next(name for name in alike if alike.count(name) > 1)
            raise ValueError(f"Two columns have the name {twice!r}. Rename one of them.")


def check_numbers_only(X: Any) -> None:
    """For a model of numbers: a frame, if it is one, whose columns are numbers as well."""
    if not is_frame(X) or _is_pandas_of_numbers(X):
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


def _is_pandas_of_numbers(X: Any) -> bool:
    return _is_pandas(X) and all(getattr(dtype, "kind", "O") in "fiub" for dtype in X.dtypes)


def is_plain_pandas(X: Any) -> bool:
    """Whether a pandas frame holds numbers in all rows, seen without a copy in another library."""
    return _is_pandas_of_numbers(X) and not X.isna().to_numpy().any()


def as_arrow(X: Any) -> Any:
    try:
        from twinviews.tables import arrow
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    return arrow.as_arrow(dense_columns(X))
