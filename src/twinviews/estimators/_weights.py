"""Weights of rows: what they may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight

from twinviews.tables.double_precision import LARGEST, refuse_too_large


def check_weight(sample_weight: Any, X: Any) -> np.ndarray:
    """(rows,) finite, none below zero and some above."""
    if sparse.issparse(sample_weight) or np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight is sparse or masked. Give one number for each row.")
    with np.errstate(all="ignore"):
        sample_weight = _as_weights(sample_weight)
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


def _as_weights(sample_weight: Any) -> Any:
    try:
        weights = np.asarray(sample_weight)
        if weights.dtype.kind in "cMm":
            raise TypeError(f"they are of type {weights.dtype}")
        return weights.astype(np.float64)[()]  # a single number stays one
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"sample_weight holds something that is not a number ({error}). Give one number for each "
            f"row."
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
