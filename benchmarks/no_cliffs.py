"""Wide tables and many labels, on made tables: error against CatBoost, time and memory.

    python benchmarks/no_cliffs.py                     all, half an hour
    python benchmarks/no_cliffs.py --only columns      one part: see below

linear: a plane of 5 or 15 of 100 to 2,000 columns, 100 labels; error of the signal, against the lasso
alone, chosen by cross-validation. columns: y = sin(x1) + x2 x3 + noise, 500 labels, among 20 to 2,000
columns; error of the signal, means over draws. width: a default fit of 100 labels with 5,000 and
20,000 columns, against the fit of the views alone. labels: a default fit of 100,000 labels and 20
columns, against CatBoost's 1,000 rounds. growth: time of fits of 5,000, 20,000 and 80,000 labels,
against growth by n log n. file-labels: a fit of the views on Parquet files of 5 and 20 million labeled
rows and 5 columns. Each of the last four runs in a process of its own, whose peak memory is that of
all it does.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twinviews import XNVRegressor
from workload import report

PARTS = ["columns", "linear", "width", "labels", "growth", "file-labels"]
WIDTHS, LABELED, DRAWS = (20, 100, 400, 2000), 500, 3
VERY_WIDE = (5000, 20_000)
MANY_LABELS = 100_000
GROWTH = (5000, 20_000, 80_000)
FILE_LABELS, FILE_COLUMNS, ROWS_AT_ONCE = (5_000_000, 20_000_000), 5, 500_000


T = TypeVar("T")


def few_matter(n: int, D: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and the signal in them, of three columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    return X, signal + 0.1 * rng.normal(size=n), signal


def seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def default() -> XNVRegressor:
    return XNVRegressor(random_state=0, progress=False)


def columns() -> None:
    from catboost import CatBoostRegressor

    for D in WIDTHS:
        errors = []
        for seed in range(DRAWS):
            X, y, signal = few_matter(LABELED + 2000, D, seed)
            ours = default().fit(X[:LABELED], y[:LABELED], X_unlabeled=X[LABELED:])
            peer = CatBoostRegressor(verbose=0, random_seed=seed, allow_writing_files=False).fit(
                X[:LABELED], y[:LABELED]
            )
            off = [model.predict(X[LABELED:]) - signal[LABELED:] for model in (ours, peer)]
            errors.append(np.sqrt(np.mean(np.square(off), axis=1)))
        own, other = np.mean(errors, axis=0)
        what = f"error, {D:,} columns: {own:.3f}, CatBoost {other:.3f}; ratio"
        report(what, own / other, "below 1", own < other)


def width(D: int) -> tuple[float, float]:
    """Time of the default over that of the views alone, and peak memory in GB."""
    X, y, _ = few_matter(2100, D, 0)
    views = XNVRegressor(random_state=0, progress=False, members=None)
    alone, whole = (
        seconds_of(lambda model=model: model.fit(X[:100], y[:100], X_unlabeled=X[100:]))
        for model in (views, default())
    )
    return whole / alone, peak()


def many_labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, 20,000 more than labels, and the labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 20_000, 20))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2]) + 0.3 * rng.normal(size=len(X))


def labels(n: int) -> tuple[float, float]:
    """Time of the default over CatBoost's, and peak memory in GB."""
    from catboost import CatBoostRegressor

    X, y = many_labels(n)
    peer = seconds_of(lambda: CatBoostRegressor(verbose=0, allow_writing_files=False).fit(X[:n], y[:n]))
    own = seconds_of(lambda: default().fit(X[:n], y[:n], X_unlabeled=X[n:]))
    return own / peer, peak()


def fit_time(n: int) -> tuple[float, float]:
    """Seconds of the default, and peak memory in GB."""
    X, y = many_labels(n)
    return seconds_of(lambda: default().fit(X[:n], y[:n], X_unlabeled=X[n:])), peak()


