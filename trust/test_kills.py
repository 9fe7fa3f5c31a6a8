"""Killed at any moment, step or byte: nothing is half written, and all goes on from there."""

import multiprocessing
import os
import signal
import sqlite3
import time
import zipfile
from contextlib import closing
from functools import partial

import numpy as np
import pytest

import work_to_kill
from counts import often, tried
from forked import Child, crash_at, no_byte_beyond, seconds_of
from label_client import Labeler, address_in
from twinviews_experiments import worker_processes
from twinviews_experiments.replication import run_protocol as replication_run
from twinviews_experiments.replication.paper_methods import METHODS
from twinviews_experiments.replication.protocol import Tuned
from twinviews_experiments.replication.published_numbers import FIGURE_LABELS
from twinviews_experiments.replication.run_protocol import STORE_NAME, open_store
from work_to_kill import command, content, hidden

PARTS = often(1, 4)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    work_to_kill.write_tables(folder)
    return folder


@pytest.fixture
def desk(tmp_path):
    """A folder for results alone, and one for what a child keeps to itself."""
    (tmp_path / "results").mkdir()
    return tmp_path / "results", tmp_path / "child"


def moments(seconds, times, part):
    """Of kills, anywhere in a run that takes so long; more than are needed, as some come too late."""
    return np.random.default_rng(part).uniform(0, seconds, 20 * times)


def work_on(name, tables, results):
    """Work as a function, and the file that comes of it."""
    if name in ("fit many", "fit few"):
        output = results / "fit.twinviews"
        table = tables / f"{name.removeprefix('fit ')}.parquet"
        return partial(work_to_kill.fit, table, results / "notes.npz", output), output
    if name == "save":
        output = results / "saved.twinviews"
        return partial(work_to_kill.save, tables, output), output
    form, by = name.split(" by ")
    output = results / f"predicted.{form}"
    function = work_to_kill.predict if by == "library" else work_to_kill.predict_by_command
    return partial(function, tables, output), output


def undisturbed(work, output, child):
    """The content that comes of it, and the seconds that it takes."""
    seconds = seconds_of(child, work)
    return content(output), seconds


def check_after_kill(results, output, olds, new):
    """The output is one that was there before, or the new one; nothing else but notes has its face."""
    assert content(output) in (*olds, new)
    others = {path.name for path in results.iterdir()} - {output.name, "notes.npz"}
    assert others == set(hidden(results))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_fit_with_a_checkpoint_goes_on_to_the_identical_model(part, tables, desk):
    """A fit that is killed again and again ends with the identical model file, bit for bit."""
    results, child = desk
    work, output = work_on("fit many", tables, results)
    expected, seconds = undisturbed(work, output, child)
    times, kills = often(3, 200) // PARTS, 0
    for moment in moments(seconds, times, part):
        output.unlink(missing_ok=True)
        run = Child(child, work)
        if run.killed_after(moment):
            kills += 1
            check_after_kill(results, output, [None], expected)
        else:
            assert run.wait() == 0, run.said()
            assert content(output) == expected
            assert os.listdir(results) == [output.name]
        if kills == times:
            break
    assert kills == times
    assert seconds_of(child, work) > 0
    assert content(output) == expected
    assert os.listdir(results) == [output.name]
    tried("kills of fits", kills)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    "name", ["parquet by library", "csv by command", "parquet by command", "jsonl by command", "save"]
)
def test_a_file_is_the_old_one_or_the_new_one_whole(name, part, tables, desk):
    """Predictions and model files whose writer is killed are the old ones or the new ones, bit for
    bit; the next run clears up and writes what an undisturbed one writes."""
    results, child = desk
    work, output = work_on(name, tables, results)
    expected, seconds = undisturbed(work, output, child)
    times = often(2, 200 if name == "save" else 100) // PARTS
    olds = [None, b"what was there before"]
    kills = 0
    for i, moment in enumerate(moments(seconds, times, part)):
        output.unlink(missing_ok=True)
        if olds[i % 2] is not None:
            output.write_bytes(olds[i % 2])
        kills += Child(child, work).killed_after(moment)
        check_after_kill(results, output, [olds[i % 2]], expected)
        if i % 5 == 4 or kills == times:
            assert seconds_of(child, work) > 0
            assert content(output) == expected
            assert os.listdir(results) == [output.name]
            assert sorted(os.listdir(child)) == ["said.txt"]  # no copy of the table either
        if kills == times:
            break
    assert kills == times
    tried("kills of writers", kills)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", ["fit few", "save", "parquet by library", "csv by command"])
