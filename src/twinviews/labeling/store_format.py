"""The label file: a SQLite database beside the table, its format, and the targets that it lists.

Names of tables and columns are those of the first version and must stay: files of users have them.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from twinviews._system.sqlite import Database
from twinviews.labeling.entries import LabelTarget, check_text

_CONTENT = "a label file"
_FORMAT = "1"
_SCHEMA = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # A sitting is one opening of the file by a session.
    "CREATE TABLE sittings (number INTEGER PRIMARY KEY AUTOINCREMENT, opened TEXT NOT NULL)",
    """CREATE TABLE targets (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        classes TEXT NOT NULL
    )""",
    # A value has no declared type, so that numbers stay numbers, bit for bit, and text stays text.
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL,
        undoes INTEGER,
        key TEXT NOT NULL UNIQUE,
        target TEXT NOT NULL,
        row INTEGER NOT NULL,
        answer TEXT NOT NULL,
        value,
        origin TEXT NOT NULL,
        expects INTEGER NOT NULL,
        digest TEXT NOT NULL,
        sitting INTEGER
    )""",
    "CREATE INDEX events_of_rows ON events (target, row, number)",
    # Imported labels have no sitting: undo leaves them alone.
    "CREATE INDEX entries ON events (target, number) WHERE undoes IS NULL AND sitting IS NOT NULL",
    "CREATE INDEX undone ON events (undoes) WHERE undoes IS NOT NULL",
)


class TableIdentity(NamedTuple):
    """What distinguishes a table from another one."""

    name: str  # of the file
    n_rows: int
    columns: tuple[str, ...]


def label_file(table: Path) -> Path:
    """The path of a table's label file: beside the table."""
    return table.with_name(f"{table.name}.labels.sqlite")


def open_label_file(path: Path, table: TableIdentity) -> tuple[Database, int, int]:
    """The label file of a table, made if it is not there.

    With it come the number of a new sitting, and that of the last event before; 0 if there is none.

    Raises
    ------
    ValueError
        If it is not a label file, of a newer format, damaged, or of another table.
    OSError
        If it cannot be written, or another program keeps it locked.
    """
    database = Database(path, _CONTENT)
    try:
        with database.transaction():
            if not database.rows("SELECT 1 FROM sqlite_master"):
                _create(database, table)
            _check(database, table)
            # This also shows at once, not at the first label, whether the file can be written.
            sitting = database.insert("sittings", opened=current_time())
            return database, sitting, last_event(database)
    except BaseException:
        database.close()
        raise


def last_event(database: Database) -> int:
    """The number of the last event, whoever added it; 0 if there is none."""
    return int(database.rows("SELECT COALESCE(MAX(number), 0) FROM events")[0][0])


def current_time() -> str:
    """The time in UTC, as the file has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _create(database: Database, table: TableIdentity) -> None:
    for statement in _SCHEMA:
        database.rows(statement)
    about = {
        "format": _FORMAT,
        "table": table.name,
        "rows": str(table.n_rows),
        "columns": json.dumps(table.columns),
    }
    for key, value in about.items():
        database.insert("about", key=key, value=value)


def _check(database: Database, table: TableIdentity) -> None:
    """Raise an error if it is not a label file, of another format or of another table.

    Columns of targets may come and go: a table in which labels were filled in is the same table.
    """
    path, tables = database.path, {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    if not {"about", "sittings", "targets", "events"} <= tables:
        raise ValueError(
            f"{path} is a database, but not one of labels. Move it away, or name another file."
        )
    about = dict(database.rows("SELECT key, value FROM about"))
    if about.get("format") != _FORMAT:
        raise ValueError(
            f"{path} has format {about.get('format', 'unknown')}, and this version of twinviews knows "
            f"{_FORMAT}. Use the version that wrote it, or a newer one."
        )
    n_rows = int(about["rows"])
    way_out = (
        f"Labels belong to row numbers: bring that table back, or move {path.name} away to start again."
    )
    if n_rows != table.n_rows:
        raise ValueError(
            f"{path} has labels of a table with {n_rows:,} rows, and {table.name} has "
            f"{table.n_rows:,}. {way_out}"
        )
    targets = {target.name for target in read_targets(database)}
    theirs, ours = set(json.loads(about["columns"])) - targets, set(table.columns) - targets
    if theirs != ours:
        name = min(theirs ^ ours)
        lacking = table.name if name in theirs else "the table that was labeled"
        raise ValueError(
            f"{path} has labels of a table with other columns: {lacking} has no {name!r}. {way_out}"
        )


def targets_in(path: Path) -> tuple[LabelTarget, ...]:
    """The targets of a label file, which is not changed; none if there is no such file."""
    if not path.exists():
        return ()
    database = Database(path, _CONTENT)
    try:
        known = database.rows("SELECT 1 FROM sqlite_master WHERE name = 'targets'")
        return read_targets(database) if known else ()
    finally:
        database.close()


def read_targets(database: Database) -> tuple[LabelTarget, ...]:
    """The targets in the order in which they were added."""
    found = database.rows("SELECT name, task, classes FROM targets ORDER BY number")
    return tuple(LabelTarget(name, task, tuple(json.loads(classes))) for name, task, classes in found)


def write_target(database: Database, target: LabelTarget) -> None:
    """Add a target, or new classes to a target that is there."""
    if not target.name:
        raise ValueError("A target needs a name. Give it the name of its column.")
    for text in (target.name, *target.classes):
        check_text(text)
    with database.transaction():
        known = {one.name: one for one in read_targets(database)}.get(target.name)
        if known is None:
            classes = json.dumps(target.classes)
            database.insert("targets", name=target.name, task=target.task, classes=classes)
            return
        if known.task != target.task:
            raise ValueError(
                f"Target {target.name!r} is for {known.task} in {database.path.name}, not for "
                f"{target.task}. Keep that, or give the new target another name."
            )
        classes = json.dumps(tuple(dict.fromkeys((*known.classes, *target.classes))))
        database.rows("UPDATE targets SET classes = ? WHERE name = ?", classes, target.name)
