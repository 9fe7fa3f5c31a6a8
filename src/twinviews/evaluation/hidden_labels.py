"""Which labeled rows are hidden from a model in order to judge it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# A quarter of fewer labels is too small a test set: then five folds hide each label once.
FEW_LABELS = 600
_QUARTERS, _FOLDS = 4, 5


class Split(NamedTuple):
    """Labels to fit with and labels to judge by."""

    train: np.ndarray  # numbers of labeled rows
    test: np.ndarray


def hidden_labels(strata: np.ndarray, seed: int) -> list[Split]:
    """One split that hides a quarter of the labels or, of few labels, five that hide each once.

    Every stratum has its share in each part. A stratum of one row is never hidden: no model can
    predict a class that it has not seen.
    """
    n = len(strata)
    few = n < FEW_LABELS
    n_parts = _FOLDS if few else _QUARTERS
    order = np.random.default_rng(seed).permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    part = np.empty(n, int)
    part[order] = np.arange(n) % n_parts
    _, stratum, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    part[sizes[stratum] == 1] = -1
    return [
        Split(np.flatnonzero(part != hidden), np.flatnonzero(part == hidden))
        for hidden in range(n_parts if few else 1)
    ]
