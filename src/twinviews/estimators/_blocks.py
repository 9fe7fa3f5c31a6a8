"""A function of rows, applied block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews.tables.base import rows_per_block


def by_blocks(
    function: Callable[[Any], np.ndarray], X: Any, n_threads: int | None, *, progress: bool
) -> np.ndarray:
    """The function of all rows, computed on as many threads as BLAS would take."""
    size = rows_per_block(X)
    if X.shape[0] <= size:
        return function(X)
    blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
    found = []
    with (
        one_blas_thread(look=False) as allowed,
        progress_bar(X.shape[0], progress) as bar,
    ):
        for part in map_in_order(function, blocks, n_threads or allowed):
            found.append(part)
            bar.update(len(part))
    return np.concatenate(found)
