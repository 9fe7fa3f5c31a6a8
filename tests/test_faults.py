"""Passes that are killed, workers that die, tasks that fail: the fit ends with the identical model."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import local_spark
from twinviews import XNVClassifier, XNVRegressor
from twinviews.checkpoint import Checkpoint
from twinviews.moments import Moments
from twinviews.survey import Survey

GIVEN = {"n_components": 100, "sigma": 3.0, "ridge": 1e-2, "correlation_ridge": 1e-4}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """300,000 rows in 100 row groups; a pass takes long enough to be killed in the middle."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 6))
    y = np.where(np.arange(300_000) % 1000 == 0, X[:, 0] + X[:, 1] ** 2, np.nan)
    names = [f"x{j}" for j in range(6)]
    columns = dict(zip(names, X.T, strict=True)) | {"y": pa.array(y, from_pandas=True)}
    columns["kind"] = [None if np.isnan(v) else ("up" if v > 1 else "down") for v in y]
    pq.write_table(pa.table(columns), path, row_group_size=3_000)
    return path, names, pd.DataFrame(X[:1000], columns=names)


PROGRAM = """
import sys, time
import numpy as np
import twinviews.checkpoint as checkpoint
from twinviews import XNVRegressor
from twinviews.tables import arrow
checkpoint._SECONDS_BETWEEN = 0.0
slow = arrow.Selection.blocks
def slower(self, batch):
    time.sleep(0.02)  # so that there is time to be killed
    yield from slow(self, batch)
arrow.Selection.blocks = slower
path, notes, out = sys.argv[1:]
model = XNVRegressor(n_components=100, sigma=3.0, ridge=1e-2, correlation_ridge=1e-4, random_state=0)
model.fit_table(path, target="y", columns=[f"x{j}" for j in range(6)], checkpoint=notes)
np.save(out, np.concatenate([model.coef_, model.correlations_, model.landmarks_.ravel()]))
"""


def test_a_fit_that_is_killed_goes_on_to_the_identical_model(rows, tmp_path):
    path, names, _ = rows
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(path, target="y", columns=names)
    expected = np.concatenate([model.coef_, model.correlations_, model.landmarks_.ravel()])
    notes, out = tmp_path / "notes.npz", tmp_path / "model.npy"
    command = [sys.executable, "-c", PROGRAM, str(path), str(notes), str(out)]
    for delay in (0.3, 0.9, 0.5):
        process = subprocess.Popen(command)
        started = time.monotonic()
        while not notes.exists() and time.monotonic() - started < 60:
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not out.exists(), "it was to be killed before its end"
        Checkpoint(notes, fingerprint_in(notes), [Survey, Moments])  # whole, whatever happened
    subprocess.run(command, check=True, timeout=120)
    assert_array_equal(np.load(out), expected)
    assert not notes.exists()


def fingerprint_in(notes):
    with np.load(notes) as stored:
        return json.loads(str(stored["about"]))["fingerprint"]


@pytest.mark.parametrize("target", ["y", "kind"])
def test_a_checkpoint_holds_summaries_exactly(target, rows, tmp_path, monkeypatch):
    """Stop after some pieces, as a kill would; go on in the same process."""
    path, names, X = rows
    method = XNVRegressor if target == "y" else XNVClassifier
    whole = method(**GIVEN, random_state=0).fit_table(path, target=target, columns=names)
    monkeypatch.setattr("twinviews.checkpoint._SECONDS_BETWEEN", 0.0)
    notes = tmp_path / "notes.npz"
    for stop_after in (30, 130):
        saves = []
        real = Checkpoint.save

        def stop(self, done, summary, *, complete=False, saves=saves, real=real, last=stop_after):
            real(self, done, summary, complete=complete)
            saves.append(done)
            if len(saves) == last:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "save", stop)
            with pytest.raises(KeyboardInterrupt):
                method(**GIVEN, random_state=0).fit_table(
                    path, target=target, columns=names, checkpoint=notes
                )
    model = method(**GIVEN, random_state=0)
    model.fit_table(path, target=target, columns=names, checkpoint=notes)
    assert_array_equal(model.predict(X), whole.predict(X))
    assert_array_equal(model.coef_, whole.coef_)
    assert not notes.exists()


def test_a_checkpoint_of_another_fit_is_refused(rows, tmp_path):
    path, names, _ = rows
    notes = tmp_path / "notes.npz"
    other = Checkpoint(notes, "another fit", [Survey, Moments])
    other.next_fold()
    other.save(1, Moments(np.zeros(1), 1.0, np.zeros(1), np.zeros((1, 1))), complete=True)
    with pytest.raises(ValueError, match=r"belongs to another fit.*delete this one"):
        XNVRegressor(**GIVEN, random_state=0).fit_table(
            path, target="y", columns=names, checkpoint=notes
        )
    assert notes.exists()
    with pytest.raises(ValueError, match="checkpoint needs a number as random_state"):
        XNVRegressor(**GIVEN).fit_table(path, target="y", columns=names, checkpoint=notes)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_that_is_killed_changes_nothing(rows):
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    _, names, X = rows
    table = pq.read_table(rows[0])
    inputs, y = table.select(names).to_pandas().to_numpy(), table["y"].to_pandas().to_numpy()
    expected = XNVRegressor(**GIVEN, random_state=0).fit(inputs, y).predict(X)
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def slow(block):
            time.sleep(0.05)
            return block

        lazy = da.from_array(inputs, chunks=(10_000, 6)).map_blocks(slow, dtype=float)
        labels = da.from_array(y, chunks=10_000)
        undisturbed = XNVRegressor(**GIVEN, random_state=0).fit(lazy, labels)

        def kill_soon():
            time.sleep(0.6)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

        threading.Thread(target=kill_soon).start()
        model = XNVRegressor(**GIVEN, random_state=0).fit(lazy, labels)
        assert killed, "the worker was to die before the end"
    assert_array_equal(model.coef_, undisturbed.coef_)
    assert_allclose(model.predict(X), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_a_spark_task_that_fails_once_changes_nothing(rows, tmp_path):
    path, names, X = rows
    expected = XNVRegressor(**GIVEN, random_state=0).fit_table(path, target="y", columns=names)
    session = local_spark()
    flag = str(tmp_path / "failed")

    def fail_once(batches):
        import os as system

        for batch in batches:
            if not system.path.exists(flag):
                open(flag, "w").close()
                raise RuntimeError("the first task fails")
            yield batch

    rows = session.read.parquet(str(path)).repartition(20)
    frame = rows.mapInArrow(fail_once, rows.schema)
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(frame, target="y", columns=names)
    assert os.path.exists(flag)
    undisturbed = XNVRegressor(**GIVEN, random_state=0)
    undisturbed.fit_table(frame, target="y", columns=names)
    session.stop()
    assert_array_equal(model.coef_, undisturbed.coef_)
    assert_array_equal(model.landmarks_, expected.landmarks_)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-9)
