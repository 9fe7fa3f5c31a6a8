"""Checks of what the user gave, once, at the door."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from twinviews.landmarks import RowSample
from twinviews.targets import as_array
from twinviews.tuning import PAPER_COMPONENTS

AUTO = "auto"


def check_number(name: str, value: Any, *, least: float, open_end: bool = False) -> None:
    """A real number of at least (or, with ``open_end``, above) ``least``, or "auto"."""
    if isinstance(value, str) and value == AUTO:
        return
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not number or not np.isfinite(value) or value < least or (open_end and value == least):
        limit = f"above {least:g}" if open_end else f"of at least {least:g}"
        raise ValueError(f'{name}={value!r} must be a finite number {limit}, or "auto".')


def check_count(name: str, value: Any, *, least: int = 1, or_else: str | None = AUTO) -> None:
    """A whole number of at least ``least``, or one other accepted value."""
    if (or_else is None and value is None) or (isinstance(value, str) and value == or_else):
        return
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        other = "None" if or_else is None else f'"{or_else}"'
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}, or {other}.")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or a canonical CSR matrix, with the width and names of the fit."""
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_present_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
    """X, y and weights without the rows of weight zero, which are as good as absent."""
    y = as_array(y)
    check_consistent_length(X, y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has {y.ndim} dimensions. Give one column, or one column per target.")
    if sample_weight is None:
        return X, y, None
    if not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight is zero for every row. Give some row a positive weight.")
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
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


def components(n_components: Any) -> int:
    """M, the features of a view: the given number, or the paper's."""
    return PAPER_COMPONENTS if n_components == AUTO else int(n_components)


def check_landmarks(sample: RowSample, n_components: Any, n_views: int) -> int:
    """n_components as a number for which the table has enough distinct rows."""
    distinct = len(sample.priorities)
    most = distinct // n_views
    M = min(PAPER_COMPONENTS, most) if n_components == AUTO else int(n_components)
    if most < M or M == 0:
        way_out = f"Use n_components={most} or fewer." if most else "Add rows."
        raise ValueError(
            f"n_components={max(M, 1)} needs {n_views * max(M, 1)} landmarks, but the table has "
            f"n_samples={distinct} distinct rows. {way_out}"
        )
    return M


def check_given_landmarks(landmarks: Any, n_features: int) -> Any:
    """Landmarks that the user chose: as wide as the rows, and of an even number."""
    landmarks = check_array(landmarks, accept_sparse="csr", dtype=np.float64)
    if landmarks.shape[1] != n_features or landmarks.shape[0] % 2:
        raise ValueError(
            f"landmarks has shape {landmarks.shape}. It must have {n_features} columns, like X, and an "
            f"even number of rows, half for each view."
        )
    return landmarks
