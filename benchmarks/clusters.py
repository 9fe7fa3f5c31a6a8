"""How much slower than in memory, on the same two cores, is a fit through Dask and through Spark?

The same 10 million rows of 20 columns: as arrays with two threads; as a Dask data frame held by two
worker processes of one thread each; as a Spark data frame, local[2], read from Parquet.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from files import GIVEN, write
from twinviews import XNVRegressor
from workload import report


def seconds_of(fit: object) -> float:
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def model() -> XNVRegressor:
    return XNVRegressor(**GIVEN, random_state=0)


def in_memory(path: Path) -> float:
    table = pq.read_table(path)
    X = table.drop_columns("y").to_pandas().to_numpy()
    y = table["y"].to_pandas().to_numpy()
    del table
    model().fit(X[:10_000], y[:10_000])
    return seconds_of(lambda: model().fit(X, y))


def with_dask(path: Path) -> float:
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster, wait

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster),
    ):
        frame = dd.read_parquet(path, split_row_groups=4).persist()
        wait(frame)
        return seconds_of(lambda: model().fit_table(frame, target="y"))


def with_spark(path: Path) -> float:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    frame = session.read.parquet(str(path))
    model().fit_table(frame.limit(10_000), target="y")  # workers start
    seconds = seconds_of(lambda: model().fit_table(frame, target="y"))
    session.stop()
    return seconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, options.rows)
        memory = in_memory(path)
        dask, spark = with_dask(path), with_spark(path)
    print(f"{options.rows:,} rows: memory {memory:.1f} s, Dask {dask:.1f} s, Spark {spark:.1f} s")
    report("Dask, 2 workers of 1 thread / memory", dask / memory, "at most 1.5", dask <= 1.5 * memory)
    report("Spark, local[2] / memory", spark / memory, "at most 2.5", spark <= 2.5 * memory)


if __name__ == "__main__":
    main()
