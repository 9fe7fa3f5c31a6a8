"""Full disks, folders that cannot be written, tables that change, pipes that break, workers that die:
one clear error or recovery, and nothing is lost."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import work_to_kill
from counts import often, tried
from forked import Child, no_byte_beyond, seconds_of
from local_spark import local_spark
from twinviews import XNVRegressor
from twinviews.labeling.entries import Entry, LabelTarget
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity
from twinviews.tables import arrow
from twinviews_experiments.result_store import ResultStore
from work_to_kill import GIVEN, NAMES, command, content

OLD = b"what was there before"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    work_to_kill.write_tables(folder)
    return folder


def writing(output, tables):
    """A command that writes this file, from a table that needs no copy."""
    table = tables / "many.parquet"
    if output.suffix == ".twinviews":
        return partial(command, "fit", table, "--target", "y", "--quick", "-o", output)
    return partial(command, "predict", tables / "new.twinviews", table, "-o", output)


def one_line(child, output):
    """The last that a command said, which is the only line of its error."""
    said = child.said()
    assert "Traceback" not in said, said
    line = said.splitlines()[-1]
    assert said.count("Error: ") == 1
    assert str(output) in line
    return line


FORMS = ["csv", "tsv", "parquet", "arrow", "jsonl", "xlsx", "twinviews"]


@pytest.mark.parametrize("form", FORMS)
def test_no_room_for_a_file_is_told_and_harms_nothing(form, tables, tmp_path):
    """Where a file finds no room, a command says in one line which one and why, ends with exit code 4,
    and leaves the old file as it was and nothing beside it."""
    results, folder = tmp_path / "results", tmp_path / "child"
    results.mkdir()
    output = results / f"new.{form}"
    work = writing(output, tables)
    seconds_of(folder, work)
    most = output.stat().st_size - 1
    for room in np.linspace(most, 0, often(1, 5), dtype=int):
        output.write_bytes(OLD)
        child = Child(folder, no_byte_beyond, int(room), False, work)
        assert child.wait() == 4, child.said()
        assert child.leaves_nobody()  # not even the end of the pipe that it spoke through
        assert "File too large, so it could not be written." in one_line(child, output)
        assert content(output) == OLD
        assert os.listdir(results) == [output.name]
        tried("files without room")


@pytest.fixture
def disk(tmp_path):
    """A disk of 400 kB; skipped where it may not be made, but not in CI."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        outcome = pytest.fail if os.environ.get("CI") else pytest.skip
        outcome("A disk can be made by root only")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk, left):
    """Ballast, so that so many bytes are left."""
    free = shutil.disk_usage(disk).free
    with (disk / "ballast").open("wb") as file:
        file.write(b"0" * (free - left))


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told_and_harms_nothing(form, tables, disk, tmp_path):
    """On a disk that is full, or fills up in the midst of it, a command says so in one line, ends with
    exit code 4, and leaves the old file as it was; with room again it works."""
    output, folder = disk / f"new.{form}", tmp_path / "child"
    work = writing(output, tables)
    for left in np.linspace(0, 64_000, often(1, 5), dtype=int) // 4096 * 4096:
        output.write_bytes(OLD)
        fill(disk, left)
        child = Child(folder, work)
        assert child.wait() == 4, child.said()
        assert "No space left on device, so it could not be written." in one_line(child, output)
        assert content(output) == OLD
        assert sorted(os.listdir(disk)) == ["ballast", output.name]
        (disk / "ballast").unlink()
        tried("full disks")


def test_a_fit_goes_on_when_its_full_disk_has_room_again(tables, disk, tmp_path):
    """A fit whose checkpoint finds no room is an error that names it; with room again the same call
    ends with the identical model, from the notes of before."""
    notes, folder = disk / "notes.npz", tmp_path / "child"
    whole, model = tmp_path / "whole", tmp_path / "model"
    assert seconds_of(folder, work_to_kill.fit, tables / "few.parquet", tmp_path / "n", whole) > 0
    fill(disk, 60_000)
    child = Child(folder, work_to_kill.fit, tables / "few.parquet", notes, model)
    assert child.wait() == 1
    assert f"No space left on device, so it could not be written: '{notes}'" in child.said()
    (disk / "ballast").unlink()
    assert os.listdir(disk) in ([], [notes.name])
    assert seconds_of(folder, work_to_kill.fit, tables / "few.parquet", notes, model) > 0
    assert content(model) == content(whole)
    assert os.listdir(disk) == []
    tried("fits on full disks")


