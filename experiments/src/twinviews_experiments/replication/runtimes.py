"""The paper's table of run times: exact SSSL, SSSL_2M and XNV on three sets of the paper's sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from twinviews import ExactSSSLRegressor, SSSLRegressor, XNVRegressor
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.datasets.paper_sets import SETS_BY_NAME, load
from twinviews_experiments.replication.paper_methods import CORRELATION_RIDGE
from twinviews_experiments.replication.published_numbers import COMPONENTS

RUNTIME_SETS = ("bank8", "cal_housing", "sylva")
RUNTIME_METHODS = ("exact SSSL", "SSSL_2M", "XNV")
_LABELS = 500
_REPETITIONS = 5
_EIGENFUNCTIONS = 100
# Exact SSSL on more rows than this is left out of a quick run.
_SLOW_ROWS = 5000


def measure_seconds(
    files: Files, names: Sequence[str], *, slow: bool
) -> list[tuple[tuple[str, str], Callable[[], float | None]]]:
    """A measurement to make for each method and each of the three sets that is there."""
    return [
        ((method, name), partial(_seconds, method, name, files, slow))
        for name in RUNTIME_SETS
        if name in names
        for method in RUNTIME_METHODS
    ]


def _seconds(method: str, name: str, files: Files, slow: bool) -> float | None:
    """Of one fit with numbers given, on all cores; None where it is not feasible or too slow."""
    X, y = _table_of_paper_size(name, files)
    numbers: dict[str, Any] = {"sigma": float(np.sqrt(X.shape[1])), "progress": False}
    if method == "exact SSSL":
        if len(X) > 20_000 or (len(X) > _SLOW_ROWS and not slow):
            return None
        exact = ExactSSSLRegressor(n_eigenfunctions=_EIGENFUNCTIONS, **numbers)
        return _time(lambda: exact.fit(X, y), 1)
    if method == "SSSL_2M":
        sssl = SSSLRegressor(n_components=2 * COMPONENTS, ridge=1e-3, random_state=0, **numbers)
        return _time(lambda: sssl.fit(X, y), _REPETITIONS)
    xnv = XNVRegressor(
        n_components=COMPONENTS,
        ridge=1e-3,
        correlation_ridge=CORRELATION_RIDGE,
        random_state=0,
        **numbers,
    )
    return _time(lambda: xnv.fit(X, y), _REPETITIONS)


def _table_of_paper_size(name: str, files: Files) -> tuple[np.ndarray, np.ndarray]:
    """N training rows as in the paper, 500 of them labeled.

    Where fewer rows are to be had, the rest are copies with a little noise: as many distinct rows
    cost as much time, whatever their values.
    """
    paper_set = SETS_BY_NAME[name]
    data = load(paper_set, files)
    N = paper_set.paper_rows
    rng = np.random.default_rng(0)
    X, y = data.X, data.y
    if len(X) < N:
        copies = rng.integers(len(X), size=N - len(X))
        X = np.vstack([X, X[copies] + 1e-3 * rng.standard_normal((len(copies), X.shape[1]))])
    labels = np.full(len(X), np.nan)
    labels[:_LABELS] = y[:_LABELS]
    return X, labels


def _time(fit: Callable[[], object], repetitions: int) -> float:
    """Least of several: noise only adds."""
    least = np.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        fit()
        least = min(least, time.perf_counter() - start)
    return float(least)
