"""Clusters: rows that depend on each other, such as those of one patient."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinviews._system.text_hashes import text_hashes

# Of a row without a value.
_MISSING = np.uint64(0)


def cluster_hashes(values: Any, n_rows: int) -> np.ndarray:
    """(rows,) uint64 of each value as text."""
    found = np.asarray(values, dtype=object)
    if found.shape != (n_rows,):
        raise ValueError(
            f"cluster has the shape {found.shape}, and there are {n_rows} rows. Give one value each."
        )
    missing = np.array([value is None or value != value for value in found.tolist()], dtype=bool)
    hashes = text_hashes(map(str, found.tolist()))
    return np.where(missing, _MISSING, hashes)


def check_clusters(cluster: np.ndarray) -> None:
    """Of labeled rows: each has one."""
    n_missing = int(np.sum(cluster == _MISSING))
    if n_missing:
        raise ValueError(
            f"{n_missing:,} rows with a label have no value of cluster. Fill it: a row that depends on "
            f"no other gets a value of its own."
        )