class Squares(ResultStore):
    tables = ("squares (n INTEGER PRIMARY KEY, square INTEGER)",)


def test_results_and_labels_outlive_a_full_disk(disk):
    """On a full disk the results of experiments and the labels of people are refused with one plain
    error, those stored before are all there, and with room again it goes on."""
    labels = TableIdentity("table.csv", 100_000, ("a",))
    with (
        Squares(disk / "squares.sqlite") as ledger,
        LabelStore(disk / "labels.sqlite", labels) as store,
    ):
        store.add_target(LabelTarget("y", "regression"))
        stored = 0

        def add():
            ledger.insert("squares", [(stored, stored**2)])
            store.record(Entry(f"key {stored}", "y", stored, "label", 0.5, "random", 0), "d" * 200)

        def fill_up():
            nonlocal stored
            while True:
                add()
                stored += 1

        for _ in range(often(1, 5)):
            fill(disk, 40_960)
            with pytest.raises(OSError, match=r"sqlite cannot be read or written .*full.* has room"):
                fill_up()
            kept = [n for (n,) in ledger.rows("SELECT n FROM squares ORDER BY n")]
            assert kept[:stored] == list(range(stored)) == sorted(store.answers("y"))[:stored]
            assert len(kept) <= stored + 1
            (disk / "ballast").unlink()
            if len(kept) > stored:  # the one of the two that was stored before the error
                store.record(Entry(f"key {stored}", "y", stored, "label", 0.5, "random", 0), "d")
                stored += 1
            add()
            stored += 1
            tried("full disks")


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "twinviews"])
def test_a_folder_that_cannot_be_written_is_told(form, tables, disk, tmp_path):
    """A folder that may only be read from is an error of one line, exit code 4, and all in it stays."""
    output = disk / f"new.{form}"
    output.write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    child = Child(tmp_path / "child", writing(output, tables))
    assert child.wait() == 4, child.said()
    assert "Read-only file system, so it could not be written." in one_line(child, output)
    assert content(output) == OLD
    tried("folders to read only")


def as_nobody(work, rehearsal):
    """Without the rights of root, once all is imported that is needed."""
    with suppress(SystemExit):
        rehearsal()
    os.truncate(1, 0)
    os.lseek(1, 0, os.SEEK_SET)
    root = os.geteuid()
    if root == 0:
        os.seteuid(65534)
    try:
        work()
    finally:
        os.seteuid(root)


@pytest.mark.parametrize("name", ["many.parquet", "rows.csv", "new.twinviews", "folder"])
def test_a_file_that_may_not_be_read_is_told(name, tables):
    """A table, a folder or a model that may not be read is an error of one line, exit code 4."""
    shared = Path(tempfile.mkdtemp())  # where others may look
    try:
        shutil.copytree(tables, shared / "tables")
        (shared / "tables" / "folder").mkdir()
        shutil.copy(tables / "few.parquet", shared / "tables" / "folder" / "few.parquet")
        for path in (shared, shared / "tables", shared / "tables" / "folder"):
            path.chmod(0o755)
        (shared / "child").mkdir()
        (shared / "child").chmod(0o777)
        hidden = shared / "tables" / name
        hidden.chmod(0)
        model, table = shared / "tables" / "new.twinviews", hidden
        if name == "new.twinviews":
            table = shared / "tables" / "rows.csv"
        work = partial(command, "predict", model, table, "-o", shared / "child" / "out.csv")
        well = partial(command, "predict", tables / "new.twinviews", tables / "many.parquet",
                       "-o", shared / "child" / "rehearsal.csv")  # fmt: skip
        child = Child(shared / "child", as_nobody, work, well)
        assert child.wait() == 4, child.said()
        assert "Permission denied" in one_line(child, hidden)
        assert not (shared / "child" / "out.csv").exists()
        tried("files that may not be read")
    finally:
        shutil.rmtree(shared)


