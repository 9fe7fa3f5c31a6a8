"""A labeling session: a table, its labels and a model that learns, independent of any browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from twinviews._system.temporary_files import held_folder
from twinviews.active.acquisition import DEFAULT_RULE, AcquisitionRule, ChooseRows, find_rule
from twinviews.labeling.candidate_rows import CandidateRows
from twinviews.labeling.cards import ColumnDistributions, card_of, found_rows
from twinviews.labeling.entries import Entry, Event, LabelTarget
from twinviews.labeling.fitting_process import FitJob, FittingProcess
from twinviews.labeling.label_files import export, import_labels
from twinviews.labeling.label_rounds import Wish
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.live_model import FullFit
from twinviews.labeling.page_data import Card, FoundRow, Imported, State
from twinviews.labeling.store_format import TableIdentity
from twinviews.labeling.table_copy import TableCopy, row_fingerprints, search_rows, table_labels
from twinviews.labeling.target_state import TargetState
from twinviews.reading import Reading

_UNITS = {
    "regression": "root mean squared error",
    "classification": "error rate",
}


class LabelingSession:
    """Everything that the page can request. Threads may share it.

    ``labels`` is the label file of the table ``name``, made if it is not there; ``targets`` come to
    those that it has already. ``kinds`` are of columns, by name, ``rule`` is an acquisition rule as in
    :func:`twinviews.suggest`, and ``seed`` is that of the candidate rows and of the fits.
    """

    def __init__(
        self,
        reading: Reading,
        name: str,
        labels: Path,
        targets: Sequence[LabelTarget],
        *,
        kinds: Mapping[str, str] | None = None,
        rule: str | ChooseRows | AcquisitionRule = DEFAULT_RULE,
        seed: int = 0,
    ) -> None:
        self._name, self._kinds, self._seed = name, dict(kinds or {}), seed
        self._rule = find_rule(rule)
        self._lock = threading.RLock()
        self._fitting: FittingProcess | None = None
        with ExitStack() as opened:
            self._table = opened.enter_context(TableCopy(reading))
            identity = TableIdentity(name, self._table.n_rows, tuple(self._table.schema.names))
            self._store = opened.enter_context(LabelStore(labels, identity))
            self._exports = held_folder()
            opened.callback(self._exports.release)
            opened.callback(self._end_fitting)
            for target in targets:
                self._add(target)
            self._store.check_unchanged(self._table)
            self._distributions = ColumnDistributions(self._table)
            self._prepare_targets()
            self._opened = opened.pop_all()

    def _add(self, target: LabelTarget) -> None:
        table_labels(self._table, target)  # refuses a column that cannot be this target
        self._store.add_target(target)

    def _prepare_targets(self) -> None:
        """Candidates, states and a fitting process for the targets that there are."""
        self._end_fitting()
        targets = self.targets()
        self._candidates = CandidateRows(
            self._table, [one.name for one in targets], self._kinds, self._seed
        )
        self._targets = {
            one.name: TargetState(
                one,
                self._table,
                self._candidates,
                self._rule,
                self._seed,
                partial(self._store.add_round, one.name),
            )
            for one in targets
        }
        self._fitting = FittingProcess(self._candidates.X, self._finish_fit)
        for name, state in self._targets.items():
            state.wish = self._store.wish(name)
        self._seen = 0  # number of the last event that the states know
        self._catch_up()

    def _end_fitting(self) -> None:
        if self._fitting is not None:
            self._fitting.close()

    def close(self) -> None:
        """End the fitting process, and close all files."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def targets(self) -> tuple[LabelTarget, ...]:
        """The targets in the order in which they were added."""
        return self._store.targets()

    def target(self, name: str) -> LabelTarget:
        """The target of a name, or an error that lists the names."""
        return self._store.target(name)

    @property
    def problem(self) -> str:
        """Why no model can learn from the table; empty if one can."""
        return self._candidates.problem

    # --- what the page shows ------------------------------------------------------------------------

    def state(self, target: str) -> State:
        """Progress, error and model of a target; of the first one for ""."""
        targets = self.targets()
        if not targets:
            raise ValueError("There is no target yet. Add one: the column that is to be filled in.")
        target = target or targets[0].name
        with self._current(target) as state:
            baseline, curve, promises = state.error()
            return State(
                table=self._name,
                rows=self._table.n_rows,
                targets=tuple(self._target(one.name).target_with_classes() for one in targets),
                target=target,
                version=self._seen,
                labeled=state.n_labeled,
                skipped=state.answer_counts["skip"],
                unsure=state.answer_counts["unsure"],
                unit=_UNITS[state.target.task],
                baseline=baseline,
                curve=curve,
                promises=promises,
                model=state.model_status(self._fitting is not None and self._fitting.busy),
                undoable=self._store.undoable(target),
                all_rows=state.all_rows(),
            )

    def next_card(self, target: str, *, besides: Sequence[int] = ()) -> Card | None:
        """The row to label next; None if every row is answered."""
        found = self.batch(target, 1, besides=besides)
        return found[0] if found else None

    def batch(self, target: str, k: int, *, besides: Sequence[int] = ()) -> list[Card]:
        """k rows that differ from each other; fewer if no more are left."""
        with self._current(target) as state:
            found = state.next_rows(k, besides)
            return [card_of(state, self._distributions, row, origin) for row, origin in found]

    def card(self, target: str, row: int) -> Card:
        """A row that the user chose."""
        with self._current(target) as state:
            event = state.events.get(row)
            # A row that was drawn at random stays one when its answer is corrected.
            origin = "chosen" if event is None else event.entry.origin
            return card_of(state, self._distributions, row, origin)

    def search(self, target: str, query: str, most: int = 50) -> list[FoundRow]:
        """The first rows that a query means, with their answers."""
        rows = search_rows(self._table, query, most)  # may take long, and changes nothing
        with self._current(target) as state:
            return found_rows(state, rows)

    def version(self) -> int:
        """A number that changes with every event, of this process or another."""
        return self._store.version()

    def export(self, form: str) -> tuple[str, Path]:
        """A file name to offer, and a file in a folder of its own, which lasts until the end."""
        return export(self._store, self._table, self._name, form, self._exports.path)

    # --- what the user enters -----------------------------------------------------------------------

    def record(self, entry: Entry) -> Event:
        """Store an answer; it is on the disk when this returns."""
        with self._current(entry.target):
            names = [one.name for one in self.targets()]
            (fingerprint,) = row_fingerprints(self._table, [entry.row], names)
            event = self._store.record(entry, fingerprint)
            self._catch_up()
            return event

    def undo(self, target: str, key: str) -> Event | None:
        """Undo the last entry; None if there is none."""
        with self._lock:
            event = self._store.undo(target, key)
            self._catch_up()
            return event

    def add_target(self, target: LabelTarget) -> None:
        """Add a target, or new classes to one that is there."""
        with self._lock:
            self._add(target)
            if target.name in self._targets:
                self._targets[target.name].target = self.target(target.name)
            else:
                self._prepare_targets()

    def want_all_rows(self, target: str, wish: Wish) -> None:
        """Let rows come for an answer about all rows, or no more; it is kept with the labels."""
        with self._current(target) as state:
            self._store.set_wish(target, wish)
            state.wish = wish
            self._request_fit()

    def import_labels(self, target: str, name: str, content: bytes) -> Imported:
        """Add the labels of a file."""
        with self._current(target):
            done = import_labels(self._store, self._table, target, name, content)
            self._catch_up()
            return done

    # --- keeping up ---------------------------------------------------------------------------------

    @contextmanager
    def _current(self, target: str) -> Iterator[TargetState]:
        """The state of a target, with the events of all processes so far, under the lock."""
        with self._lock:
            self._catch_up()
            yield self._target(target)

    def _target(self, name: str) -> TargetState:
        if name not in self._targets:
            self.target(name)  # an error that says which there are
            self._prepare_targets()  # another process has added it
        return self._targets[name]

    def _catch_up(self) -> None:
        """Learn from all events since the last call, of this process or others."""
        for name, state in self._targets.items():
            if self._store.n_rounds(name) != len(state.rounds):
                state.rounds = self._store.rounds(name)
        events = self._store.events(self._seen)
        for name in {event.entry.target for event in events} & self._targets.keys():
            self._targets[name].target = self.target(name)
            self._targets[name].update(self._store.answers(name))
        if events:
            self._seen = events[-1].number
        self._request_fit()

    def _request_fit(self) -> None:
        if self._fitting is None or self._fitting.busy:
            return
        for name, state in self._targets.items():
            if state.fit_is_due():
                labels, n_rows = state.begin_fit(), self._table.n_rows
                asked = state.asked_of_all_rows()
                job = FitJob(name, state.target.task, labels, n_rows, self._seed, asked)
                self._fitting.request(job)
                return

    def _finish_fit(self, target: str, outcome: FullFit | str) -> None:
        with self._lock:
            if target in self._targets:
                state = self._targets[target]
                state.model.adopt(outcome, state.labels)
            self._request_fit()
