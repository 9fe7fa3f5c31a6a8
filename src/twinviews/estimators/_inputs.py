"""Rows, labels and weights that the user gave: checked once, at the door, and opened as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from twinviews.estimators._raw_rows import (
    as_arrow,
    check_frame,
    check_numbers_only,
    dense_columns,
    is_frame,
    is_plain_pandas,
    names_of,
    remember_columns,
)
from twinviews.passes.clusters import cluster_hashes
from twinviews.passes.targets import as_array
from twinviews.tables import ArrayTable, Block, Table
from twinviews.tables.double_precision import LARGEST, refuse_too_large
from twinviews.tables.engines import missing_engine

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


# --- rows of a fit, and rows like them -------------------------------------------------------------


def open_arrays(
    model: Any,
    X: Any,
    y: Any,
    X_unlabeled: Any,
    sample_weight: Any,
    label_probability: Any = None,
    cluster: Any = None,
) -> ArrayTable:
    """Rows in memory as a table; the model remembers what their columns were."""
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None. Mark rows "
            f"without a label by NaN or None in y."
        )
    model._encoder = _learn_encoder(X, X_unlabeled, sample_weight)
    if model._encoder is None:
        X = _check_rows(model, X, reset=True)
    else:
        remember_columns(model, names_of(X), X.shape[1])
        X = model._encoder(as_arrow(X))
    model._rows_are_sparse = bool(sparse.issparse(X))
    if model._rows_are_sparse and model._scale_kind() is not None:
        raise ValueError(
            f"scale={model.scale!r} would fill a sparse X. Use scale=None, with a scaler that keeps "
            f"zeros such as MaxAbsScaler in front."
        )
    clusters = present_clusters(cluster, X, sample_weight)
    X, y, weight, probability = check_present_rows(X, y, sample_weight, label_probability)
    model._one_column = y.ndim == 1
    parts = [Block(X, y.reshape(len(y), -1), weight, probability, cluster=clusters)]
    if X_unlabeled is not None:
        X_unlabeled = _check_same_kind(X, as_numbers(model, X_unlabeled))
        ones = None if weight is None else np.ones(X_unlabeled.shape[0])
        parts.append(Block(X_unlabeled, None, ones))
    return ArrayTable(*parts, n_threads=model.n_threads, progress=model.progress)


def open_dask(model: Any, X: Any, y: Any, X_unlabeled: Any, apart: Mapping[str, Any]) -> Table:
    """The same for rows of Dask; ``apart`` are arrays that must be columns of it instead."""
    for name, values in apart.items():
        if values is not None:
            column = name.removeprefix("sample_")
            raise ValueError(
                f"{name} does not go with Dask input to fit. Make it a column of a Dask data frame "
                f"and use fit_table(frame, target=..., {column}=...)."
            )
    try:
        from twinviews.encoding.sources import open_dask_rows
    except ImportError as error:
        raise missing_engine("dask") from error
    table, model._encoder, selection = open_dask_rows(X, y, X_unlabeled)
    model._one_column, model._rows_are_sparse = y.ndim == 1, False
    remember_columns(model, None if selection is None else selection.columns, X.shape[1])
    return table


def _learn_encoder(X: Any, X_unlabeled: Any, sample_weight: Any) -> Encoder | None:
    """How the columns of data frames become numbers; None if they are numbers, all of them."""
    parts = [X] if X_unlabeled is None else [X, X_unlabeled]
    for part in parts:
        check_frame(part)
    if not all(map(is_frame, parts)) or all(map(is_plain_pandas, parts)):
        return None
    frames = [as_arrow(part) for part in parts]
    from twinviews.encoding.encoder import encoder_of_frames, is_plain_frame

    if all(map(is_plain_frame, frames)):
        return None
    weight = None if sample_weight is None else check_weight(sample_weight, X)
    return encoder_of_frames(frames, weight)


def as_numbers(model: Any, X: Any, look: Callable[[Any], None] | None = None) -> Any:
    """Rows like those of the fit, as a float array or a CSR matrix.

    ``look`` is called with the rows before they are encoded.
    """
    check_frame(X)
    encoder: Encoder | None = model._encoder
    if encoder is None:
        check_numbers_only(X)
        X = _check_rows(model, X, reset=False)
        if look is not None:
            look(X)
        return X
    if not is_frame(X):
        raise ValueError(
            f"This model was fitted on a table with named columns, not all of them numbers, and needs "
            f"such a table here; this is a {type(X).__name__}. The columns are "
            f"{', '.join(encoder.names)}."
        )
    X = as_arrow(X)
    numbers = encoder(X)
    if look is not None:
        look(X)
    return numbers


def _check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or a canonical CSR matrix, with the width and names of the fit."""
    _refuse_what_has_no_numbers(X)
    if sparse.issparse(X):
        _check_indices(X)
    with np.errstate(all="ignore"):  # infinity is looked for, and found by a sum
        X = validate_data(
            estimator,
            dense_columns(X) if is_frame(X) else _read_numbers("X", X),
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
        )
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    values = X.data if sparse.issparse(X) else X
    refuse_too_large("X", values, "Divide the column by a number, or leave it out.")
    return X