# --- tables that change ------------------------------------------------------------------------------


def append(path):
    with path.open("ab") as file:
        file.write(path.read_bytes()[-60:])


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def replace(path):
    """By a table of the same columns and other rows, of the same size where that is possible."""
    other = path.with_name("other" + path.suffix)
    write(other, -numbers())
    os.replace(other, path)


def numbers():
    return np.random.default_rng(0).integers(100, 1000, size=(20_000, 3))


def write(path, X):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 2]})
    if path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2_000)
    else:
        pq.write_table(table, path, row_group_size=2_000)


CHANGES = [append, cut, replace, Path.unlink]


@pytest.mark.parametrize("change", CHANGES, ids=["longer", "shorter", "another", "gone"])
@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
def test_a_table_that_changes_while_it_is_read_is_told(form, change, tmp_path, monkeypatch):
    """A file that becomes longer, shorter, another one or none while a model is fitted on it, in or
    between the passes, or while predictions are made for it, is an error: no model and no predictions
    come of two tables in one."""
    path, out = tmp_path / f"rows.{form}", tmp_path / "predicted.parquet"
    write(path, numbers())
    model = XNVRegressor(**GIVEN).fit_table(path, target="y")
    for work in (
        lambda: XNVRegressor(**GIVEN).fit_table(path, target="y"),
        lambda: model.predict_table(path, out),
    ):
        write(path, numbers())
        n_blocks = count_blocks(monkeypatch, work)
        out.unlink(missing_ok=True)
        moments = np.random.default_rng(0).permutation(n_blocks)[: often(2, 20)]
        for moment in moments:
            write(path, numbers())
            with monkeypatch.context() as patch:
                change_at(moment, partial(change, path), patch)
                with pytest.raises(ValueError, match=r"rows\.\w+ changed while it was read: it "):
                    work()
            assert os.listdir(tmp_path) in ([path.name], [])
            tried("tables that changed")


def count_blocks(monkeypatch, work):
    seen = []
    with monkeypatch.context() as patch:
        change_at(-1, None, patch, seen)
        work()
    return len(seen)


def change_at(moment, change, patch, seen=None):
    """Before a block is made, which every pass does."""
    seen = [] if seen is None else seen
    block = arrow.Selection.block

    def changing(self, batch):
        if len(seen) == moment:
            change()
        seen.append(moment)
        return block(self, batch)

    patch.setattr(arrow.Selection, "block", changing)