def growth() -> None:
    """Each time against the one before, over that of n log n."""
    seconds = [alone(fit_time, n)[0] for n in GROWTH]
    for (n, first), (more, then) in pairwise(zip(GROWTH, seconds, strict=True)):
        ratio = then / first / (more * np.log(more) / (n * np.log(n)))
        what = f"{n:,} to {more:,} labels ({first:.1f} and {then:.1f} s): growth over n log n"
        report(what, ratio, "at most 1", ratio <= 1)


def labels_of_a_file(n: int) -> tuple[float, float]:
    """Share of the labels that is used, and peak memory in GB beyond the imports."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.parquet"
        alone(write_labels, (str(path), n))
        before = peak()
        model = XNVRegressor(random_state=0, progress=False, members=None)
        model.fit_table(path, target="y")
        return 1 - model.n_labels_unused_ / model.n_labeled_, peak() - before


def write_labels(path_and_size: tuple[str, int]) -> None:
    """A Parquet file of labeled rows, some at a time."""
    path, n = path_and_size
    names = [*(f"x{place}" for place in range(FILE_COLUMNS)), "y"]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for start in range(0, n, ROWS_AT_ONCE):
            rng = np.random.default_rng(start)
            X = rng.normal(size=(min(ROWS_AT_ONCE, n - start), FILE_COLUMNS))
            y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
            rows = pa.table([*X.T, y], names=names)
            writer.write_table(rows, row_group_size=ROWS_AT_ONCE // 5)


def file_labels() -> None:
    few, many = (alone(labels_of_a_file, n) for n in FILE_LABELS)
    for n, (share, memory) in zip(FILE_LABELS, (few, many), strict=True):
        what = f"{n:,} labels of a file, of which {share:.1%} are used: peak memory in GB"
        report(what, memory, "below 1", memory < 1)
    ratio = many[1] / few[1]
    report(
        f"memory of {FILE_LABELS[1]:,} labels against {FILE_LABELS[0]:,}",
        ratio,
        "at most 1.1",
        ratio <= 1.1,
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def alone(function: Callable[[Any], T], size: Any) -> T:
    """In a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, size).result()


def linear() -> None:
    from sklearn.linear_model import LassoCV

    for D, relevant in ((100, 5), (100, 15), (400, 5), (400, 15), (2000, 5), (2000, 15)):
        errors = []
        for seed in range(DRAWS):
            rng = np.random.default_rng([seed, relevant])
            X = rng.normal(size=(1600, D))
            signal = X[:, :relevant] @ (rng.normal(size=relevant) + rng.choice([-1, 1], size=relevant))
            y = signal + 0.3 * signal.std() * rng.normal(size=len(X))
            ours = default().fit(X[:100], y[:100], X_unlabeled=X[100:])
            peer = LassoCV(cv=5).fit(X[:100], y[:100])
            off = [model.predict(X[100:]) - signal[100:] for model in (ours, peer)]
            errors.append(np.sqrt(np.mean(np.square(off), axis=1)) / signal.std())
        own, other = np.mean(errors, axis=0)
        what = f"{D:,} columns, {relevant} matter: error {own:.3f}, the lasso's {other:.3f}; ratio"
        report(what, own / other, "at most 1.1", own <= 1.1 * other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS)
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    if only in (None, "columns"):
        columns()
    if only in (None, "linear"):
        linear()
    if only in (None, "width"):
        for D in VERY_WIDE:
            ratio, memory = alone(width, D)
            report(f"{D:,} columns: time against the views alone", ratio, "at most 5", ratio <= 5)
            report(f"{D:,} columns: peak memory in GB", memory, "below 4", memory < 4)
    if only in (None, "growth"):
        growth()
    if only in (None, "file-labels"):
        file_labels()
    if only in (None, "labels"):
        ratio, memory = alone(labels, MANY_LABELS)
        report(f"{MANY_LABELS:,} labels: time against CatBoost", ratio, "at most 5", ratio <= 5)
        report(f"{MANY_LABELS:,} labels: peak memory in GB", memory, "below 2", memory < 2)


if __name__ == "__main__":
    main()
