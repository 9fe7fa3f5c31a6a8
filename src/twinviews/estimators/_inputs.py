"""Checks of the rows, labels and weights that the user gave, once, at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from twinviews.estimators._raw_rows import dense_columns, is_frame
from twinviews.estimators._weights import check_weight
from twinviews.passes.targets import as_array
from twinviews.tables.double_precision import refuse_too_large


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or a canonical CSR matrix, with the width and names of the fit."""
    _refuse_what_has_no_numbers(X)
    if sparse.issparse(X):
        _check_indices(X)
    with np.errstate(all="ignore"):  # infinity is looked for, and found by a sum
        X = validate_data(
            estimator,
            dense_columns(X) if is_frame(X) else _as_numbers("X", X),
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


def _as_numbers(name: str, values: Any) -> Any:
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


def check_present_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
    """X, y and weights without the rows of weight zero, which are as good as absent."""
    y = as_array(y)
    check_consistent_length(X, y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has {y.ndim} dimensions. Give one column, or one column per target.")
    if sample_weight is None:
        return X, y, None
    weight = check_weight(sample_weight, X)
    if (weight > 0).all():
        return X, y, weight
    present = np.flatnonzero(weight > 0)
    return X[present], y[present], weight[present]


def check_same_kind(X: Any, X_unlabeled: Any) -> Any:
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
        landmarks = _as_numbers("landmarks", landmarks)
    landmarks = check_array(landmarks, accept_sparse="csr", dtype=np.float64, input_name="landmarks")
    if landmarks.shape[1] != n_features or landmarks.shape[0] % 2:
        raise ValueError(
            f"landmarks has shape {landmarks.shape}. It must have {n_features} columns, like X, and an "
            f"even number of rows, half for each view."
        )
    return landmarks
