"""Wide tables and many labels, on made tables: error against CatBoost, time and memory.

    python benchmarks/no_cliffs.py                     all, ten minutes
    python benchmarks/no_cliffs.py --only columns      one of linear, columns, width, labels

linear: a plane of 5 or 15 of 100 to 2,000 columns, 100 labels; error of the signal, against the lasso
alone, chosen by cross-validation. columns: y = sin(x1) + x2 x3 + noise, 500 labels, among 20 to 2,000
columns; error of the signal, means over draws. width: a default fit of 100 labels with 5,000 and
20,000 columns, against the fit of the views alone. labels: a default fit of 100,000 labels and 20
columns, against CatBoost's 1,000 rounds. Each of the last two runs in a process of its own, whose peak
memory is that of all it does.
"""

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable

import numpy as np

from twinviews import XNVRegressor
from workload import report

WIDTHS, LABELED, DRAWS = (20, 100, 400, 2000), 500, 3
VERY_WIDE = (5000, 20_000)
MANY_LABELS = 100_000


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


def labels(n: int) -> tuple[float, float]:
    """Time of the default over CatBoost's, and peak memory in GB."""
    from catboost import CatBoostRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 20_000, 20))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2]) + 0.3 * rng.normal(size=len(X))
    peer = seconds_of(lambda: CatBoostRegressor(verbose=0, allow_writing_files=False).fit(X[:n], y[:n]))
    own = seconds_of(lambda: default().fit(X[:n], y[:n], X_unlabeled=X[n:]))
    return own / peer, peak()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def alone(function: Callable[[int], tuple[float, float]], size: int) -> tuple[float, float]:
    """In a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, (size,))


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
    parser.add_argument("--only", choices=["columns", "linear", "width", "labels"])
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
    if only in (None, "labels"):
        ratio, memory = alone(labels, MANY_LABELS)
        report(f"{MANY_LABELS:,} labels: time against CatBoost", ratio, "at most 5", ratio <= 5)
        report(f"{MANY_LABELS:,} labels: peak memory in GB", memory, "below 2", memory < 2)


if __name__ == "__main__":
    main()
