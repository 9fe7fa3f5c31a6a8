"""Does a fit on files larger than memory stay small, and how much slower is it than in memory?

Makes Parquet files of 5 and 50 million rows of 20 columns, fits them in fresh processes, and reads the
peak of their resident memory above what the imports take.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twinviews import XNVRegressor
from workload import make_table, report

ROW_GROUP = 131_072
GIVEN = {"n_components": 200, "sigma": 5.0, "ridge": 1e-3, "correlation_ridge": 1e-5}


def write(path: Path, n_rows: int) -> None:
    """Normal rows in row groups; labels on the first 500."""
    names = [f"x{j}" for j in range(20)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.float64())])
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n_rows, ROW_GROUP):
            X = rng.standard_normal((min(ROW_GROUP, n_rows - start), 20))
            y = np.where(start + np.arange(len(X)) < 500, np.sin(X[:, 0]), np.nan)
            columns = [*X.T, pa.array(y, from_pandas=True)]
            writer.write_table(pa.table(dict(zip([*names, "y"], columns, strict=True)), schema))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit_file(path: str) -> None:
    """In a process of its own: seconds, and megabytes above the imports."""
    import pyarrow.dataset  # noqa: F401

    before = peak_megabytes()
    start = time.perf_counter()
    XNVRegressor(**GIVEN, random_state=0).fit_table(path, target="y")
    print(time.perf_counter() - start, peak_megabytes() - before)


def fit_memory(n_rows: int) -> None:
    X, y = make_table(n_rows)
    XNVRegressor(**GIVEN, random_state=0).fit(X[:10_000], y[:10_000])
    start = time.perf_counter()
    XNVRegressor(**GIVEN, random_state=0).fit(X, y)
    print(time.perf_counter() - start, 0.0)


def in_a_process(*arguments: str) -> tuple[float, float]:
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, nargs=2, default=[5_000_000, 50_000_000])
    arguments.add_argument("--fit-file", help=argparse.SUPPRESS)
    arguments.add_argument("--fit-memory", type=int, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.fit_file:
        return fit_file(options.fit_file)
    if options.fit_memory:
        return fit_memory(options.fit_memory)

    few, many = options.rows
    memory = in_a_process("--fit-memory", str(few))[0] / few
    print(f"in memory, {few:,} rows: {1e6 * memory:.3f} microseconds a row", flush=True)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in (few, many):
            path = Path(folder) / "rows.parquet"
            write(path, n_rows)
            seconds, megabytes = in_a_process("--fit-file", str(path))
            found[n_rows] = seconds / n_rows, megabytes
            print(
                f"file, {n_rows:,} rows ({path.stat().st_size / 1e9:.1f} GB): "
                f"{1e6 * seconds / n_rows:.3f} microseconds a row, {megabytes:.0f} MB above imports",
                flush=True,
            )
    peak = found[many][1]
    report(f"peak memory of {many:,} rows, MB above the imports", peak, "below 600", peak < 600)
    ratio = peak / found[few][1]
    report(f"the same against {few:,} rows", ratio, "0.9 to 1.1", 0.9 <= ratio <= 1.1)
    ratio = found[many][0] / memory
    report("time per row, file / memory", ratio, "at most 1.4", ratio <= 1.4)
    return None


if __name__ == "__main__":
    main()
