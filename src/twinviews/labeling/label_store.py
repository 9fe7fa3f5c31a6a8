"""Labels on disk: events that are only added, one transaction for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from twinviews.labeling.entries import (
    ConflictError,
    Entry,
    Event,
    LabelTarget,
    check_key,
    checked_entry,
)
from twinviews.labeling.store_format import (
    TableIdentity,
    current_time,
    last_event,
    open_label_file,
    read_targets,
    write_target,
)

_EVENTS = (
    "SELECT number, time, undoes, key, target, row, answer, value, origin, expects FROM events AS event"
)
# Entries of a target that have not been undone, the last first: those of one sitting, and those of
# sittings that have added nothing since this one began. All parts of the query are below.
_ENTRIES = (
    f"{_EVENTS} WHERE target = ? AND undoes IS NULL AND sitting IS NOT NULL AND {{whose}} "  # nosec B608
    f"AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.number) ORDER BY number DESC"
)
_OWN_ENTRIES = _ENTRIES.format(whose="sitting = ?")
_ENTRIES_OF_ENDED_SITTINGS = _ENTRIES.format(
    whose="number <= ? AND sitting NOT IN "
    "(SELECT sitting FROM events WHERE number > ? AND sitting IS NOT NULL)"
)


class LabelStore:
    """All answers about the rows of a table, in one file that several processes may have open.

    The last event of a row and target is in force. An event that ``record`` has returned is on the
    disk. Threads may share one store; processes open one each.

    Parameters
    ----------
    path : Path
        The label file, made if it is not there.
    table : TableIdentity
        The labels must be of this table, whose rows are known by their numbers.

    Raises
    ------
    ValueError, OSError
        If the file cannot be used; see ``store_format.open_label_file``.
    """

    def __init__(self, path: Path, table: TableIdentity) -> None:
        self.path, self.table = Path(path), table
        self._answers: dict[str, dict[int, Event]] = {}
        self._seen = 0  # number of the last event among the answers
        self._database, self._sitting, self._opened_after = open_label_file(self.path, table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def targets(self) -> tuple[LabelTarget, ...]:
        """The targets in the order in which they were added."""
        return read_targets(self._database)

    def target(self, name: str) -> LabelTarget:
        """The target of a name, or an error that lists the names."""
        targets = {target.name: target for target in self.targets()}
        if name not in targets:
            known = ", ".join(map(repr, targets)) or "none so far"
            raise ValueError(f"There is no target {name!r}. The targets are {known}.")
        return targets[name]

    def add_target(self, target: LabelTarget) -> None:
        """Add a target; one that is there already only gets its new classes."""
        write_target(self._database, target)

    # --- adding events ------------------------------------------------------------------------------

    def record(self, entry: Entry, fingerprint: str) -> Event:
        """Store an answer; ``fingerprint`` is that of the row's values.

        The same entry again, by its key, is stored once.

        Raises
        ------
        ConflictError
            If the last event of the row is not the one that the entry expects.
        ValueError
            If the entry is not valid, or another one has its key.
        """
        entry = checked_entry(entry, self.target(entry.target), self.table.n_rows)
        with self._database.transaction():
            return self._record(entry, fingerprint, self._sitting)

    def record_all(self, entries: Sequence[Entry], fingerprints: Sequence[str]) -> list[Event]:
        """Store all entries or, if one is refused, none. ``undo`` leaves them alone."""
        targets = {name: self.target(name) for name in {entry.target for entry in entries}}
        n_rows = self.table.n_rows
        stored = [checked_entry(entry, targets[entry.target], n_rows) for entry in entries]
        with self._database.transaction():
            pairs = zip(stored, fingerprints, strict=True)
            return [self._record(entry, fingerprint, None) for entry, fingerprint in pairs]

    def _record(self, entry: Entry, fingerprint: str, sitting: int | None) -> Event:
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
        return self._append(entry, fingerprint, sitting)

    def _append(
        self, entry: Entry, fingerprint: str, sitting: int | None, undoes: int | None = None
    ) -> Event:
        time = current_time()
        number = self._database.insert(
            "events", time=time, undoes=undoes, **asdict(entry), digest=fingerprint, sitting=sitting
        )
        return Event(number, time, entry, undoes)

    def undo(self, target: str, key: str) -> Event | None:
        """Undo the last entry that has not been undone; None if there is none.

        People who share a file do not undo each other. The entries of this store come first, then
        older ones, unless the sitting that made them has added events since this store was opened. An
        entry that somebody else has replaced is passed over, and so are imported labels. The same key
        again is the same undo.
        """
        self.target(target)
        check_key(key)
        with self._database.transaction():
            known = self._event("key = ?", key)
            if known is not None:
                if known.undoes is None or known.entry.target != target:
                    raise _key_taken(key)
                return known
            undone = self._last_undoable(target)
            if undone is None:
                return None
            before = self._event("number = ?", undone.entry.expects)
            if before is None:
                restored, like = replace(undone.entry, answer="clear", value=None), undone
            else:
                restored, like = before.entry, before
            last = self._last(target, restored.row)
            assert last is not None  # at least the one to be undone
            query = "SELECT digest FROM events WHERE number = ?"
            ((fingerprint,),) = self._database.rows(query, like.number)
            entry = replace(restored, key=key, expects=last.number)
            return self._append(entry, fingerprint, self._sitting, undoes=undone.number)

    def undoable(self, target: str) -> bool:
        """Whether there is an entry to undo."""
        return self._last_undoable(target) is not None

    def _last_undoable(self, target: str) -> Event | None:
        queries = (
            (_OWN_ENTRIES, self._sitting),
            (_ENTRIES_OF_ENDED_SITTINGS, self._opened_after, self._opened_after),
        )
        for query, *values in queries:
            with closing(self._database.each(query, target, *values)) as found:
                for event in map(_event_of, found):
                    if self._in_force(target, event.entry.row) == event.number:
                        return event
        return None

    def _in_force(self, target: str, row: int) -> int | None:
        """Number of the entry that gives a row its answer: an undo restores the one before."""
        event = self._last(target, row)
        while event is not None and event.undoes is not None:
            undone = self._event("number = ?", event.undoes)
            assert undone is not None  # events are never deleted
            event = self._event("number = ?", undone.entry.expects)
        return None if event is None else event.number

    # --- reading ------------------------------------------------------------------------------------

    def _last(self, target: str, row: int) -> Event | None:
        return self._event("target = ? AND row = ? ORDER BY number DESC LIMIT 1", target, row)

    def _event(self, which: str, *values: Any) -> Event | None:
        found = self._database.rows(f"{_EVENTS} WHERE {which}", *values)
        return _event_of(found[0]) if found else None

    def answers(self, target: str) -> dict[int, Event]:
        """The last event of each row that has any, those that clear an answer included."""
        with self._database.lock:
            self._read_new_events()
            return dict(self._answers.get(target, {}))

    def current(self, target: str, row: int) -> Event | None:
        """The last event of a row."""
        with self._database.lock:
            self._read_new_events()
            return self._answers.get(target, {}).get(row)

    def _read_new_events(self) -> None:
        for event in self.events(self._seen):
            self._answers.setdefault(event.entry.target, {})[event.entry.row] = event
            self._seen = event.number

    def fingerprints(self, target: str) -> dict[int, str]:
        """Fingerprints of the labeled rows, from when they were labeled."""
        labels = {
            event.number: row
            for row, event in self.answers(target).items()
            if event.entry.answer == "label"
        }
        found = self._database.rows("SELECT number, digest FROM events WHERE target = ?", target)
        return {labels[number]: fingerprint for number, fingerprint in found if number in labels}

    def version(self) -> int:
        """The number of the last event, whoever added it; 0 if there is none."""
        return last_event(self._database)

    def events(self, since: int = 0) -> list[Event]:
        """The events after the one of this number, in their order."""
        found = self._database.rows(f"{_EVENTS} WHERE number > ? ORDER BY number", since)
        return [_event_of(row) for row in found]


def _key_taken(key: str) -> ValueError:
    return ValueError(f"Key {key!r} is that of another entry. Make a new key for each entry.")


def _event_of(row: Sequence[Any]) -> Event:
    number, time, undoes, *entry = row
    return Event(number, time, Entry(*entry), undoes)
