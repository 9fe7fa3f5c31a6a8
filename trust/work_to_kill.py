"""What is killed, crashed and starved: fits, predictions, model files; on a few thousand rows."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import twinviews.tables.checkpoint as checkpoint
from twinviews import XNVRegressor, load_model, save_model
from twinviews.cli import main

GIVEN = {"n_components": 30, "sigma": 3.0, "ridge": 1e-2, "correlation_ridge": 1e-4, "random_state": 0}
NAMES = [f"x{j}" for j in range(4)]


def write_tables(folder):
    """The same rows as many.parquet in 25 pieces, few.parquet in 4, rows.csv to be copied before it is
    read; and a model of them, new.twinviews."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 4)).round(3)
    y = np.where(np.arange(8_000) % 40 == 0, X[:, 0] + X[:, 1] ** 2, np.nan)
    rows = pd.DataFrame(X, columns=NAMES).assign(y=y)
    pq.write_table(pa.Table.from_pandas(rows), folder / "many.parquet", row_group_size=320)
    pq.write_table(pa.Table.from_pandas(rows), folder / "few.parquet", row_group_size=2_000)
    dear = rows.assign(x0=[f"{1000 + value:,.3f}" for value in rows["x0"]])
    dear.to_csv(folder / "rows.csv", index=False)
    model = XNVRegressor(**GIVEN).fit(rows[NAMES], y)
    save_model(model, folder / "new.twinviews", whole=True)


def fit(table, notes, output):
    """With notes after every piece, not once a second."""
    checkpoint._SECONDS_BETWEEN = 0.0
    model = XNVRegressor(**GIVEN, n_threads=1)
    model.fit_table(table, target="y", columns=NAMES, checkpoint=notes)
    save_model(model, output)


def predict(tables, output):
    load_model(tables / "new.twinviews").predict_table(tables / "many.parquet", output, keep=["y"])


def command(*words):
    """The command line, as if in a process of its own."""
    main([str(word) for word in words], prog_name="twinviews")


def predict_by_command(tables, output):
    command("predict", tables / "new.twinviews", tables / "rows.csv", "-o", output)


def save(tables, output):
    save_model(load_model(tables / "new.twinviews"), output, whole=True)


def hidden(folder):
    """Names of files that are not taken for real ones."""
    return [name for name in os.listdir(folder) if name.startswith(".")]


def content(path: Path):
    """None if there is no such file."""
    return path.read_bytes() if path.exists() else None
