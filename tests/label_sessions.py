"""Sessions without a model, to serve to a page: rows in their order, answers in a list."""

import sys
import tempfile
import threading
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from twinviews.labeling.entries import ConflictError, Event, LabelTarget
from twinviews.labeling.page_data import (
    AnswerState,
    Card,
    ClassProbability,
    ErrorNow,
    Fact,
    FoundRow,
    Imported,
    ModelGuess,
    Neighbour,
    Promise,
    State,
    ToldInterval,
)

HOSTILE = [
    "<script>window.hit = 1</script>",
    '"><img src=x onerror="window.hit = 1">',
    "</script><svg onload=window.hit=1>",
    "'; window.hit = 1; //",
    "javascript:window.hit=1",
    "two\nlines\u202egnp.exe",
    "__proto__",
]
TARGETS = (LabelTarget("size", "regression"), LabelTarget("kind", "classification", ("a", "b")))
EXPORTED = b"row,size\n1,2\n" * 30_000
_ENOUGH = 3  # labels before there is a guess


class PlainSession:
    """Keeps what it is told, and the name of every call. It guesses the mean, or what was said most."""

    def __init__(self, n_rows=20, targets=TARGETS, columns=("x", "y"), cell="{row}", table="rows.csv"):
        self.n_rows, self.targets, self.columns = n_rows, targets, columns
        self.cell, self.table = cell, table
        self.events, self.calls = [], []
        self.all_rows = AnswerState(False, None, (), "")
        self._lock = threading.Lock()

    def state(self, target):
        self.calls.append("state")
        target = self.target(target).name
        said = [event.entry.answer for event in self._last(target).values()]
        counts = [said.count(answer) for answer in ("label", "skip", "unsure")]
        curve = [
            ErrorNow(n, 1 / n, 0.8 / n, 1.3 / n, f"{1 / n:.4f} (of some unit)")
            for n in range(_ENOUGH, counts[0] + 1)
        ]
        promise = Promise(20, 0.02, 0.01, 0.03, "20 more labels would bring it to about 0.02.")
        promises = (promise,) if curve else ()
        about = (self.table, self.n_rows, self.targets, target, len(self.events), *counts)
        curve = tuple(curve)
        undoable = bool(self.events)
        return State(*about, "error", 0.4, curve, promises, "at rest", undoable, self.all_rows)

    def want_all_rows(self, target, wish):
        self.calls.append("want_all_rows")
        told = (ToldInterval("Mean of size", "142.3", "139.8 to 144.7", None),) if wish.on else ()
        words = "About 40 more labels." if wish.half_width else ""
        self.all_rows = AnswerState(wish.on, wish.half_width, told, words)

    def next_card(self, target, *, besides=()):
        return next(iter(self.batch(target, 1, besides=besides)), None)

    def batch(self, target, k, *, besides=()):
        answered = self._last(self.target(target).name).keys() | set(besides)
        rows = [row for row in range(self.n_rows) if row not in answered]
        return [replace(self.card(target, row), origin="suggested") for row in rows[:k]]

    def card(self, target, row):
        self.calls.append("card")
        if not row < self.n_rows:
            raise ValueError(f"Row {row + 1} does not exist: there are {self.n_rows}.")
        last = self._last(target).get(row)
        facts = [Fact("number", "number", str(row), row / self.n_rows, None, (3, 0, 9, 1), 2)]
        facts += [Fact(name, "category", self._text(row), None, 0.1) for name in self.columns]
        facts += [
            Fact("none", "category", None, None, 0.5),
            Fact("day", "date", "2024-01-01", 0.5, None),
        ]
        labels = [(other, value) for other, value in self._labels(target) if other != row]
        differences = tuple((name, self._text(row)) for name in self.columns[:2])
        near = tuple(Neighbour(other, value, 0.9, differences) for other, value in labels[:3])
        said = (last.number, last.entry.answer, last.entry.value) if last else (0, None, None)
        return Card(row, "chosen", "It is next.", tuple(facts), self._guess(target), near, *said)

    def record(self, entry):
        self.calls.append("record")
        with self._lock:
            for event in self.events:
                if event.entry.key == entry.key:
                    return event
            current = self._last(entry.target).get(entry.row)
            if entry.expects != (current.number if current else 0):
                raise ConflictError("The row was answered meanwhile.", current)
            target = self.target(entry.target)
            if target.task == "classification" and entry.value not in (None, *target.classes):
                fuller = replace(target, classes=(*target.classes, entry.value))
                self.targets = tuple(fuller if one == target else one for one in self.targets)
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
        rows = [row for row in range(self.n_rows) if query in (str(row + 1), self._text(row))]
        return [FoundRow(row, self._text(row), None, None) for row in rows[:most]]

    def add_target(self, target):
        self.calls.append("add_target")
        self.targets += (target,)

    def export(self, form):
        self.calls.append("export")
        file = Path(tempfile.mkdtemp()) / "exported"
        file.write_bytes(EXPORTED)
        return f"Größe.{form}", file

    def import_labels(self, target, name, content):
        self.calls.append("import_labels")
        self.imported = (target, name, content)
        return Imported(1, 0, 0, f"{len(content)} bytes of {name}")

    def version(self):
        self.calls.append("version")
        return len(self.events)

    def _text(self, row):
        return self.cell.format(row=row)

    def target(self, name):
        for target in self.targets:
            if target.name == (name or self.targets[0].name):
                return target
        raise ValueError(f"{name!r} is not a target.")

    def _last(self, target):
        last = {event.entry.row: event for event in self.events if event.entry.target == target}
        return {row: event for row, event in last.items() if event.entry.answer != "clear"}

    def _labels(self, target):
        last = self._last(target).items()
        return [(row, event.entry.value) for row, event in last if event.entry.answer == "label"]

    def _guess(self, target):
        values = [value for _, value in self._labels(target)]
        if len(values) < _ENOUGH:
            return None
        if self.target(target).task == "regression":
            middle = sum(values) / len(values)
            return ModelGuess(middle, middle - 1, middle + 1)
        counts = [ClassProbability(name, n / len(values)) for name, n in Counter(values).most_common()]
        return ModelGuess(counts[0].name, None, None, tuple(counts))

    def _add(self, entry, undoes):
        self.events.append(Event(len(self.events) + 1, "2026-01-01T00:00:00Z", entry, undoes))
        return self.events[-1]


