"""Classes in an order: given by the user, by a column of ordered categories, or by their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from twinviews.passes.targets import Classes, as_array, missing_labels, read_classes

# Classes that a message names.
_MOST_NAMED = 10


def ordered_categories(y: Any) -> np.ndarray | None:
    """The categories of a pandas column whose type says that they have an order; else None."""
    dtype: Any = getattr(y, "dtype", None)
    return np.asarray(dtype.categories) if getattr(dtype, "ordered", False) else None


def check_order(classes: Any) -> None:
    """None, or at least two different labels in their order."""
    if classes is None:
        return
    if isinstance(classes, str) or not isinstance(classes, (Sequence, np.ndarray)):
        raise ValueError(
            f"classes={classes!r:.60} must be a list of all classes in their order, such as "
            f'["bad", "fair", "good"], or None.'
        )
    labels = labels_in_order(classes)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"classes={labels!r:.80} must have at least 2 classes, each of them once.")


def read_ordered_classes(y: Any, missing_label: Any, order: Any) -> Classes:
    """The classes in their order, and the place of each label there; -1 where it is missing.

    Without an order they are sorted, which is right for numbers. Classes of a given order may have no
    label.
    """
    if order is None:
        return read_classes(y, missing_label)
    labels = labels_in_order(order)
    places = {label: place for place, label in enumerate(labels)}
    y = column_or_1d(as_array(y), warn=True)
    missing = missing_labels(y, missing_label)
    code = np.full(len(y), -1)
    for row, label in zip(np.flatnonzero(~missing), y[~missing].tolist(), strict=True):
        if label not in places:
            raise ValueError(
                f"y has the class {label!r:.40}, which is not among {len(labels)} in their order: "
                f"{', '.join(map(repr, labels[:_MOST_NAMED]))}. Put it in its place there."
            )
        code[row] = places[label]
    return Classes(_as_array(labels), code)


def labels_in_order(classes: Any) -> list[Any]:
    """Plain labels of Python, of a list or an array."""
    labels = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


def _as_array(labels: list[Any]) -> np.ndarray:
    """Numbers as an array of them, anything else as objects."""
    plain = np.array(labels)
    same_kind = len({type(label) for label in labels}) == 1
    return plain if same_kind and plain.dtype.kind in "biuf" else np.array(labels, dtype=object)
