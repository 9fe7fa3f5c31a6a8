"""Labels as users give them: which are missing, and the others as numbers."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from twinviews.tables.double_precision import LARGEST, refuse_too_large


def as_array(y: Any) -> np.ndarray:
    """A label column of any library as an array; missing labels become None or NaN."""
    if isinstance(y, np.ma.MaskedArray):
        labels = np.array(y.data, dtype=object)
        labels[np.ma.getmaskarray(y)] = None
        return labels
    if hasattr(y, "combine_chunks"):
        y = y.combine_chunks()  # a null in Arrow chunks of a dictionary would become a label
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y has entries of several lengths ({error}). Give one label a row.") from None
    if array.ndim == 0:
        raise TypeError(
            f"y is a {type(y).__name__}, not a column: an array without a dimension. Give an array or "
            f"a list, with one label for each row."
        )
    if array.dtype.kind in "US" and not hasattr(y, "dtype"):
        # NumPy has turned None, NaN or a number beside strings into strings; look again before that.
        objects = np.array(y, dtype=object)
        if len({type(label) for label in objects.ravel()}) > 1:
            return objects
    return array


def missing_labels(y: np.ndarray, missing_label: Any = None) -> np.ndarray:
    """True where a label is None, NaN, pandas.NA, NaT, or equal to ``missing_label``."""
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind in "OMm":
        missing = np.array([_is_missing(label) for label in y.ravel()], bool).reshape(y.shape)
    else:
        missing = np.zeros(y.shape, bool)
    if not _is_missing(missing_label):
        missing |= _equal(y, missing, missing_label)
    return missing


def _is_missing(label: Any) -> bool:
    # pandas.NA answers every comparison with itself, so it is known by its type's name only.
    if label is None or type(label).__name__ == "NAType":
        return True
    try:
        return bool(label != label)
    except (ArithmeticError, TypeError, ValueError):
        return False  # it is there, whatever it is


def _equal(y: np.ndarray, missing: np.ndarray, missing_label: Any) -> np.ndarray:
    """Where a known label equals ``missing_label``; True and 1 are not the same label."""
    if y.dtype.kind in "iuf" and isinstance(missing_label, Real):
        try:
            same = y == missing_label
        except OverflowError:  # a whole number that no float holds
            return np.zeros(y.shape, bool)
        return np.zeros_like(same) if isinstance(missing_label, (bool, np.bool_)) else same
    is_boolean = isinstance(missing_label, (bool, np.bool_))
    found = np.zeros(y.shape, bool)
    found[~missing] = [
        isinstance(label, (bool, np.bool_)) == is_boolean and bool(label == missing_label)
        for label in y[~missing]
    ]
    return found


def no_label_at_all() -> ValueError:
    return ValueError("y has no label at all: every entry is missing. Give at least 2 rows a label.")


def check_missing_label(missing_label: Any) -> None:
    if np.ndim(missing_label) > 0:
        raise ValueError(
            f"missing_label={missing_label!r} must be one value, such as -1 or '?'. None, NaN and "
            f"pandas.NA are always taken as missing."
        )


def read_numbers(y: Any, missing_label: Any = None) -> np.ndarray:
    """Targets of a regression as floats, NaN where missing; the shape is kept."""
    y = as_array(y)
    if np.iscomplexobj(y):
        raise ValueError("Complex data not supported: y must hold real numbers.")
    missing = missing_labels(y, missing_label)
    numbers = np.full(y.shape, np.nan)
    try:
        if y.dtype.kind in "Mm":
            raise TypeError(f"they are of type {y.dtype}")
        with np.errstate(over="ignore"):  # infinity is refused below
            numbers[~missing] = y[~missing]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"y holds a label that is not a number ({error}). Name it as missing_label if it marks "
            f"unlabeled rows, or use a classifier."
        ) from None
    _refuse_infinity(numbers)
    for column in np.atleast_2d(numbers.T):
        _check_range(column[~np.isnan(column)])
    return numbers


def _check_range(y: np.ndarray) -> None:
    """Refuse labels whose squares overflow, or whose squared differences vanish."""
    refuse_too_large("y", y, "Divide y by a number.")
    apart = float(np.ptp(y)) if len(y) else 0.0
    if 0 < apart < 1 / LARGEST:
        raise ValueError(
            f"The labels in y differ by {apart:g} at most, and squares of numbers below "
            f"{1 / LARGEST:g} vanish in double precision. Multiply y by a number."
        )


def _refuse_infinity(y: np.ndarray) -> None:
    if np.isinf(y).any():
        raise ValueError("y contains infinity. Use NaN for a row without a label.")


class Classes(NamedTuple):
    labels: np.ndarray  # (K,) sorted
    code: np.ndarray  # (rows,) position in labels, -1 where missing


def read_classes(y: Any, missing_label: Any = None, expected: Any = None) -> Classes:
    """The classes of a label column, together with expected ones, and the class of each row."""
    y = column_or_1d(as_array(y), warn=True)
    if y.dtype.kind == "f":
        _refuse_infinity(y)
    missing = missing_labels(y, missing_label)
    known = y[~missing]
    if known.dtype.kind == "O":  # a mask or None forced Python objects on plain labels
        known = _plain(known)
    if len(known):
        with np.errstate(invalid="ignore"), warnings.catch_warnings():  # of numbers beyond whole ones
            # A class for nearly every label is asked about by the checks of the data, in our words.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            check_classification_targets(known)
    labels, positions = np.unique(known, return_inverse=True)
    if expected is not None:
        labels = _union(labels, expected)
        positions = np.searchsorted(labels, known)
    code = np.full(len(y), -1)
    code[~missing] = positions
    return Classes(labels, code)


def _union(labels: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Both, sorted; NumPy would turn numbers beside words into words."""
    expected = np.asarray(expected)
    if len(labels) and len(expected):
        _plain(np.array([labels.tolist()[0], expected.tolist()[0]], dtype=object))
    return np.union1d(labels, expected)


def _plain(labels: np.ndarray) -> np.ndarray:
    kinds = {str if isinstance(label, str) else type(label) for label in labels}
    if kinds & {list, tuple, np.ndarray}:
        raise ValueError("y holds lists, and a class is one value. Give one label for each row.")
    if len(kinds) > 1 and kinds & {str, bytes, bool, np.bool_}:
        raise ValueError(
            f"y mixes labels of type {', '.join(sorted(kind.__name__ for kind in kinds))}. Use one "
            f"type for all classes, and None or NaN for rows without a label."
        )
    plain = np.array(labels.tolist())
    return labels if plain.dtype.kind in "OV" or kinds <= {str} else plain


def one_against_rest(code: np.ndarray, n_classes: int) -> np.ndarray:
    """(rows, 1) for two classes, (rows, K) for more: 1 in the class, -1 outside."""
    coded = np.where(code[:, None] == np.arange(n_classes), 1.0, -1.0)
    return coded[:, 1:] if n_classes == 2 else coded
