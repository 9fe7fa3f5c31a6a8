"""Labels on disk: events that are only added, one transaction for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from twinviews.labeling.entries import ConflictError, Entry, Event, LabelTarget, checked_entry
from twinviews.labeling.label_rounds import (
    Round,
    Wish,
    count_rounds,
    read_rounds,
    read_wish,
    write_round,
    write_wish,
)
from twinviews.labeling.store_format import (
    TableIdentity,
    current_time,
    last_event,
    open_label_file,
    read_targets,
    write_target,
)
from twinviews.labeling.table_copy import TableCopy, row_fingerprints

_EVENTS = (
    "SELECT number, time, undoes, key, target, row, answer, value, origin, expects FROM events AS event"
)
# The last entry of a target that gives its row the answer: it has not been undone, nor replaced by a
# later one that has not been undone. Imported ones have no sitting.
_NOT_UNDONE = "{0}.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = {0}.number)"
_UNDOABLE = f"""target = ? AND sitting IS NOT NULL AND {{whose}} AND {_NOT_UNDONE.format("event")}
    AND NOT EXISTS (
        SELECT 1 FROM events AS later WHERE later.target = event.target AND later.row = event.row
        AND later.number > event.number AND {_NOT_UNDONE.format("later")}
    ) ORDER BY number DESC LIMIT 1"""  # nosec B608
_OWN = _UNDOABLE.format(whose="sitting = ?")
# Of sittings that have added nothing since this one began.
_OF_ENDED_SITTINGS = _UNDOABLE.format(
    whose="number <= ? AND sitting NOT IN "
    "(SELECT sitting FROM events WHERE number > ? AND sitting IS NOT NULL)"
)
# The last event of each row.
_IN_FORCE = "number IN (SELECT MAX(number) FROM events WHERE target = ? GROUP BY row)"


class LabelStore:
    """All answers about the rows of a table, in one file that several processes may have open.

    The last event of a row and target is in force. An event that ``record`` has returned is on the
    disk. Threads may share one store; processes open one each. The file is made if it is not there, and
    its labels must be of this table, whose rows are known by their numbers; see
    ``store_format.open_label_file`` for errors.
    """

    def __init__(self, path: Path, table: TableIdentity) -> None:
        self.path, self.table = Path(path), table
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

    # --- answers about all rows ---------------------------------------------------------------------

    def rounds(self, target: str) -> tuple[Round, ...]:
        """Rows that were drawn for an answer about all rows, in their order."""
        return read_rounds(self._database, target)

    def n_rounds(self, target: str) -> int:
        return count_rounds(self._database, target)

    def add_round(self, target: str, one: Round) -> None:
        with self._database.transaction():
            write_round(self._database, target, one)

    def wish(self, target: str) -> Wish:
        """Whether an answer about all rows is wanted, and how narrow."""
        return read_wish(self._database, target)

    def set_wish(self, target: str, wish: Wish) -> None:
        with self._database.transaction():
            write_wish(self._database, target, wish)

    # --- adding events ------------------------------------------------------------------------------

    def record(self, entry: Entry, fingerprint: str) -> Event:
        """Store an answer; ``fingerprint`` is that of the row's values.

        The same entry again, by its key, is stored once.

        Raises
        ------
        ConflictError
            If the last event of the row is not the one that the entry expects.
        ValueError
            If the row, the target or the label cannot be, or another entry has its key.
        """
        (event,) = self._record([entry], [fingerprint], self._sitting)
        return event

    def record_all(self, entries: Sequence[Entry], fingerprints: Sequence[str]) -> list[Event]:
        """Store all entries or, if one is refused, none. ``undo`` leaves them alone."""
        return self._record(entries, fingerprints, None)

    def _record(
        self, entries: Sequence[Entry], fingerprints: Sequence[str], sitting: int | None
    ) -> list[Event]:
        targets = {name: self.target(name) for name in {entry.target for entry in entries}}
        stored = []
        with self._database.transaction():
            for given, fingerprint in zip(entries, fingerprints, strict=True):
                entry = checked_entry(given, targets[given.target], self.table.n_rows)
                known, last = self._event("key = ?", entry.key), self.current(entry.target, entry.row)
                if known is not None and known.entry != entry:
                    raise _key_taken(entry.key)
                if known is None and entry.expects != (0 if last is None else last.number):
                    raise ConflictError(
                        f"Row {entry.row + 1:,} has been answered in the meantime. Keep that answer, "
                        f"or send yours again to replace it.",
                        last,
                    )
                stored.append(known or self._append(entry, fingerprint, sitting))
        return stored

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
            cleared = replace(undone.entry, answer="clear", value=None)
            last = self.current(target, undone.entry.row)
            assert last is not None  # at least the one to be undone
            query = "SELECT digest FROM events WHERE number = ?"
            ((fingerprint,),) = self._database.rows(query, (before or undone).number)
            restored = cleared if before is None else before.entry
            entry = replace(restored, key=key, expects=last.number)
            return self._append(entry, fingerprint, self._sitting, undoes=undone.number)

    def undoable(self, target: str) -> bool:
        """Whether there is an entry to undo."""
        return self._last_undoable(target) is not None

    def _last_undoable(self, target: str) -> Event | None:
        before = self._opened_after
        own = self._event(_OWN, target, self._sitting)
        return own or self._event(_OF_ENDED_SITTINGS, target, before, before)

    # --- reading ------------------------------------------------------------------------------------

    def current(self, target: str, row: int) -> Event | None:
        """The last event of a row."""
        return self._event("target = ? AND row = ? ORDER BY number DESC LIMIT 1", target, row)

    def _event(self, which: str, *values: Any) -> Event | None:
        found = self._events(which, *values)
        return found[0] if found else None

    def answers(self, target: str) -> dict[int, Event]:
        """The last event of each row that has any, those that clear an answer included."""
        return {event.entry.row: event for event in self._events(_IN_FORCE, target)}

    def fingerprints(self, target: str) -> dict[int, str]:
        """Fingerprints of the labeled rows, from when they were labeled."""
        query = f"SELECT row, digest FROM events WHERE answer = 'label' AND {_IN_FORCE}"  # nosec B608
        return dict(self._database.rows(query, target))

    def changed_rows(self, table: TableCopy) -> list[int]:
        """Labeled rows whose values are no longer those that were labeled, labels aside.

        A fingerprint excludes the targets that there were when it was made: the first one, the first
        two, and so on, as targets are only added.
        """
        names = [target.name for target in self.targets()]
        changed: set[int] = set()
        for target in names:
            then = self.fingerprints(target)
            left = list(then)
            for count in range(len(names), names.index(target), -1):
                now = row_fingerprints(table, left, names[:count])
                left = [row for row, found in zip(left, now, strict=True) if then[row] != found]
            changed |= set(left)
        return sorted(changed)

    def check_unchanged(self, table: TableCopy) -> None:
        """Raise an error if labeled rows are no longer what they were."""
        if changed := self.changed_rows(table):
            others = f", nor are {len(changed) - 1} others" if len(changed) > 1 else ""
            raise ValueError(
                f"Row {changed[0] + 1} of {self.table.name} is not the one that was labeled{others}: "
                f"the table has changed since. Bring the old one back, or name another file of labels "
                f"with --labels."
            )

    def version(self) -> int:
        """The number of the last event, whoever added it; 0 if there is none."""
        return last_event(self._database)

    def events(self, since: int = 0) -> list[Event]:
        """The events after the one of this number, in their order."""
        return self._events("number > ? ORDER BY number", since)

    def _events(self, which: str, *values: Any) -> list[Event]:
        found = self._database.rows(f"{_EVENTS} WHERE {which}", *values)
        return [Event(number, time, Entry(*entry), undoes) for number, time, undoes, *entry in found]


def _key_taken(key: str) -> ValueError:
    return ValueError(f"Key {key!r} is that of another entry. Make a new key for each entry.")
