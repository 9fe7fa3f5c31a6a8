"""From a table as published to numbers: split, standardise, code categories."""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple

import numpy as np

from twinviews_experiments.datasets.public_sources import RawTable

Task = Literal["regression", "classification"]

# Levels of a category that fewer training rows have than this share get no column of their own.
_RAREST_LEVEL = 0.01


class Prepared(NamedTuple):
    """Numbers to learn from: training rows, all of them unlabeled to the methods but for a few."""

    X: np.ndarray  # (N, D)
    y: np.ndarray  # (N,) NaN where not even we know it
    X_test: np.ndarray
    y_test: np.ndarray

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for array in self:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def prepare(raw: RawTable, paper_rows: int, *, seed: int) -> Prepared:
    """Split into training and test rows, and turn columns into numbers as the training rows say."""
    test = raw.test
    if test is None:
        # N rows as in the paper; half of a set that has not so many.
        n_rows = len(raw.y)
        n_train = paper_rows if n_rows > 1.2 * paper_rows else n_rows // 2
        test = np.ones(n_rows, bool)
        test[np.random.default_rng(seed).permutation(n_rows)[:n_train]] = False
    X = np.column_stack([_numbers(column, ~test) for column in raw.features.values()])
    known = test & ~np.isnan(raw.y)
    return Prepared(X[~test], raw.y[~test], X[known], raw.y[known])


def _numbers(column: np.ndarray, train: np.ndarray) -> np.ndarray:
    """(rows, columns) a column of numbers standardised, a category as columns of 0 and 1."""
    if column.dtype == object:
        return _indicators(column, train)
    known = column[train & ~np.isnan(column)]
    if len(known) == 0:
        return np.zeros((len(column), 0))
    deviation = known.std()
    scaled = (column - known.mean()) / (deviation if deviation > 0 else 1.0)
    return np.where(np.isnan(scaled), 0.0, scaled)[:, None]


def _indicators(column: np.ndarray, train: np.ndarray) -> np.ndarray:
    words = np.array(["" if word is None else str(word) for word in column])
    levels, counts = np.unique(words[train], return_counts=True)
    kept = levels if len(levels) <= 1 / _RAREST_LEVEL else levels[counts >= _RAREST_LEVEL * train.sum()]
    return (words[:, None] == kept).astype(float)