def test_a_crash_before_any_step_leaves_nothing_half_written(name, part, tables, desk):
    """A crash just before any of the steps that touch a file (made, synced, renamed, removed) leaves
    the old file or the new one, and the next run ends like an undisturbed one."""
    results, child = desk
    work, output = work_on(name, tables, results)
    expected, _ = undisturbed(work, output, child)
    step, crashes = 1 + part, 0
    stride = PARTS * often(25, 1) if name == "fit few" else PARTS * often(4, 1)
    while True:
        output.write_bytes(b"old")
        if Child(child, crash_at, step, work).wait() == 0:
            break
        crashes += 1
        check_after_kill(results, output, [b"old"], expected)
        assert seconds_of(child, work) > 0
        assert content(output) == expected
        assert os.listdir(results) == [output.name]
        step += stride
    assert crashes > 0
    tried("crashes at a step", crashes)


@pytest.mark.parametrize("name", ["fit few", "save", "parquet by library", "csv by command"])
def test_a_kill_in_the_midst_of_a_write_leaves_nothing_half_written(name, tables, desk):
    """A kill between two bytes of a file that is being written leaves the old file or the new one."""
    results, child = desk
    work, output = work_on(name, tables, results)
    expected, _ = undisturbed(work, output, child)
    kills = 0
    for most in np.linspace(1, len(expected) - 1, often(2, 25), dtype=int):
        output.write_bytes(b"old")
        (results / "notes.npz").unlink(missing_ok=True)
        assert Child(child, no_byte_beyond, int(most), True, work).wait() == -signal.SIGXFSZ
        kills += 1
        check_after_kill(results, output, [b"old"], expected)
        assert content(output) == b"old"
        assert hidden(results) or os.listdir(child) != ["said.txt"], "it was killed while it wrote"
    assert seconds_of(child, work) > 0
    assert content(output) == expected
    assert os.listdir(results) == [output.name]
    tried("kills between two bytes", kills)


# --- replicate ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small table in the format of IBN_SINA, the one set whose file has no known checksum."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(2400, 92))
    y = np.where(X[:, 0] + X[:, 1] > 4, 1, -1)
    with zipfile.ZipFile(folder / "IBN_SINA.zip", "w") as archive:
        archive.writestr("ibn_sina.data", "\n".join(" ".join(map(str, row)) for row in X))
        archive.writestr("ibn_sina.label", "\n".join(map(str, y)))
    return folder


def with_choices_made(output):
    """A run that has already chosen sigma and ridge, which is the longest part."""
    with open_store(output) as store:
        for method in METHODS:
            store.add_tuned("ibn_sina", method.name, Tuned(14.0, 1e-2, 0.1, np.empty((0, 0))))


def replicate(data, output):
    """With forked workers and repetitions that take no time: what is stored and written is tried here,
    not the mathematics."""
    fork = multiprocessing.get_context("fork")
    worker_processes.multiprocessing.get_context = lambda _: fork
    replication_run.repeat = repeat_at_once
    command(
        *("replicate", "--offline", "--quick", "--data", data, "--output", output),
        *("--sets", "ibn_sina", "--jobs", 2),
    )


def repeat_at_once(method, tuned, data, task, number, repetition):
    rng = np.random.default_rng([len(method.name), number, repetition])
    time.sleep(0.01)
    return rng.uniform(size=len(FIGURE_LABELS)).tolist()


def repetitions(output):
    with closing(sqlite3.connect(output / STORE_NAME)) as database:
        return database.execute("SELECT * FROM errors ORDER BY 1, 2, 3, 4").fetchall()


# Their numbers are measured times, or stand beside such.
_TIMED = ("about.csv", "tables/runtimes.csv", "results.md", "index.html")


def pages(output):
    """All that was written to be read, by its name in the folder; SQLite has files of its own."""
    found = [one for one in output.rglob("*") if one.is_file() and not one.name.startswith(STORE_NAME)]
    return {str(path.relative_to(output)): path.read_bytes() for path in found}


_ENDS = {".html": b"</html>\n", ".svg": b"</svg>\n", ".png": b"IEND\xaeB`\x82"}


