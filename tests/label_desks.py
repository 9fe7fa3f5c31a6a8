"""A desk without a model: rows in their order, answers in a list."""

import sys
import threading
from dataclasses import replace

from twinviews.labeling.entries import ConflictError, Entry, Event, Target
from twinviews.labeling.shown import Card, ErrorNow, Fact, Found, Imported, Neighbour, Promise, State

TARGETS = (Target("size", "regression"), Target("kind", "classification", ("a", "b")))


class PlainDesk:
    """Keeps what it is told, and every call by name."""

    def __init__(self, n_rows=20, targets=TARGETS):
        self.n_rows, self.targets = n_rows, targets
        self.events, self.calls = [], []
        self._lock = threading.Lock()

    def state(self, target):
        self.calls.append("state")
        target = self._target(target).name
        said = [event.entry.answer for event in self._last(target).values()]
        counts = [said.count(answer) for answer in ("label", "skip", "unsure")]
        curve = (ErrorNow(5, 0.5, 0.4, 0.7), ErrorNow(10, 0.3, 0.25, 0.36))
        promise = Promise(20, 0.2, 0.1, 0.3, "20 more labels would bring it to about 0.2.")
        about = ("rows.csv", self.n_rows, self.targets, target, len(self.events), *counts)
        return State(*about, "error", 1.0, curve, (promise,), "at rest", bool(self.events))

    def next_card(self, target, *, besides=()):
        return next(iter(self.batch(target, 1, besides=besides)), None)

    def batch(self, target, k, *, besides=()):
        answered = self._last(self._target(target).name).keys() | set(besides)
        return [self.card(target, row) for row in range(self.n_rows) if row not in answered][:k]

    def card(self, target, row):
        self.calls.append("card")
        if not row < self.n_rows:
            raise ValueError(f"Row {row + 1} does not exist: there are {self.n_rows}.")
        last = self._last(target).get(row)
        facts = (Fact("x", "number", str(row), row / self.n_rows, None, (3, 1), 0),)
        said = (last.number, last.entry.answer, last.entry.value) if last else (0, None, None)
        near = (Neighbour(0, 1.5, 0.9, (("x", "0"),)),)
        return Card(row, "suggested", "It is next.", facts, None, near, *said)

    def record(self, entry):
        self.calls.append("record")
        with self._lock:
            for event in self.events:
                if event.entry.key == entry.key:
                    return event
            current = self._last(entry.target).get(entry.row)
            if entry.expects != (current.number if current else 0):
                raise ConflictError("Row was answered meanwhile.", current)
            return self._add(entry, None)

    def undo(self, target, key):
        self.calls.append("undo")
        taken = {event.undoes for event in self.events}
        for event in reversed(self.events):
            if event.entry.target == target and event.undoes is None and event.number not in taken:
                cleared = replace(
                    event.entry, key=key, answer="clear", value=None, expects=event.number
                )
                return self._add(cleared, event.number)
        return None

    def search(self, target, query, most=50):
        self.calls.append("search")
        return [Found(row, f"x {row}", None, None) for row in range(self.n_rows) if query in str(row)]

    def add_target(self, target):
        self.calls.append("add_target")
        self.targets += (target,)

    def export(self, form):
        self.calls.append("export")
        return f"Größe.{form}", b"row,size\n1,2\n"

    def import_labels(self, target, name, content):
        self.calls.append("import_labels")
        self.imported = (target, name, content)
        return Imported(1, 0, 0, f"{len(content)} bytes of {name}")

    def version(self):
        self.calls.append("version")
        return len(self.events)

    def _target(self, name):
        for target in self.targets:
            if target.name == (name or self.targets[0].name):
                return target
        raise ValueError(f"{name!r} is not a target.")

    def _last(self, target):
        last = {event.entry.row: event for event in self.events if event.entry.target == target}
        return {row: event for row, event in last.items() if event.entry.answer != "clear"}

    def _add(self, entry: Entry, undoes):
        self.events.append(Event(len(self.events) + 1, "2026-01-01T00:00:00Z", entry, undoes))
        return self.events[-1]


if __name__ == "__main__":
    from twinviews.labeling.server import serve

    port, token = sys.argv[1:]
    serve(PlainDesk(), port=int(port), token=token or None, ready=lambda url: print(url, flush=True))  # noqa: T201
    print("ended", flush=True)  # noqa: T201
