"""Spark on this machine."""

import os
import shutil
import sys

import pytest


def local_spark():
    """A Spark session on loopback that retries failed tasks; skipped without Java, but not in CI."""
    if shutil.which("java") is None:
        outcome = pytest.fail if os.environ.get("CI") else pytest.skip
        outcome("Spark needs Java 17, and there is no java on this machine")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers must find this package
    return (
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .getOrCreate()
    )
