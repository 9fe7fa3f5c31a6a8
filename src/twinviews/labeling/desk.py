"""The desk: a table, its labels and a model that learns, behind one object that knows no browser."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from twinviews._system.temporary_files import held_folder
from twinviews.labeling.background import Background, Job
from twinviews.labeling.entries import Entry, Event, Origin, Target, plain_label
from twinviews.labeling.neighbours import nearest
from twinviews.labeling.places import Places, text_of
from twinviews.labeling.pool import Pool
from twinviews.labeling.sample import Sample
from twinviews.labeling.sheet import Sheet
from twinviews.labeling.shown import Card, Found, Imported, Neighbour, State
from twinviews.labeling.store import Identity, LabelStore
from twinviews.labeling.study import Study
from twinviews.labeling.transfer import (
    changed_rows,
    export_labels,
    export_table,
    import_labels,
    own_labels,
)
from twinviews.reading import Reading

_NEIGHBOURS = 3
_WORDS_OF_ROW = 6  # values that a search result shows
_UNITS = {
    "regression": "root mean squared error",
    "classification": "share of wrong classes",
}
_FORMS = {"csv": ".csv", "parquet": ".parquet", "labels.csv": ".labels.csv"}


class Desk:
    """Everything that the page can ask for. Threads may share it.

    Parameters
    ----------
    reading : Reading
        The table.
    name : str
        Of its file.
    labels : Path
        The file of the labels, made if it is not there.
    targets : sequence of Target
        To be filled in, besides those that the file of the labels has already.
    kinds : mapping of str to str
        What columns are to be taken for, by name.
    seed : int
        Of the rows that may be suggested and of the fits.
    """

    def __init__(
        self,
        reading: Reading,
        name: str,
        labels: Path,
        targets: Sequence[Target],
        *,
        kinds: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        self._name, self._kinds, self._seed = name, dict(kinds or {}), seed
        self._lock = threading.RLock()
        self._background: Background | None = None
        self._pool = Pool(reading)
        try:
            identity = Identity(name, self._pool.n_rows, tuple(self._pool.schema.names))
            self._store = LabelStore(labels, identity)
        except BaseException:
            self._pool.close()
            raise
        self._exports = held_folder()
        try:
            for target in targets:
                self._add(target)
            self._check_unchanged()
            self._places = Places.of(self._pool)
            self._lay_out()
        except BaseException:
            self.close()
            raise

    def _add(self, target: Target) -> None:
        own_labels(self._pool, target)  # refuses a column that cannot be this target, before it is one
        self._store.add_target(target)

    def _check_unchanged(self) -> None:
        changed = changed_rows(self._store, self._pool)
        if changed:
            raise ValueError(
                f"Row {changed[0] + 1} of {self._name} is not the one that was labeled"
                f"{f', nor are {len(changed) - 1} others' if len(changed) > 1 else ''}: the table has "
                f"changed since. Bring the old one back, or name another file of labels with --labels."
            )

    def _lay_out(self) -> None:
        """Sample and sheets, for the targets that there are."""
        if self._background is not None:
            self._background.close()
        targets = self._store.targets()
        self._sample = Sample.of(self._pool, [one.name for one in targets], self._kinds, self._seed)
        self._sheets = {one.name: Sheet(one, self._pool, self._sample, self._seed) for one in targets}
        self._background = Background(self._sample.X, self._finish_study)
        self._seen = -1
        self._catch_up()

    def close(self) -> None:
        if self._background is not None:
            self._background.close()
        self._store.close()
        self._pool.close()
        self._exports.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def targets(self) -> tuple[Target, ...]:
        return self._store.targets()

    @property
    def problem(self) -> str:
        """Why no model can learn from the table, if so."""
        return self._sample.problem

    # --- what is shown ------------------------------------------------------------------------------

    def state(self, target: str) -> State:
        """How far one is; of the first target if "" is asked for."""
        with self._lock:
            self._catch_up()
            targets = self._store.targets()
            if not targets:
                raise ValueError("There is no target yet. Add one: the column that is to be filled in.")
            target = target or targets[0].name
            sheet = self._sheet(target)
            counts = self._store.counts(target)
            return State(
                table=self._name,
                rows=self._pool.n_rows,
                targets=tuple(self._sheet(one.name).shown_target() for one in targets),
                target=target,
                version=self._seen,
                labeled=sheet.n_labeled,
                skipped=counts.skipped,
                unsure=counts.unsure,
                unit=_UNITS[sheet.target.task],
                baseline=sheet.baseline(),
                curve=sheet.curve(),
                promises=sheet.promises(),
                model=sheet.words(self._is_busy),
                undoable=self._store.undoable(target),
            )

    def next_card(self, target: str, *, besides: Sequence[int] = ()) -> Card | None:
        """The row to be labeled next; None if every row is answered."""
        found = self.batch(target, 1, besides=besides)
        return found[0] if found else None

    def batch(self, target: str, k: int, *, besides: Sequence[int] = ()) -> list[Card]:
        """k rows that differ from each other; fewer if no more are left."""
        with self._lock:
            self._catch_up()
            sheet = self._sheet(target)
            return [self._card(sheet, row, origin) for row, origin in sheet.next_rows(k, besides)]

    def card(self, target: str, row: int) -> Card:
        """A row that the user looked up."""
        with self._lock:
            self._catch_up()
            event = self._store.current(target, row)
            # Whoever corrects a row that was drawn at random does not make it another kind of row.
            origin = "chosen" if event is None else event.entry.origin
            return self._card(self._sheet(target), row, origin)

    def _card(self, sheet: Sheet, row: int, origin: Origin) -> Card:
        rows = self._pool.rows([row])
        x = self._sample.numbers(rows)[0]
        event = self._store.current(sheet.target.name, row)
        entry = None if event is None or event.entry.answer == "clear" else event.entry
        own = sheet.label_of(row) if entry is None else None
        return Card(
            row=row,
            origin=origin,
            reason=sheet.reason(row, origin),
            facts=self._places.facts(rows, [one.name for one in self._store.targets()]),
            guess=sheet.learner.guess(x, self._sample.place_of(row)),
            neighbours=self._neighbours(sheet, row, x),
            event=0 if event is None else event.number,
            answer=entry.answer if entry else ("label" if own is not None else None),
            value=entry.value if entry else own,
        )

    def _neighbours(self, sheet: Sheet, row: int, x: Any) -> tuple[Neighbour, ...]:
        labels = sheet.labels
        others = labels.rows != row
        if not others.any() or x.size == 0:
            return ()
        Z = self._sample.standard(labels.X[others])
        found = nearest(
            self._sample.standard(x),
            Z,
            self._sample.typical,
            most=_NEIGHBOURS,
            groups=self._sample.groups,
        )
        rows, values = labels.rows[others], labels.y[others]
        cells = self._pool.rows([int(rows[near.place]) for near in found])
        return tuple(
            Neighbour(
                int(rows[near.place]),
                plain_label(values[near.place]),
                near.likeness,
                tuple(self._difference(cells, place, column) for column in near.columns),
            )
            for place, near in enumerate(found)
        )

    def _difference(self, cells: Any, place: int, column: int) -> tuple[str, str]:
        name = self._sample.inputs[column]
        return name, text_of(cells.column(name)[place]) or "blank"

    def search(self, target: str, query: str, most: int = 50) -> list[Found]:
        rows = self._pool.search(query, most)  # may take long, and changes nothing
        with self._lock:
            self._catch_up()
            sheet = self._sheet(target)
            table = self._pool.rows(rows)
            return [self._found(sheet, table, place, row) for place, row in enumerate(rows)]

    def _found(self, sheet: Sheet, table: Any, place: int, row: int) -> Found:
        event = self._store.current(sheet.target.name, row)
        names = self._sample.inputs[:_WORDS_OF_ROW]
        words = ", ".join(f"{name} {text_of(table.column(name)[place]) or 'blank'}" for name in names)
        if event is None or event.entry.answer == "clear":
            own = sheet.label_of(row)
            return Found(row, words, None if own is None else "label", own)
        return Found(row, words, event.entry.answer, event.entry.value)

    # --- what is said -------------------------------------------------------------------------------

    def record(self, entry: Entry) -> Event:
        """Store what was said of a row; it is on the disk when this returns."""
        with self._lock:
            self._sheet(entry.target)
            digest = self._pool.digest(entry.row, [one.name for one in self._store.targets()])
            event = self._store.record(entry, digest)
            self._catch_up()
            return event

    def undo(self, target: str, key: str) -> Event | None:
        """Take back the last entry; None if there is none."""
        with self._lock:
            event = self._store.undo(target, key)
            self._catch_up()
            return event

    def add_target(self, target: Target) -> None:
        with self._lock:
            known = {one.name for one in self._store.targets()}
            self._add(target)
            if target.name not in known:
                self._lay_out()
            else:
                self._sheet(target.name).target = self._store.target(target.name)

    def export(self, form: str) -> tuple[str, Path]:
        """A file name to offer, and the file in a folder of its own, until the desk is closed."""
        if form not in _FORMS:
            raise ValueError(f"There is no form {form!r}. Choose one of {', '.join(_FORMS)}.")
        stem = Path(self._name).stem
        name = f"{stem}{_FORMS[form]}" if form == "labels.csv" else f"{stem}.labeled{_FORMS[form]}"
        out = Path(tempfile.mkdtemp(dir=self._exports.path)) / name
        if form == "labels.csv":
            export_labels(self._store, out)
        else:
            export_table(self._store, self._pool, out)
        return name, out

    def import_labels(self, target: str, name: str, content: bytes) -> Imported:
        with self._lock:
            self._sheet(target)
            done = import_labels(self._store, self._pool, target, name, content)
            self._catch_up()
            return done

    def version(self) -> int:
        """Changes with every event, of this process or another."""
        return self._store.version()

    # --- behind the scenes --------------------------------------------------------------------------

    def _sheet(self, target: str) -> Sheet:
        if target not in self._sheets:
            self._store.target(target)  # an error that says which there are
            self._lay_out()  # another process has added it
        return self._sheets[target]

    def _catch_up(self) -> None:
        """Learn from whatever was said since the last look, here or elsewhere."""
        version = self._store.version()
        if version != self._seen:
            touched = {event.entry.target for event in self._store.events(max(self._seen, 0))}
            for name, sheet in self._sheets.items():
                if self._seen < 0 or name in touched:
                    sheet.target = self._store.target(name)
                    sheet.take(self._store.answers(name))
            self._seen = version
        self._ask_for_a_study()

    @property
    def _is_busy(self) -> bool:
        return self._background is not None and self._background.busy

    def _ask_for_a_study(self) -> None:
        if self._background is None or self._background.busy:
            return
        for sheet in self._sheets.values():
            if sheet.study_is_due():
                name, task = sheet.target.name, sheet.target.task
                self._background.ask(Job(name, task, sheet.begin_study(), self._seed))
                return

    def _finish_study(self, target: str, study: Study | str) -> None:
        with self._lock:
            if target in self._sheets:
                self._sheets[target].adopt(study)
            self._ask_for_a_study()
