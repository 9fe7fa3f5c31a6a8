"""A SQLite file that threads share and processes open side by side; its errors in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

# For others who write; each takes milliseconds.
_PATIENCE_SECONDS = 10.0


class Database:
    """One connection under one lock. What a transaction has written is on the disk when it ends.

    Raises
    ------
    ValueError
        If the file is no database, or damaged.
    OSError
        If it cannot be read or written, or another program keeps it locked.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.lock = path, RLock()
        self._what = what  # it holds, in words
        with self._plain_errors():
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            if self.rows("PRAGMA quick_check(1)") != [("ok",)]:
                raise self._damaged()
            self.rows("PRAGMA journal_mode = DELETE")
            # The folder is synced as well, so that a journal which is gone stays gone.
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
        """Row by row, for who may stop early; close it then, for it locks the file until its end."""
        with self.lock, self._plain_errors(), closing(self._connection.execute(query, values)) as found:
            yield from found

    def insert(self, table: str, **values: Any) -> int:
        """A row and the number that it got."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        # Names of tables and columns are ours; all that a person said is among the values.
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # nosec B608
        with self.lock, self._plain_errors():
            number = self._connection.execute(statement, tuple(values.values())).lastrowid
        assert number is not None  # it is None before the first insert only
        return number

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and nobody writes beside it: what it reads stays true until it ends."""
        with self.lock, self._plain_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors have ended it
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