def _refuse_what_has_no_numbers(X: Any) -> None:
    """What NumPy would turn into numbers that nobody meant."""
    if np.ma.is_masked(X):
        raise ValueError(
            "X is a masked array, and the values under its mask would count like the others. Fill "
            "them, or give a data frame with blanks."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") in ("M", "m"):
        raise ValueError(
            f"X holds values of type {X.dtype}, and inputs must be numbers. Give a data frame, whose "
            f"dates become numbers by themselves."
        )


def _check_indices(X: Any) -> None:
    """A sparse matrix whose indices point outside it would read memory that is not its own."""
    if X.ndim != 2 or X.format not in ("csr", "csc", "bsr", "coo"):
        return
    try:
        if X.format == "coo":
            X = type(X)((X.data, (X.row, X.col)), shape=X.shape)  # which looks at them
        else:
            X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse matrix that contradicts itself ({error}). Build it again."
        ) from None


def _read_numbers(name: str, values: Any) -> Any:
    """Lists, and arrays of objects or words, as float64; all others as they are."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "f") not in "OUSV":
        return values
    try:
        numbers = np.asarray(values)
        return numbers if numbers.dtype.kind == "c" else numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        kind_of_error = TypeError if isinstance(error, TypeError) else ValueError
        raise kind_of_error(
            f"{name} holds a value that is not a number, or has no two dimensions ({error}). Give "
            f"numbers, or a data frame, whose words and dates become numbers by themselves."
        ) from None


def _check_same_kind(X: Any, X_unlabeled: Any) -> Any:
    """X_unlabeled as X is: both sparse or both dense."""
    if sparse.issparse(X) and not sparse.issparse(X_unlabeled):
        return sparse.csr_array(X_unlabeled)
    if sparse.issparse(X_unlabeled) and not sparse.issparse(X):
        raise ValueError(
            "X is dense and X_unlabeled is sparse. Give both in one form, for example "
            "scipy.sparse.csr_array(X)."
        )
    return X_unlabeled


def check_given_landmarks(landmarks: Any, n_features: int) -> Any:
    """Landmarks that the user chose: as wide as the rows, and of an even number."""
    if not sparse.issparse(landmarks):
        landmarks = _read_numbers("landmarks", landmarks)
    landmarks = check_array(landmarks, accept_sparse="csr", dtype=np.float64, input_name="landmarks")
    if landmarks.shape[1] != n_features or landmarks.shape[0] % 2:
        raise ValueError(
            f"landmarks has shape {landmarks.shape}. It must have {n_features} columns, like X, and an "
            f"even number of rows, half for each view."
        )
    return landmarks


# --- labels and weights ----------------------------------------------------------------------------


def check_present_rows(
    X: Any, y: Any, sample_weight: Any, label_probability: Any = None
) -> tuple[Any, np.ndarray, Any, Any]:
    """X, y, weights and label probabilities without the rows of weight zero, which are absent."""
    y = as_array(y)
    check_consistent_length(X, y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has {y.ndim} dimensions. Give one column, or one column per target.")
    probability = None
    if label_probability is not None:
        probability = np.asarray(_as_floats("label_probability", label_probability))
        if probability.ndim != 1:
            raise ValueError(
                f"label_probability has {probability.ndim} dimensions. Give one number for each row."
            )
        check_consistent_length(X, probability)
    if sample_weight is None:
        return X, y, None, probability
    weight = check_weight(sample_weight, X)
    if (weight > 0).all():
        return X, y, weight, probability
    present = np.flatnonzero(weight > 0)
    probability = None if probability is None else probability[present]
    return X[present], y[present], weight[present], probability


def present_clusters(cluster: Any, X: Any, sample_weight: Any) -> np.ndarray | None:
    """(rows,) hashes of clusters, without the rows of weight zero."""
    if cluster is None:
        return None
    found = cluster_hashes(cluster, X.shape[0])
    return found if sample_weight is None else found[check_weight(sample_weight, X) > 0]


def check_weight(sample_weight: Any, X: Any) -> np.ndarray:
    """(rows,) finite, none below zero and some above."""
    if sparse.issparse(sample_weight) or np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight is sparse or masked. Give one number for each row.")
    with np.errstate(all="ignore"):
        sample_weight = _as_floats("sample_weight", sample_weight)
        if np.size(sample_weight) and not np.any(sample_weight):
            raise ValueError("sample_weight is zero for every row. Give some row a positive weight.")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    refuse_too_large("sample_weight", weight, "Divide the weights by a number.")
    heaviest = float(weight.max())
    if heaviest < 1 / LARGEST:
        raise ValueError(
            f"sample_weight is at most {heaviest:g}, and sums of numbers below {1 / LARGEST:g} lose "
            f"their digits. Multiply the weights by a number."
        )
    return weight


def _as_floats(name: str, values: Any) -> Any:
    try:
        weights = np.asarray(values)
        if weights.dtype.kind in "cMm":
            raise TypeError(f"they are of type {weights.dtype}")
        return weights.astype(np.float64)[()]  # a single number stays one
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} holds something that is not a number ({error}). Give one number for each row."
        ) from None


def labeled_rows_to_score(
    known: np.ndarray, sample_weight: Any, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Which rows to score by, and their weights."""
    if not known.any():
        raise ValueError("y has no label at all: every entry is missing, so there is nothing to score.")
    if sample_weight is None:
        return np.flatnonzero(known), None
    weight = check_weight(sample_weight, rows)
    present = np.flatnonzero(known & (weight > 0))
    if len(present) == 0:
        raise ValueError("sample_weight is zero for every row that has a label. Give some a weight.")
    return present, weight[present]
