"""Finished work on disk, a transaction for each piece: a run may be killed at any moment."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from twinviews.replication.protocol import Tuned

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tuned (
    set_name TEXT, method TEXT, sigma REAL, ridge REAL, error REAL, grid TEXT,
    PRIMARY KEY (set_name, method)
);
CREATE TABLE IF NOT EXISTS errors (
    set_name TEXT, repetition INTEGER, method TEXT, n INTEGER, error REAL,
    PRIMARY KEY (set_name, repetition, method, n)
);
CREATE TABLE IF NOT EXISTS seconds (
    method TEXT, set_name TEXT, seconds REAL, PRIMARY KEY (method, set_name)
);
CREATE TABLE IF NOT EXISTS work (start REAL PRIMARY KEY, seconds REAL);
"""


class Store:
    """The repetitions of one run. What is in it is whole; what is not in it is still to be done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = sqlite3.connect(path)
        self._database.executescript(_SCHEMA)
        self._start = time.time()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows and the time worked so far, all or nothing."""
        marks = ", ".join("?" * len(rows[0]))
        with self._database:
            self._database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)
            self._database.execute(
                "INSERT OR REPLACE INTO work VALUES (?, ?)", (self._start, time.time() - self._start)
            )

    def seconds_worked(self) -> float:
        """Over all the times it was started, up to the last piece of each."""
        return float(self._database.execute("SELECT TOTAL(seconds) FROM work").fetchone()[0])

    def claim(self, key: str, value: Any) -> None:
        """Note what the numbers come from, or refuse to mix them with numbers from something else."""
        text = json.dumps(value, sort_keys=True)
        found = self._database.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        if found is None:
            with self._database:
                self._database.execute("INSERT INTO about VALUES (?, ?)", (key, text))
        elif found[0] != text:
            raise ValueError(
                f"{self._path} holds results of another run: its {key} is {_short(found[0])}, not "
                f"{_short(text)}. Name another --output, or delete that file to start afresh."
            )

    def tuned(self, set_name: str, method: str) -> Tuned | None:
        row = self._database.execute(
            "SELECT sigma, ridge, error, grid FROM tuned WHERE set_name = ? AND method = ?",
            (set_name, method),
        ).fetchone()
        if row is None:
            return None
        sigma, ridge, error, grid = row
        return Tuned(sigma, ridge, error, np.array(json.loads(grid)))

    def add_tuned(self, set_name: str, method: str, tuned: Tuned) -> None:
        grid = json.dumps(tuned.errors.tolist())
        self._insert("tuned", [(set_name, method, *tuned[:3], grid)])

    def repetitions(self, set_name: str) -> set[int]:
        """Those that are done."""
        rows = self._database.execute(
            "SELECT DISTINCT repetition FROM errors WHERE set_name = ?", (set_name,)
        )
        return {repetition for (repetition,) in rows}

    def add_repetition(
        self, set_name: str, repetition: int, labels: Sequence[int], errors: dict[str, list[float]]
    ) -> None:
        """All methods and all n of it together."""
        rows = [
            (set_name, repetition, method, n, value)
            for method, values in errors.items()
            for n, value in zip(labels, values, strict=True)
        ]
        self._insert("errors", rows)

    def errors(self, set_name: str, method: str, n: int, repetitions: int) -> np.ndarray:
        """(repetitions,) in their order."""
        rows = self._database.execute(
            "SELECT error FROM errors WHERE set_name = ? AND method = ? AND n = ? AND repetition < ? "
            "ORDER BY repetition",
            (set_name, method, n, repetitions),
        )
        return np.array([value for (value,) in rows])

    def add_seconds(self, method: str, set_name: str, seconds: float | None) -> None:
        self._insert("seconds", [(method, set_name, seconds)])

    def seconds(self) -> dict[tuple[str, str], float | None]:
        rows = self._database.execute("SELECT method, set_name, seconds FROM seconds")
        return {(method, set_name): seconds for method, set_name, seconds in rows}


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
