"""Finished work on disk, a transaction for each piece: an experiment may be killed at any moment."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from twinviews._system.sqlite import Database

_TABLES = (
    "about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "work (start REAL PRIMARY KEY, seconds REAL)",
)


class ResultStore:
    """What is in it is whole; what is not in it is still to be done. An experiment adds its tables."""

    tables: Sequence[str]  # names, each with its columns

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._database = Database(path, "a file of results")
        with self._database.transaction():
            for table in (*_TABLES, *self.tables):
                self._database.rows(f"CREATE TABLE IF NOT EXISTS {table}")
        self._start = time.time()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows and the time worked so far, all or nothing."""
        marks = ", ".join("?" * len(rows[0]))
        with self._database.transaction():
            for row in rows:
                self._database.rows(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", *row)
            worked = time.time() - self._start
            self._database.rows("INSERT OR REPLACE INTO work VALUES (?, ?)", self._start, worked)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._database.rows(query, *values)

    def seconds_worked(self) -> float:
        """Over all the times it was started, up to the last piece of each."""
        return float(self.rows("SELECT TOTAL(seconds) FROM work")[0][0])

    def claim(self, key: str, value: Any, because: str = "") -> None:
        """Note what the numbers come from, or refuse to mix them with numbers from something else.

        ``because`` says why these two do not go together, where the values alone do not.
        """
        text = json.dumps(value, sort_keys=True)
        found = self.rows("SELECT value FROM about WHERE key = ?", key)
        if not found:
            self._database.rows("INSERT INTO about VALUES (?, ?)", key, text)
        elif found[0][0] != text:
            why = f" {because}" if because else ""
            raise ValueError(
                f"{self._path} holds results of another run: its {key} is {_short(found[0][0])}, not "
                f"{_short(text)}.{why} Name another --output, or delete that file to start afresh."
            )


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
