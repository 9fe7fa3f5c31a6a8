"""The same model whatever reads the rows, cuts them up, or shares the work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from counts import often, tried
from local_spark import local_spark
from twinviews import KRRRegressor, SSSLRegressor, XKSRegressor, XNVClassifier, XNVRegressor

GIVEN = {"sigma": 1.5, "ridge": 1e-2}
VIEWS = GIVEN | {"n_components": 20, "random_state": 0}
KINDS = {
    "XNV": lambda **more: XNVRegressor(**VIEWS, correlation_ridge=1e-4, **more),
    "XNV, sketched": lambda **more: XNVRegressor(
        **VIEWS, correlation_ridge=1e-4, cca="randomized", **more
    ),
    "XNV, choosing": lambda **more: XNVRegressor(
        n_components=20, committee=False, random_state=0, **more
    ),
    "XKS": lambda **more: XKSRegressor(**VIEWS, correlation_ridge=1e-4, **more),
    "SSSL": lambda **more: SSSLRegressor(**VIEWS, **more),
    "KRR": lambda **more: KRRRegressor(**GIVEN, **more),
}
# Sketches are drawn block by block, so they do depend on the blocks.
UNSKETCHED = [kind for kind in KINDS if kind != "XNV, sketched"]
NAMES = ["a", "b", "c"]
several = settings(
    max_examples=often(2, 60), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def rows_of(seed, n_rows, n_labels=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(6)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, np.where(np.arange(n_rows) < n_labels, y, np.nan)


def assert_same(model, expected, X):
    """To the 1e-8 that the documentation promises of every engine, with the very same landmarks."""
    if hasattr(expected, "landmarks_"):
        assert_array_equal(model.landmarks_, expected.landmarks_)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@several
@given(seed=st.integers(0, 999), threads=st.integers(2, 5), n_rows=st.integers(9_000, 20_000))
def test_threads_change_no_bit(kind, seed, threads, n_rows):
    """Any number of threads gives the model and the predictions of one thread, to the last bit."""
    X, y = rows_of(seed, n_rows)
    one = KINDS[kind](n_threads=1).fit(X, y)
    several = KINDS[kind](n_threads=threads).fit(X, y)
    assert_array_equal(several.coef_, one.coef_)
    assert_array_equal(several.predict(X), one.predict(X))
    tried("fits")


@pytest.mark.parametrize("committee", [False, True])
def test_threads_of_blas_change_no_bit(committee):
    """Whether BLAS may use one thread or two, a fit gives the same predictions and intervals, to the
    last bit."""
    for seed in range(often(1, 10)):
        X, y = rows_of(seed, 9_000)
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads, user_api="blas"):
                model = XNVRegressor(n_components=20, committee=committee, random_state=0).fit(X, y)
                found.append((model.predict(X), model.predict_interval(X[:100])))
        assert_array_equal(found[0][0], found[1][0])
        assert_array_equal(found[0][1], found[1][1])
        tried("fits")


@pytest.mark.parametrize("kind", UNSKETCHED)
@several
@given(seed=st.integers(0, 999), block=st.integers(1, 300), scaled=st.booleans())
def test_blocks_of_any_size_give_one_model(kind, seed, block, scaled, tmp_path_factory):
    """A file read in blocks of any size, from one row to all, gives the model of the array: the same
    landmarks, predictions to 1e-8."""
    X, y = rows_of(seed, 300)
    folder = tmp_path_factory.mktemp("blocks")
    columns = dict(zip(NAMES, X.T, strict=True)) | {"y": pa.array(y, from_pandas=True)}
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=block)
    more = {"scale": "standard" if scaled else None}
    expected = KINDS[kind](**more).fit(pd.DataFrame(X, columns=NAMES), y)
    model = KINDS[kind](**more).fit_table(folder / "rows.parquet", target="y", columns=NAMES)
    assert_same(model, expected, pd.DataFrame(X, columns=NAMES))
    tried("files")


@pytest.mark.parametrize("kind", ["XNV", "XKS"])
@several
@given(seed=st.integers(0, 999), cuts=st.lists(st.integers(50, 399), max_size=8))
def test_rows_that_come_in_parts_give_one_model(kind, seed, cuts):
    """Rows taken in part by part, cut anywhere, give the model of all of them at once, to 1e-8."""
    X, y = rows_of(seed, 400)
    more = {"landmarks": X[:40]} if kind == "XNV" else {}
    whole = KINDS[kind](**more).fit(X, y)
    at = sorted({40, *cuts})  # the labeled rows are in the first two parts
    parts = list(zip(np.split(X, at), np.split(y, at), strict=True))
    model = KINDS[kind](**more).fit(*parts[0])
    for part in parts[1:]:
        model.partial_fit(*part)
    assert_same(model, whole, X)
    tried("streams")


@pytest.mark.parametrize("kind", UNSKETCHED)
@several
@given(seed=st.integers(0, 999), share=st.floats(0.0, 0.9))
def test_sparse_rows_are_dense_rows(kind, seed, share):
    """Sparse rows give the model of the same rows dense: the same landmarks, predictions to 1e-8."""
    X, y = rows_of(seed, 300)
    X[np.random.default_rng(seed).random(X.shape) < share] = 0
    expected = KINDS[kind]().fit(X, y).predict(X)
    for form in (sparse.csr_array, sparse.csc_matrix):
        model = KINDS[kind]().fit(form(X), y)
        assert_allclose(model.predict(form(X)), expected, rtol=1e-8, atol=1e-8)
        tried("fits")


ENGINES = {
    "pandas": lambda table, folder: table.to_pandas(),
    "Arrow file": lambda table, folder: _written(pyarrow.feather.write_feather, table, folder, "arrow"),
    "Parquet file": lambda table, folder: _written(pq.write_table, table, folder, "parquet"),
    "CSV file": lambda table, folder: _written(pa.csv.write_csv, table, folder, "csv"),
    "Dask": lambda table, folder: _dask(table.to_pandas()),
    "Spark": lambda table, folder: _spark(table.to_pandas()),
}


def _written(write, table, folder, suffix):
    path = folder / f"rows.{suffix}"
    write(table, path)
    return path


def _dask(frame):
    import dask.dataframe

    return dask.dataframe.from_pandas(frame, npartitions=7)


def _spark(frame):
    return local_spark().createDataFrame(frame).repartition(5)


@pytest.fixture
def spark_ends():
    """A session that was begun goes on until here."""
    yield
    if "pyspark" in sys.modules:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()


@pytest.mark.usefixtures("spark_ends")
@pytest.mark.filterwarnings("ignore")  # of Dask's and Spark's own
@pytest.mark.parametrize(
    "engine",
    [pytest.param(name, marks=[pytest.mark.long] if name == "Spark" else []) for name in ENGINES],
)
def test_every_engine_gives_one_model(engine, tmp_path):
    """Arrays, data frames, Arrow, Parquet and CSV files, Dask and Spark give one model of classes: the
    same landmarks, probabilities to 1e-8."""
    for seed in range(often(1, 20)):
        X, numbers = rows_of(seed, 500)
        labels = np.where(np.isnan(numbers), None, np.where(numbers > 0, "up", "down"))
        frame = pd.DataFrame(X, columns=NAMES)
        expected = XNVClassifier(**VIEWS, correlation_ridge=1e-4).fit(frame, labels)
        table = pa.table(dict(zip(NAMES, X.T, strict=True)) | {"kind": pa.array(labels.tolist())})
        model = XNVClassifier(**VIEWS, correlation_ridge=1e-4)
        model.fit_table(ENGINES[engine](table, tmp_path), target="kind", columns=NAMES)
        assert_array_equal(model.landmarks_, expected.landmarks_)
        ours, theirs = model.predict_proba(frame), expected.predict_proba(frame)
        assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
        tried("tables")


def test_another_process_gives_the_same_bits():
    """A fit in another process, with other hashes of Python and another number of BLAS threads, gives
    the same predictions, to the last bit."""
    script = Path(__file__).parent / "fixed_models.py"
    found = []
    for seed in range(often(2, 6)):
        threads = str(1 + seed % 2)
        setting = {
            "PYTHONHASHSEED": str(seed),
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
        }
        ran = subprocess.run(
            [sys.executable, script], env=os.environ | setting, capture_output=True, check=True
        )
        found.append(json.loads(ran.stdout))
        # Methods on the full kernel matrix leave it to BLAS, whose threads add in another order.
        found[-1].pop("LapRLS")
        assert found[-1] == found[0]
        tried("processes")
