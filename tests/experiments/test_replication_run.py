"""The command: what it writes, that it resumes, how it fails."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from twinviews.cli import main
from twinviews_experiments.replication.paper_methods import METHODS
from twinviews_experiments.replication.protocol import Tuned
from twinviews_experiments.replication.repetition_store import RepetitionStore
from twinviews_experiments.replication.run_protocol import STORE_NAME, open_store

COMMAND = [sys.executable, "-c", "from twinviews.cli import main; main()", "replicate", "--offline"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
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
    return output


def arguments(folder, output, repetitions):
    return [
        *("--data", str(folder), "--output", str(output), "--sets", "ibn_sina,ct"),
        *("--repetitions", str(repetitions), "--jobs", "2"),
    ]


def rows_of(output):
    database = sqlite3.connect(output / STORE_NAME)
    rows = database.execute("SELECT * FROM errors ORDER BY 1, 2, 3, 4").fetchall()
    database.close()
    return rows


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    output = with_choices_made(tmp_path_factory.mktemp("finished"))
    done = subprocess.run(
        [*COMMAND, *arguments(folder, output, 3)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return output, done.stderr


def test_killed_it_goes_on_to_the_same_numbers(folder, finished, tmp_path):
    output = with_choices_made(tmp_path)
    run = subprocess.Popen(
        [*COMMAND, *arguments(folder, output, 3)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not rows_of(output) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)  # the parent alone: its workers must not live on
    run.wait()
    assert 0 < len(rows_of(output)) < len(rows_of(finished[0]))
    assert _group_ends(run.pid)
    rest = subprocess.run([*COMMAND, *arguments(folder, output, 3)], capture_output=True, check=False)
    assert rest.returncode == 0, rest.stderr
    assert rows_of(output) == rows_of(finished[0])
    for name in ("errors.csv", "tables/averages.csv", "tables/errors_xnv_100.csv"):
        assert (output / name).read_bytes() == (finished[0] / name).read_bytes()


def test_stopped_it_says_so_in_one_line_and_no_worker_lives_on(folder, tmp_path):
    output = with_choices_made(tmp_path)
    run = subprocess.Popen(
        [*COMMAND, *arguments(folder, output, 50)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not rows_of(output) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.terminate()
    _, said = run.communicate(timeout=60)
    assert run.returncode == 143
    assert said.splitlines()[-1] == (
        "Error: Stopped. What was finished is kept: the same command goes on from there."
    )
    assert "Traceback" not in said
    assert _group_ends(run.pid)


def _group_ends(group):
    """Whether the processes of that group are all gone within a while."""
    for _ in range(800):  # a busy machine may take its time
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_it_says_what_is_missing_and_what_it_found(finished):
    output, said = finished
    assert "ct is missing. Get https://" in said
    assert "1 of the paper's 18 sets, 3 repetitions each (the paper: 100)" in said
    assert str(output / "index.html") in said
    assert "missing. Get https://" in (output / "tables" / "sets.csv").read_text()


@pytest.mark.long
def test_more_repetitions_keep_those_there_are(folder, finished, tmp_path):
    output = with_choices_made(tmp_path)
    for repetitions in (2, 3):
        done = CliRunner().invoke(
            main, ["replicate", "--offline", *arguments(folder, output, repetitions)]
        )
        assert done.exit_code == 0, done.output
    assert rows_of(output) == rows_of(finished[0])


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses, self.ids, self.tables = [], [], 0

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src", "xlink:href"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)
        self.tables += tag == "table"


def test_the_page_holds_everything_and_asks_for_nothing(finished):
    output, _ = finished
    text = (output / "index.html").read_text()
    page = Page()
    page.feed(text)
    assert page.addresses
    assert all(address.startswith("#") for address in page.addresses)
    assert {address[1:] for address in page.addresses} <= set(page.ids)
    assert not re.search(r"url\((?!#)", text)
    assert page.tables == len(list((output / "tables").glob("*.csv")))
    assert text.count("<svg") == len(list((output / "figures").glob("*.svg"))) == 3


def test_every_figure_is_there_twice_and_the_markdown_finds_them(finished):
    output, _ = finished
    named = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (output / "results.md").read_text())
    assert sorted(named) == sorted(
        str(path.relative_to(output)) for path in (output / "figures").glob("*.svg")
    )
    assert len(named) == len(list((output / "figures").glob("*.png")))


def test_results_of_another_run_are_not_mixed_in(folder, finished, tmp_path):
    output = with_choices_made(tmp_path)
    with RepetitionStore(output / STORE_NAME) as store:
        store.claim("data of ibn_sina", "another table")
    done = CliRunner().invoke(main, ["replicate", "--offline", *arguments(folder, output, 3)])
    assert done.exit_code == 3
    assert "holds results of another run: its data of ibn_sina" in done.output
    assert len(done.output.splitlines()) <= 2


def test_a_quick_run_is_not_mixed_with_a_full_one(folder, finished):
    output, _ = finished
    done = CliRunner().invoke(
        main, ["replicate", "--offline", "--quick", *arguments(folder, output, 3)]
    )
    assert done.exit_code == 3
    assert "another run: its kind" in done.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--sets", "cup"], "There is no set 'cup'. The sets are abalone"),
        (["--sets", "ct"], "None of the sets could be had."),
        (["--data", "/nowhere"], "does not exist"),
        (["--repetitions", "1"], "1 is not in the range x>=2"),
    ],
)
def test_errors_are_one_line_and_no_traceback(given, message, tmp_path):
    done = CliRunner().invoke(main, ["replicate", "--offline", "-o", str(tmp_path / "out"), *given])
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output
    assert isinstance(done.exception, SystemExit)


def test_help_and_version():
    runner = CliRunner()
    assert "few labels" in runner.invoke(main, ["--help"]).output
    assert "--quick" in runner.invoke(main, ["replicate", "-h"]).output
    assert "0.1.0" in runner.invoke(main, ["--version"]).output