SESSIONS = {
    "numbers": lambda: PlainSession(60),
    "classes": lambda: PlainSession(60, TARGETS[::-1]),
    "digits": lambda: PlainSession(60, (LabelTarget("digit", "classification", tuple("0123456789")),)),
    "letters": lambda: PlainSession(60, (LabelTarget("letter", "classification", tuple("ABNSU")),)),
    "many": lambda: PlainSession(
        60, (LabelTarget("species", "classification", tuple(f"species {i}" for i in range(300))),)
    ),
    "few": lambda: PlainSession(2),
    "hostile": lambda: PlainSession(
        60,
        (
            LabelTarget(HOSTILE[0], "classification", tuple(HOSTILE)),
            LabelTarget(HOSTILE[1], "regression"),
        ),
        columns=(*HOSTILE, "w" * 300),
        cell="{row}" + "".join(HOSTILE).replace("{", "").replace("}", "") + "M" * 10_000,
        table=HOSTILE[1],
    ),
}


def real_session(table):
    """With a model that learns, and labels beside the table. The file is named for its target."""
    from twinviews.labeling.session import LabelingSession
    from twinviews.reading import read

    classes = tuple("0123456789") if table.stem == "digit" else ()
    target = LabelTarget(table.stem, "classification" if classes else "regression", classes)
    return LabelingSession(read(table), table.name, table.with_suffix(".labels"), [target])


if __name__ == "__main__":
    from twinviews.labeling.server import serve

    name, port, token = sys.argv[1:]
    opened = nullcontext(SESSIONS[name]()) if name in SESSIONS else real_session(Path(name))
    with opened as session:
        serve(session, port=int(port), token=token or None, ready=lambda url: print(url, flush=True))  # noqa: T201
    print("ended", flush=True)  # noqa: T201
