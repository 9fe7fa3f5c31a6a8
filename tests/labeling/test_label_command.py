"""twinviews label, as a user starts and stops it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from twinviews.cli import main
from twinviews.cli.actions.demo_tables import N_FRUIT, write_fruit
from twinviews.cli.actions.label_rows import target_of
from twinviews.cli.errors import NO_FILE, UNUSABLE
from twinviews.labeling.entries import LabelTarget
from twinviews.reading import read

COMMAND = [sys.executable, "-c", "from twinviews.cli import main; main()", "label"]


class Served:
    """The command in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / f"log {time.monotonic_ns()}.txt"
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*COMMAND, *arguments, "--no-browser"], stdout=log, stderr=log, env=environment
            )
        until = time.monotonic() + 60
        while not (found := re.search(r"http://\S+", self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, "no address within a minute"
            time.sleep(0.05)
        self.url = found.group(0)

    def ask(self, path: str, body: dict | None = None) -> dict:
        where, _, token = self.url.partition("/#")
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(where + path, content, headers)) as answer:
            return json.load(answer)

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


@pytest.fixture
def served():
    started = []

    def start(*arguments) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "some rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b"], *([i, i % 7] for i in range(40))])
    return path


def test_labels_outlive_the_command_which_comes_back_at_the_same_address(tmp_path, table, served):
    before = table.read_bytes()
    first = served(tmp_path, str(table), "--target", "y", "--task", "regression")
    card = first.ask("/api/next?target=y")["card"]
    entry = {"key": "k1", "target": "y", "row": card["row"], "answer": "label", "value": "2,5",
             "origin": card["origin"], "expects": 0}  # fmt: skip
    assert first.ask("/api/record", entry)["state"]["labeled"] == 1
    assert first.stop(signal.SIGINT) == 0
    assert "Every label is kept" in first.log.read_text()
    again = served(tmp_path, str(table))  # its target is known by now
    assert again.url == first.url
    found = again.ask(f"/api/card?target=y&row={card['row']}")["card"]
    assert (found["answer"], found["value"]) == ("label", 2.5)
    assert table.read_bytes() == before
    other = served(tmp_path, str(table), "--target", "y")  # somebody else on the same table
    assert other.url != again.url
    assert other.ask("/api/state?target=y")["state"]["labeled"] == 1
    assert other.stop(signal.SIGTERM) == 0


def test_the_address_is_for_this_user_only(tmp_path, table, served):
    one = served(tmp_path, str(table), "--target", "y", "--task", "regression")
    (file,) = (tmp_path / "cache").rglob("*.json")
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(file.read_text())["token"] == one.url.partition("#")[2]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.csv", "--target", "y"], NO_FILE, "no file 'nothing.csv'"),
        (["-", "--target", "y"], UNUSABLE, "read once only"),
        (["TABLE", "--target", "y"], UNUSABLE, "Say --task regression"),
        (["TABLE"], UNUSABLE, "--target"),
        ([], 2, "Name a TABLE"),
        (["TABLE", "--demo", "--target", "y"], 2, "Name a TABLE"),
        (["TABLE", "--target", "y", "--task", "regression", "--classes", "a,b"], UNUSABLE, "drop one"),
        (
            ["TABLE", "--target", "y", "--task", "regression", "--labels", "TABLE"],
            UNUSABLE,
            "Name another",
        ),
        (["TABLE", "--target", "y", "--task", "regression", "--port", "0"], 2, "--port"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(table, arguments, code, words):
    given = [str(table) if one == "TABLE" else one for one in arguments]
    result = CliRunner().invoke(main, ["label", *given])
    assert result.exit_code == code, result.output
    assert words in result.output
    assert "Traceback" not in result.output


def test_a_target_is_what_its_column_holds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,grade,price,blank\n1,low,2.5,\n2,high,,\n3,low,3.25,\n")
    dataset = read(path).dataset
    assert target_of(dataset, "grade", None, []) == LabelTarget(
        "grade", "classification", ("high", "low")
    )
    assert target_of(dataset, "price", None, []) == LabelTarget("price", "regression")
    assert target_of(dataset, "new", None, ["x", "y"]) == LabelTarget(
        "new", "classification", ("x", "y")
    )
    with pytest.raises(ValueError, match="'blank' has no label yet"):
        target_of(dataset, "blank", None, [])


def test_the_fruit_of_the_demo_can_be_told_apart(tmp_path):
    names = write_fruit(tmp_path / "fruit.csv")
    with (tmp_path / "fruit.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(names) == N_FRUIT
    heavy = {name for name, row in zip(names, rows, strict=True) if float(row["weight in g"]) > 700}
    assert heavy == {"melon"}
