"""How far is a fit from the bare matrix work it needs, and from scikit-learn's Nystroem + Ridge?

The bare work for N rows and 2M landmarks: distances by one GEMM, exp, and the 2M x 2M sum of products
by SYRK, on whatever block size and number of threads is fastest on this machine.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from twinviews import XNVRegressor
from workload import best_seconds, make_table, report

M, SIGMA = 200, 5.0
CHUNK = 65_536


class BareWork:
    """GEMM + exp + SYRK, with buffers that are made once."""

    def __init__(self, X: np.ndarray, block_rows: int, n_threads: int) -> None:
        D = X.shape[1]
        landmarks = X[: 2 * M] / SIGMA
        self.X, self.block_rows, self.n_threads = X, block_rows, n_threads
        self.right = np.empty((D + 2, 2 * M))
        self.right[:D] = landmarks.T / SIGMA
        self.right[D] = -0.5 / SIGMA**2
        self.right[D + 1] = -0.5 * np.square(landmarks).sum(axis=1)

    def chunk(self, start: int) -> np.ndarray:
        D = self.X.shape[1]
        left = np.ones((self.block_rows, D + 2))
        K, product = np.empty((self.block_rows, 2 * M)), np.empty((2 * M, 2 * M))
        total = np.zeros((2 * M, 2 * M))
        for row in range(start, min(start + CHUNK, len(self.X)), self.block_rows):
            x = self.X[row : min(row + self.block_rows, start + CHUNK)]
            b = len(x)
            left[:b, :D] = x
            np.einsum("ij,ij->i", x, x, out=left[:b, D])
            k = np.dot(left[:b], self.right, out=K[:b])
            np.exp(k, out=k)
            total += np.dot(k.T, k, out=product)
        return total

    def __call__(self) -> np.ndarray:
        starts = range(0, len(self.X), CHUNK)
        with threadpool_limits(1, user_api="blas"):
            if self.n_threads == 1:
                return sum(map(self.chunk, starts))
            with ThreadPoolExecutor(self.n_threads) as pool:
                return sum(pool.map(self.chunk, starts))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--repetitions", type=int, default=5)
    options = arguments.parse_args()
    X, y = make_table(options.rows)

    cores = os.cpu_count() or 1
    arrangements = {
        f"{rows} rows, {threads} threads": BareWork(X, rows, threads)
        for rows in (512, 1024, 2048, 4096, 8192)
        for threads in sorted({1, cores})
    }
    scouting = best_seconds(arrangements, 2)
    fastest = sorted(scouting, key=scouting.__getitem__)[:3]
    print(f"bare GEMM + exp + SYRK, {options.rows:,} x 20, M = {M}: the best of {'; '.join(fastest)}")

    given = {"n_components": M, "sigma": SIGMA, "ridge": 1e-3, "correlation_ridge": 1e-5}
    model = XNVRegressor(**given, random_state=0).fit(X[:10_000], y[:10_000])
    in_units = X * np.logspace(-2, 2, X.shape[1])  # one more scale for the ensemble
    seconds = best_seconds(
        {
            **{name: arrangements[name] for name in fastest},
            "fit": lambda: model.fit(X, y),
            "auto": lambda: XNVRegressor(canonical_weight="auto", committee=False, random_state=0).fit(
                X, y
            ),
            "default": lambda: XNVRegressor(random_state=0).fit(X, y),
            "default, columns in units of their own": lambda: XNVRegressor(random_state=0).fit(
                in_units, y
            ),
            "relabel": lambda: model.relabel(X[:500], y[:500]),
        },
        options.repetitions,
    )

    def scikit_learn() -> None:
        features = Nystroem(n_components=2 * M, gamma=1 / (2 * SIGMA**2), random_state=0)
        Z = features.fit_transform(X)
        Ridge(alpha=1e-3).fit(Z, np.nan_to_num(y))

    seconds |= best_seconds({"scikit-learn": scikit_learn}, 3)
    for name, value in seconds.items():
        print(f"  {name:<40}{value:>10.4f} s")
    fit, bare = seconds["fit"], min(seconds[name] for name in fastest)
    ratio = fit / bare
    report("fit, numbers given / bare work", ratio, "at most 1.3", ratio <= 1.3)
    ratio = seconds["scikit-learn"] / fit
    report("scikit-learn Nystroem(400) + Ridge / fit", ratio, "at least 4", ratio >= 4)
    ratio = seconds["relabel"] / fit
    report("relabel, 500 labels / fit", ratio, "at most 0.01", ratio <= 0.01)
    ratio = seconds["auto"] / fit
    report('"auto" everything / numbers given', ratio, "at most 3", ratio <= 3)
    for name in ("default", "default, columns in units of their own"):
        ratio = seconds[name] / fit
        report(f"{name} / numbers given", ratio, "at most 5", ratio <= 5)


if __name__ == "__main__":
    main()