def check_whole(written, expected):
    for name, found in written.items():
        if name in expected and name not in _TIMED:
            assert found == expected[name], name
        elif name in _TIMED:
            ending = os.path.splitext(name)[1]
            assert found.endswith(_ENDS.get(ending, b"\n")), name
        else:
            assert os.path.basename(name).startswith("."), name  # a leftover, not taken for a page


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_a_replication_goes_on_to_the_same_numbers(part, data, tmp_path):
    """A replication that is killed again and again ends with the same repetitions, tables and figures;
    no page is half written, and no worker lives on."""
    whole, broken, child = tmp_path / "whole", tmp_path / "broken", tmp_path / "child"
    with_choices_made(whole)
    with_choices_made(broken)
    seconds = seconds_of(child, replicate, data, whole)
    expected, numbers = pages(whole), repetitions(whole)
    times, kills = often(2, 200) // PARTS, 0
    for moment in moments(seconds, times, part):
        run = Child(child, replicate, data, broken)
        kills += run.killed_after(moment)
        assert run.leaves_nobody()
        check_whole(pages(broken), expected)
        if run.wait() == 0:  # the next one begins afresh
            assert repetitions(broken) == numbers
            assert pages(broken).keys() == expected.keys()
            for path in broken.rglob("*"):
                if path.is_file():
                    path.unlink()
            with_choices_made(broken)
        if kills == times:
            break
    assert kills == times
    assert seconds_of(child, replicate, data, broken) > 0
    assert repetitions(broken) == numbers
    check_whole(pages(broken), expected)
    assert {path.name for path in broken.rglob("*")} == {path.name for path in whole.rglob("*")}
    tried("kills of replications", kills)


# --- labels ------------------------------------------------------------------------------------------


def serve_labels(table):
    command("label", table, "--target", "y", "--task", "regression", "--no-browser")


def until_it_serves(running):
    while address_in(running.said()) is None:
        time.sleep(0.01)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_no_label_is_lost_or_doubled(part, tmp_path):
    """Labels that the server has acknowledged are there once and as they were given, however often it
    is killed while somebody labels; whoever labels goes on by itself."""
    table, child = tmp_path / "table.csv", tmp_path / "child"
    X = np.random.default_rng(0).normal(size=(5_000, 3)).round(4)
    table.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in X))
    running = Child(child, serve_labels, table)
    until_it_serves(running)
    starts_in = time.monotonic() - running.start
    labeler = Labeler(lambda: address_in(running.said()))
    labeler.start()
    kills = often(3, 200) // PARTS
    for moment in moments(2 * starts_in, kills, part)[:kills]:  # while it starts, while it works
        assert running.killed_after(moment)
        assert running.leaves_nobody()
        running = Child(child, serve_labels, table)
    until_it_serves(running)
    before = len(labeler.acknowledged)
    while len(labeler.acknowledged) == before and labeler.failure is None:
        time.sleep(0.01)
    labeler.ended.set()
    labeler.join()
    running.send(signal.SIGTERM)
    assert running.wait() == 0, running.said()
    assert labeler.failure is None
    with closing(sqlite3.connect(f"{table}.labels.sqlite")) as database:
        stored = database.execute("SELECT key, row, value FROM events").fetchall()
    assert sorted((key, row) for key, row, _ in stored) == sorted(labeler.acknowledged.items())
    assert all(value == row + 0.5 for _, row, value in stored)
    assert len({row for _, row, _ in stored}) == len(stored)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "child", "table.csv", "table.csv.labels.sqlite",
    ]  # fmt: skip
    assert not [name for name in os.listdir(child) if name.startswith("twinviews-")]
    tried("kills of the label server", kills)
    tried("labels", len(stored))


# --- stopped, not killed -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["keyboard", "SIGTERM"])
@pytest.mark.parametrize("what", ["fit", "predict", "replicate"])
def test_a_command_that_is_stopped_ends_in_one_line(what, number, tables, data, desk):
    """A command that is stopped by the keyboard or SIGTERM says so in one line, with its own exit
    code, and leaves neither half a file nor a temporary one nor a process."""
    results, child = desk
    output = results / {"fit": "m.twinviews", "predict": "p.csv", "replicate": "r"}[what]
    work = {
        "fit": partial(command, "fit", tables / "rows.csv", "--target", "y", "-o", output, "--quick"),
        "predict": partial(work_to_kill.predict_by_command, tables, output),
        "replicate": partial(replicate, data, output),
    }[what]
    if what == "replicate":
        with_choices_made(output)
    seconds = seconds_of(child, work)
    expected = pages(output) if what == "replicate" else content(output)
    times, stopped = often(1, 20), 0
    for moment in moments(seconds, times, number):
        if what == "replicate":
            output = results / f"r{stopped}"
            with_choices_made(output)
            work = partial(replicate, data, output)
        run = Child(child, work)
        run.killed_after(moment, number)
        assert run.leaves_nobody()
        lines = run.said().splitlines()
        assert "Traceback" not in run.said(), run.said()
        assert run.wait() in (0, 128 + number), run.said()
        if run.wait() != 0:
            stopped += 1
            assert lines[-1].startswith("Error: Stopped. "), lines
        if what == "replicate":
            check_whole(pages(output), expected)
        else:
            assert content(output) == expected
        assert not hidden(results)
        assert os.listdir(child) == ["said.txt"] or what == "replicate"
        if stopped == times:
            break
    assert stopped == times
    tried("commands stopped", stopped)
