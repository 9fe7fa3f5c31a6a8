"""Labeling by script while the server is killed: no label may be lost, none may be there twice.

    python benchmarks/label_kills.py --kills 200

A client labels rows one after the other over HTTP, as the page does: each entry has a key of its own
and is sent again, with the same key, until it is acknowledged. Meanwhile `twinviews label` is killed
with SIGKILL at random moments, from while it starts to while it works, and started again.
"""

import argparse
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import numpy as np

N_ROWS = 20_000
COMMAND = [sys.executable, "-c", "from twinviews.cli import main; main()", "label"]


class Server:
    """`twinviews label`, started again and again; its address stays the same."""

    def __init__(self, folder: Path, table: Path) -> None:
        self.table, self.log = table, folder / "log.txt"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"),
                            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = [*COMMAND, str(self.table), "--target", "y", "--task", "regression", "--no-browser"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(arguments, stderr=log, stdout=log, env=self.environment)

    def address(self) -> str | None:
        found = re.search(r"http://\S+", self.log.read_text(errors="replace"))
        return found.group(0) if found else None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


class Client(threading.Thread):
    """Labels rows until told to stop; remembers what was acknowledged."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.acknowledged = server, {}
        self.ended = threading.Event()
        self.resent = 0

    def call(self, path: str, body: dict | None = None) -> dict | None:
        """The answer; None if there is no server just now."""
        address = self.server.address()
        if address is None:
            return None
        where, _, token = address.partition("#")
        request = urllib.request.Request(
            where.rstrip("/") + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()}") from error
        except OSError:
            return None

    def ask(self, path: str, body: dict | None = None) -> dict | None:
        """The same until there is an answer."""
        tries = 0
        while not self.ended.is_set() or body is not None:
            answer = self.call(path, body)
            if answer is not None:
                self.resent += tries > 0 and body is not None
                return answer
            tries += 1
            time.sleep(0.02)
        return None

    def run(self) -> None:
        card = None
        while not self.ended.is_set():
            if card is None:
                answer = self.ask("/api/next?target=y")
                card = answer and answer["card"]
                continue
            key = str(uuid.uuid4())
            entry = {"key": key, "target": "y", "row": card["row"], "answer": "label",
                     "value": f"{card['row']}.5", "origin": card["origin"],
                     "expects": card["event"]}  # fmt: skip
            answer = self.ask("/api/record", entry)
            self.acknowledged[key] = card["row"]
            card = answer["card"]


def write_table(path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(N_ROWS, 4))
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow("abcd")
        rows.writerows(X.round(4).tolist())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=200)
    arguments.add_argument("--longest", type=float, default=6.0, help="seconds that a server lives")
    options = arguments.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "table.csv"
        write_table(table)
        server = Server(folder, table)
        server.start()
        while server.address() is None:
            time.sleep(0.1)
        client = Client(server)
        client.start()
        start = time.time()
        for kill in range(options.kills):
            time.sleep(float(rng.uniform(0, options.longest)))
            server.kill()
            server.start()
            if kill % 20 == 19:
                print(f"{kill + 1} kills, {len(client.acknowledged)} labels", flush=True)
        while server.address() is None:
            time.sleep(0.1)
        client.ended.set()
        client.join()
        server.process.terminate()
        server.process.wait()
        stored = dict(
            sqlite3.connect(f"{table}.labels.sqlite").execute("SELECT key, row FROM events").fetchall()
        )
        (events,) = (
            sqlite3.connect(f"{table}.labels.sqlite").execute("SELECT COUNT(*) FROM events").fetchone()
        )
    lost = [key for key in client.acknowledged if stored.get(key) != client.acknowledged[key]]
    extra = set(stored) - set(client.acknowledged)
    rows = list(stored.values())
    print(
        f"{options.kills} kills in {time.time() - start:.0f} s, {len(client.acknowledged)} labels "
        f"acknowledged, {client.resent} sent more than once"
    )
    print(
        f"lost: {len(lost)} (bar: 0); stored but not acknowledged: {len(extra)}; stored twice: "
        f"{events - len(stored) + len(rows) - len(set(rows))} (bar: 0)"
    )
    if lost or extra or len(rows) != len(set(rows)) or events != len(stored):
        raise SystemExit("Labels were lost or doubled.")


if __name__ == "__main__":
    main()
