"""Which labels a fit uses where there are more than it holds: a sample that no one can choose.

A labeled row has a priority, a 64-bit hash of its values, its label and the draw, and the rows with the
smallest priorities are kept; rows that are equal in all of it, label included, are one with their joint
weight. So the sample is the same for every order, block and engine, and as good as uniform.

The hash is public. If the draw were too, whoever writes rows could try values until their priorities
are small, and a few rows would be most of the sample. So the draw follows from the seed of the fit and
from *all* labeled rows: without knowing every other row, nobody knows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from twinviews._system.text_hashes import text_hashes
from twinviews.method.landmarks import rekeyed, scramble, value_hashes
from twinviews.passes.targets import missing_labels

# Labeled rows that a fit holds unless max_labels says otherwise: so many, and fewer of wide tables.
MOST_LABELED, MOST_VALUES = 1_000_000, 50_000_000
# Rows beyond those that are kept, until which they are only gathered.
_ROOM = 1.25
# Up to so many distinct labeled rows every member learns from all of them, in the order of their public
# hashes; of more, the first stand for all in some choices.
_ALL_ARE_USED = 1000
# Numbers of a weight's binary places that count in what a draw follows from.
_WEIGHT_UNIT, _LARGEST_WEIGHT = 2.0**20, 2.0**40
_DRAW_BITS = 12  # of 64 that are cut off: a file keeps the draw as a number of JSON


def most_labels(X: Any, max_labels: int | None = None) -> int:
    """How many labeled rows like these are held; ``max_labels`` is what the user says."""
    if max_labels is not None:
        return max_labels
    if sparse.issparse(X):
        return MOST_LABELED
    return max(1, min(MOST_LABELED, MOST_VALUES // max(X.shape[1], 1)))


def room_for(limit: int) -> int:
    """How many rows are gathered before all but ``limit`` are dropped."""
    return int(_ROOM * limit)


def content_of(keys: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(1,) a sum over the rows, whatever their order: a row of weight 2 counts as two."""
    times = np.rint(np.minimum(weight, _LARGEST_WEIGHT) * _WEIGHT_UNIT).astype(np.uint64)
    return np.array([np.sum(scramble(keys) * times, dtype=np.uint64)])


def draw_from(content: np.ndarray, seed: int) -> int:
    """The draw of a fit, from its labeled rows and its seed."""
    drawn = rekeyed(np.array([content.sum(dtype=np.uint64)], np.uint64), seed)
    return int(drawn[0] >> np.uint64(_DRAW_BITS))


def unforeseen_order(keys: np.ndarray, seed: int) -> np.ndarray | None:
    """An order of distinct rows that follows from all of them; None: as they are, of few."""
    if len(keys) <= _ALL_ARE_USED:
        return None
    return np.argsort(rekeyed(keys, draw_from(scramble(keys), seed)), kind="stable")


def label_priorities(keys: np.ndarray, Y: np.ndarray, also: list[np.ndarray], draw: int) -> np.ndarray:
    """(rows,) uint64 from the rows' keys, their labels and what else is known of each."""
    for column in Y.T:
        keys = rekeyed(keys ^ label_hashes(column), draw)
    for values in also:
        keys = rekeyed(keys ^ (values if values.dtype == np.uint64 else value_hashes(values)), draw)
    return keys


def label_hashes(labels: np.ndarray) -> np.ndarray:
    """(rows,) uint64, equal for equal labels: 1, 1.0 and True are, and so are all missing ones."""
    if labels.dtype.kind in "biuf":
        numbers = labels.astype(np.float64)
        return np.where(np.isnan(numbers), np.uint64(0), value_hashes(numbers))
    found = np.zeros(len(labels), np.uint64)
    known = np.flatnonzero(~missing_labels(labels))
    hashes: dict[Any, np.uint64] = {}
    for label in labels[known].tolist():
        if label not in hashes:
            hashes[label] = _hash_of(label)
    found[known] = [hashes[label] for label in labels[known].tolist()]
    return found


def _hash_of(label: Any) -> np.uint64:
    if isinstance(label, (bool, int, float)):
        return np.uint64(value_hashes(np.array([float(label)]))[0])
    return np.uint64(text_hashes([str(label)])[0])