@pytest.mark.parametrize("change", CHANGES, ids=["longer", "shorter", "another", "gone"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_command_tells_of_a_table_that_changes(form, change, tmp_path):
    """A table that changes after the command line has looked at it is an error of one line, exit code
    3, and no model is written."""
    path, output = tmp_path / f"rows.{form}", tmp_path / "model.twinviews"
    write(path, numbers())
    child = Child(tmp_path / "child", change_before_the_fit, path, change, output)
    assert child.wait() == 3, child.said()
    assert "changed while it was read" in one_line(child, path)
    assert not output.exists()
    tried("tables that changed")


def change_before_the_fit(path, change, output):
    from twinviews.cli.actions import fit_model as fitting

    look = fitting.look_at_target

    def changing(*given):
        found = look(*given)
        change(path)
        return found

    fitting.look_at_target = changing
    command("fit", path, "--target", "y", "--quick", "-o", output)


# --- pipes that break --------------------------------------------------------------------------------


def unread(stream, after, work):
    """Work whose output goes to somebody who reads so many bytes and leaves."""
    end, start = os.pipe()
    os.dup2(start, stream)
    os.close(start)

    def leave():
        os.read(end, after)
        os.close(end)

    if after:
        threading.Thread(target=leave).start()
    else:
        os.close(end)
    work()


@pytest.mark.parametrize("after", [0, 10, 3000])
@pytest.mark.parametrize("words", [["predict"], ["inspect"], ["inspect", "--json"], ["--help"],
                                   ["fit", "--help"], ["--version"]], ids=" ".join)  # fmt: skip
def test_whoever_stops_reading_ends_a_command_in_silence(words, after, tables, tmp_path):
    """A command whose standard output nobody reads any more, as with head, ends with exit code 0 and
    without a word about it."""
    if words == ["predict"]:
        words = ["predict", tables / "new.twinviews", tables / "many.parquet", "-o", "-"]
    elif words[0] == "inspect":
        words = [words[0], tables / "new.twinviews", *words[1:]]
    child = Child(tmp_path / "child", unread, 1, after, partial(command, *words))
    assert child.wait() == 0, child.said()
    assert all(": 8,000 rows" in line or "columns" in line for line in child.said().splitlines())
    tried("pipes that broke")


@pytest.mark.parametrize("after", [0, 10])
def test_a_command_goes_on_when_nobody_listens(after, tables, tmp_path):
    """A command goes on and writes its file when nobody reads any more what it says on the way."""
    expected, output = tmp_path / "expected.csv", tmp_path / "predicted.csv"
    seconds_of(tmp_path / "child", work_to_kill.predict_by_command, tables, expected)
    work = partial(work_to_kill.predict_by_command, tables, output)
    assert Child(tmp_path / "child", unread, 2, after, work).wait() == 0
    assert content(output) == content(expected)
    tried("pipes that broke")


# --- clusters ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_that_is_killed_changes_nothing(tables):
    """A fit on a Dask cluster of which a worker is killed at a random moment gives the same model."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    table = pq.read_table(tables / "many.parquet").to_pandas()
    X, y = table[NAMES].to_numpy(), table["y"].to_numpy()
    expected = XNVRegressor(**GIVEN).fit(X, y).predict(X)

    def slow(block):
        time.sleep(0.05)
        return block

    lazy = da.from_array(X, chunks=(400, 4)).map_blocks(slow, dtype=float)
    labels = da.from_array(y, chunks=400)
    rng = np.random.default_rng(0)
    # A cluster each: Dask does not always bring a second worker back once one was killed.
    for _ in range(often(1, 20)):
        with (
            LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            start = time.monotonic()
            undisturbed = XNVRegressor(**GIVEN).fit(lazy, labels)
            seconds = time.monotonic() - start
            assert_allclose(undisturbed.predict(X), expected, rtol=1e-8, atol=1e-9)
            victim = next(iter(client.run(os.getpid).values()))
            kill = threading.Timer(rng.uniform(0.1, 0.8) * seconds, os.kill, (victim, signal.SIGKILL))
            kill.start()
            model = XNVRegressor(**GIVEN).fit(lazy, labels)
            kill.join()
            assert_array_equal(model.coef_, undisturbed.coef_)
            tried("workers killed")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_spark_task_that_fails_once_changes_nothing(tables, tmp_path):
    """A fit on Spark of which any one task fails and is repeated gives the same model."""
    expected = XNVRegressor(**GIVEN).fit_table(tables / "many.parquet", target="y", columns=NAMES)
    X = pq.read_table(tables / "many.parquet").to_pandas()[NAMES]
    session = local_spark()
    rows = session.read.parquet(str(tables / "many.parquet")).repartition(8)
    undisturbed = None
    for which in range(often(1, 8)):
        flag = str(tmp_path / f"failed {which}")

        def fail_once(batches, flag=flag, which=which):
            from pyspark import TaskContext

            if TaskContext.get().partitionId() == which and not os.path.exists(flag):
                open(flag, "w").close()
                raise RuntimeError("this task fails")
            yield from batches

        frame = rows.mapInArrow(fail_once, rows.schema)
        model = XNVRegressor(**GIVEN).fit_table(frame, target="y", columns=NAMES)
        assert os.path.exists(flag)
        undisturbed = undisturbed or XNVRegressor(**GIVEN).fit_table(frame, target="y", columns=NAMES)
        assert_array_equal(model.coef_, undisturbed.coef_)
        assert_array_equal(model.landmarks_, expected.landmarks_)
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-9)
        tried("tasks that failed")
    session.stop()
