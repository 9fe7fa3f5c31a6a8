"""What all benchmarks share: the table, and timing by turns so that noise hits all alike."""

import time
from collections.abc import Callable

import numpy as np


def make_table(n_rows: int, n_columns: int = 20, n_labels: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows; a smooth target known for the first ``n_labels`` of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    y = np.full(n_rows, np.nan)
    first = X[:n_labels]
    y[:n_labels] = np.sin(first[:, 0]) + first[:, 1] ** 2 + 0.1 * rng.standard_normal(n_labels)
    return X, y


def best_seconds(runs: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """Least time of each, all taking turns: the machine is noisy, and noise only adds."""
    seconds = dict.fromkeys(runs, np.inf)
    for _ in range(repetitions):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def report(what: str, ratio: float, bar: str, holds: bool) -> None:
    print(f"{what:<66}{ratio:>12,.3f}   bar {bar:<18}{'holds' if holds else 'MISSED'}")
