"""A SQLite file that several threads and processes use at the same time, with plain errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

# How long to wait for other writers, each of which takes milliseconds.
_PATIENCE_SECONDS = 10.0


class Database:
    """One connection under one lock. When a transaction ends, its changes are on the disk.

    Raises
    ------
    ValueError
        If the file is not a database, or damaged.
    OSError
        If it cannot be read or written, or another program keeps it locked.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.lock = path, RLock()
        self._what = what  # for errors: "a file of labels"
        with self._plain_errors():
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            if self.rows("PRAGMA quick_check(1)") != [("ok",)]:
                raise self._damaged()
            self.rows("PRAGMA journal_mode = DELETE")
            # Syncs the folder too, so that a deleted journal does not come back after a power cut.
            self.rows("PRAGMA synchronous = EXTRA")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self.lock:
            self._connection.close()

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.lock, self._plain_errors():
            return self._connection.execute(query, values).fetchall()

    def each(self, query: str, *values: Any) -> Generator[tuple[Any, ...]]:
        """Rows one by one. Close the generator to stop early: it locks the file until then."""
        with self.lock, self._plain_errors(), closing(self._connection.execute(query, values)) as found:
            yield from found

    def insert(self, table: str, **values: Any) -> int:
        """Insert a row; its number is returned."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        # Names of tables and columns are our own; user input is among the values only.
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # nosec B608
        with self.lock, self._plain_errors():
            number = self._connection.execute(statement, tuple(values.values())).lastrowid
        assert number is not None  # it is None before the first insert only
        return number

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes or none, with the file locked against other writers until the end."""
        with self.lock, self._plain_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors end it
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise self._damaged() from error
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise OSError(
                    f"Another program has kept {self.path} locked for {_PATIENCE_SECONDS:.0f} seconds. "
                    f"Close it, and try again"
                ) from error
            if name == "SQLITE_READONLY_DBMOVED":
                raise OSError(
                    f"{self.path} was moved or deleted while it was open. Bring it back, and start "
                    f"again"
                ) from error
            raise OSError(
                f"{self.path} cannot be read or written ({error}). Check that its folder is there, may "
                f"be written to and has room"
            ) from error

    def _damaged(self) -> ValueError:
        return ValueError(
            f"{self.path} is not {self._what}, or is damaged. Move it away, or bring back a copy."
        )
