"""Labels on disk: a database beside the table, to which events are only ever added."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from twinviews._system.sqlite import Database
from twinviews.labeling.entries import (
    ConflictError,
    Entry,
    Event,
    Target,
    check_key,
    check_text,
    checked,
)

_WHAT = "a label file"
_FORMAT = "1"
_SCHEMA = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE sittings (number INTEGER PRIMARY KEY AUTOINCREMENT, opened TEXT NOT NULL)",
    """CREATE TABLE targets (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        classes TEXT NOT NULL
    )""",
    # A value has no type of its own, so that numbers stay numbers, bit for bit, and text stays text.
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
    # Not of imported labels, which have no sitting: undo leaves them alone.
    "CREATE INDEX entries ON events (target, number) WHERE undoes IS NULL AND sitting IS NOT NULL",
    "CREATE INDEX undone ON events (undoes) WHERE undoes IS NOT NULL",
)
_EVENTS = (
    "SELECT number, time, undoes, key, target, row, answer, value, origin, expects FROM events AS event"
)
# Entries of a target that have not been undone, the last first: those of one sitting, and those of
# sittings of which nothing has been heard since this one began. All parts are below.
_ENTRIES = (
    f"{_EVENTS} WHERE target = ? AND undoes IS NULL AND sitting IS NOT NULL AND {{whose}} "  # nosec B608
    f"AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.number) ORDER BY number DESC"
)
_OWN_ENTRIES = _ENTRIES.format(whose="sitting = ?")
_ENTRIES_LEFT_BEHIND = _ENTRIES.format(
    whose="number <= ? AND sitting NOT IN "
    "(SELECT sitting FROM events WHERE number > ? AND sitting IS NOT NULL)"
)


class Identity(NamedTuple):
    """What tells a table from another one."""

    name: str  # of the file
    n_rows: int
    columns: tuple[str, ...]


class Counts(NamedTuple):
    """Rows by the last thing that was said of them."""

    labeled: int
    skipped: int
    unsure: int


def label_file(table: Path) -> Path:
    """Where the labels of a table are: beside it."""
    return table.with_name(f"{table.name}.labels.sqlite")


def targets_in(path: Path) -> tuple[Target, ...]:
    """Those that a file of labels has, without opening it for labels; none if there is no such file."""
    if not path.exists():
        return ()
    database = Database(path, _WHAT)
    try:
        known = database.rows("SELECT 1 FROM sqlite_master WHERE name = 'targets'")
        return _targets_of(database) if known else ()
    finally:
        database.close()


def _targets_of(database: Database) -> tuple[Target, ...]:
    found = database.rows("SELECT name, task, classes FROM targets ORDER BY number")
    return tuple(Target(name, task, tuple(json.loads(classes))) for name, task, classes in found)


class LabelStore:
    """Everything that was said of the rows of a table, in one file that many may have open.

    The last event of a row and target counts. What ``record`` has returned is on the disk. Threads may
    share one store; processes open one each.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    table : Identity
        The labels must be of this table, whose rows are known by their places. Columns that are targets
        may come and go: a table in which the labels were filled in is the same table.

    Raises
    ------
    ValueError
        If it is no label file, of a newer format, damaged, or of another table.
    OSError
        If it cannot be written, or another program keeps it locked.
    """

    def __init__(self, path: Path, table: Identity) -> None:
        self.path, self.table = Path(path), table
        self._answers: dict[str, dict[int, Event]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._seen = 0  # the last event among the answers
        self._database = Database(self.path, _WHAT)
        try:
            with self._database.transaction():
                if not self._database.rows("SELECT 1 FROM sqlite_master"):
                    self._create()
                self._check_format()
                self._check_table()
                # This also shows at once, not at the first label, whether the file can be written.
                self.sitting = self._database.insert("sittings", opened=_now())
                self._opened_after = self.version()
        except BaseException:
            self.close()
            raise

    def _create(self) -> None:
        for statement in _SCHEMA:
            self._database.rows(statement)
        about = {
            "format": _FORMAT,
            "table": self.table.name,
            "rows": str(self.table.n_rows),
            "columns": json.dumps(self.table.columns),
        }
        for key, value in about.items():
            self._database.insert("about", key=key, value=value)

    def _check_format(self) -> None:
        tables = {name for (name,) in self._database.rows("SELECT name FROM sqlite_master")}
        if not {"about", "sittings", "targets", "events"} <= tables:
            raise ValueError(
                f"{self.path} is a database, but not one of labels. Move it away, or name another file."
            )
        found = self._about("format")
        if found != _FORMAT:
            raise ValueError(
                f"{self.path} has format {found}, and this version of twinviews knows {_FORMAT}. Use "
                f"the version that wrote it, or a newer one."
            )

    def _check_table(self) -> None:
        n_rows, columns = int(self._about("rows")), json.loads(self._about("columns"))
        way_out = (
            f"Labels are of rows by their places: bring that table back, or move {self.path.name} away "
            f"to begin afresh."
        )
        if n_rows != self.table.n_rows:
            raise ValueError(
                f"{self.path} has labels of a table with {n_rows:,} rows, and {self.table.name} has "
                f"{self.table.n_rows:,}. {way_out}"
            )
        targets = {target.name for target in self.targets()}
        theirs, ours = set(columns) - targets, set(self.table.columns) - targets
        if theirs != ours:
            name = min(theirs ^ ours)
            lacking = self.table.name if name in theirs else "the table that was labeled"
            raise ValueError(
                f"{self.path} has labels of a table with other columns: {lacking} has no {name!r}. "
                f"{way_out}"
            )

    def _about(self, key: str) -> str:
        found = self._database.rows("SELECT value FROM about WHERE key = ?", key)
        return str(found[0][0]) if found else "unknown"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def targets(self) -> tuple[Target, ...]:
        """In the order in which they were added."""
        return _targets_of(self._database)

    def target(self, name: str) -> Target:
        targets = {target.name: target for target in self.targets()}
        if name not in targets:
            known = ", ".join(map(repr, targets)) or "none so far"
            raise ValueError(f"There is no target {name!r}. The targets are {known}.")
        return targets[name]

    def add_target(self, target: Target) -> None:
        """The same one again adds nothing but classes that are new."""
        if not target.name:
            raise ValueError("A target needs a name. Give it the name of the column to be.")
        for text in (target.name, *target.classes):
            check_text(text)
        with self._database.transaction():
            known = {one.name: one for one in self.targets()}.get(target.name)
            if known is None:
                classes = json.dumps(target.classes)
                self._database.insert("targets", name=target.name, task=target.task, classes=classes)
                return
            if known.task != target.task:
                raise ValueError(
                    f"Target {target.name!r} is for {known.task} in {self.path.name}, not for "
                    f"{target.task}. Keep that, or give the new target another name."
                )
            classes = json.dumps(tuple(dict.fromkeys((*known.classes, *target.classes))))
            self._database.rows("UPDATE targets SET classes = ? WHERE name = ?", classes, target.name)

    def record(self, entry: Entry, digest: str) -> Event:
        """Store what was said of a row; ``digest`` is of the values that it had.

        The same entry again, by its key, is stored once.

        Raises
        ------
        ConflictError
            If the last event of the row is not the one that the entry expects.
        ValueError
            If the entry makes no sense, or another one has its key.
        """
        entry = checked(entry, self.target(entry.target), self.table.n_rows)
        with self._database.transaction():
            return self._record(entry, digest, self.sitting)

    def record_all(self, entries: Sequence[Entry], digests: Sequence[str]) -> list[Event]:
        """All or, if one is refused, none. ``undo`` leaves them alone."""
        targets = {name: self.target(name) for name in {entry.target for entry in entries}}
        n_rows = self.table.n_rows
        stored = [checked(entry, targets[entry.target], n_rows) for entry in entries]
        with self._database.transaction():
            pairs = zip(stored, digests, strict=True)
            return [self._record(entry, digest, None) for entry, digest in pairs]

    def _record(self, entry: Entry, digest: str, sitting: int | None) -> Event:
        known = self._event("key = ?", entry.key)
        if known is not None:
            if known.entry != entry:
                raise _key_taken(entry.key)
            return known
        last = self._last(entry.target, entry.row)
        if entry.expects != (0 if last is None else last.number):
            raise ConflictError(
                f"Row {entry.row + 1:,} has been answered in the meantime. Keep that answer, or send "
                f"yours again to replace it.",
                last,
            )
        return self._append(entry, digest, sitting)

    def _append(
        self, entry: Entry, digest: str, sitting: int | None, undoes: int | None = None
    ) -> Event:
        time = _now()
        number = self._database.insert(
            "events", time=time, undoes=undoes, **asdict(entry), digest=digest, sitting=sitting
        )
        return Event(number, time, entry, undoes)

    def undo(self, target: str, key: str) -> Event | None:
        """Take back the last entry that has not been taken back; None if there is none.

        People who share a file do not undo each other. The entries of this store come first, then
        those from before it was opened, unless whoever made them has been seen at work since. An entry
        that somebody else has replaced is passed over, and so are imported labels. The same key again
        is the same undo.
        """
        self.target(target)
        check_key(key)
        with self._database.transaction():
            known = self._event("key = ?", key)
            if known is not None:
                if known.undoes is None or known.entry.target != target:
                    raise _key_taken(key)
                return known
            entered = self._last_undoable(target)
            if entered is None:
                return None
            before = self._event("number = ?", entered.entry.expects)
            if before is None:
                restored, like = replace(entered.entry, answer="clear", value=None), entered
            else:
                restored, like = before.entry, before
            last = self._last(target, restored.row)
            assert last is not None  # at least the one to be undone
            ((digest,),) = self._database.rows(
                "SELECT digest FROM events WHERE number = ?", like.number
            )
            entry = replace(restored, key=key, expects=last.number)
            return self._append(entry, digest, self.sitting, undoes=entered.number)

    def undoable(self, target: str) -> bool:
        return self._last_undoable(target) is not None

    def _last_undoable(self, target: str) -> Event | None:
        kinds = (
            (_OWN_ENTRIES, self.sitting),
            (_ENTRIES_LEFT_BEHIND, self._opened_after, self._opened_after),
        )
        for query, *values in kinds:
            with closing(self._database.each(query, target, *values)) as found:
                for event in map(_event_of, found):
                    if self._in_force(target, event.entry.row) == event.number:
                        return event
        return None

    def _in_force(self, target: str, row: int) -> int | None:
        """The entry whose answer a row has: an undo goes back to the one before the undone."""
        event = self._last(target, row)
        while event is not None and event.undoes is not None:
            undone = self._event("number = ?", event.undoes)
            assert undone is not None  # events are never deleted
            event = self._event("number = ?", undone.entry.expects)
        return None if event is None else event.number

    def _last(self, target: str, row: int) -> Event | None:
        return self._event("target = ? AND row = ? ORDER BY number DESC LIMIT 1", target, row)

    def _event(self, which: str, *values: Any) -> Event | None:
        found = self._database.rows(f"{_EVENTS} WHERE {which}", *values)
        return _event_of(found[0]) if found else None

    def answers(self, target: str) -> dict[int, Event]:
        """The last event of each row that has any, those that clear an answer included."""
        with self._database.lock:
            self._catch_up()
            return dict(self._answers.get(target, {}))

    def current(self, target: str, row: int) -> Event | None:
        """The last event of a row."""
        with self._database.lock:
            self._catch_up()
            return self._answers.get(target, {}).get(row)

    def counts(self, target: str) -> Counts:
        with self._database.lock:
            self._catch_up()
            found = self._counts.get(target, Counter())
            return Counts(found["label"], found["skip"], found["unsure"])

    def _catch_up(self) -> None:
        for event in self.events(self._seen):
            entry = event.entry
            answers = self._answers.setdefault(entry.target, {})
            counts = self._counts.setdefault(entry.target, Counter())
            if entry.row in answers:
                counts[answers[entry.row].entry.answer] -= 1
            counts[entry.answer] += 1
            answers[entry.row] = event
            self._seen = event.number

    def digests(self, target: str) -> dict[int, str]:
        """Of the rows that have a label, as their values were when it was given."""
        labels = {
            event.number: row
            for row, event in self.answers(target).items()
            if event.entry.answer == "label"
        }
        found = self._database.rows("SELECT number, digest FROM events WHERE target = ?", target)
        return {labels[number]: digest for number, digest in found if number in labels}

    def version(self) -> int:
        """The number of the last event, whoever made it; 0 if there is none."""
        return int(self._database.rows("SELECT COALESCE(MAX(number), 0) FROM events")[0][0])

    def events(self, since: int = 0) -> list[Event]:
        """After the event of this number, in their order."""
        found = self._database.rows(f"{_EVENTS} WHERE number > ? ORDER BY number", since)
        return [_event_of(row) for row in found]


def _key_taken(key: str) -> ValueError:
    return ValueError(f"Key {key!r} is that of another entry. Make a new key for each entry.")


def _event_of(row: Sequence[Any]) -> Event:
    number, time, undoes, *entry = row
    return Event(number, time, Entry(*entry), undoes)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
