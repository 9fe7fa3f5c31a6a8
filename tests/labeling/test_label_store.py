import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from twinviews._system import sqlite as database
from twinviews.labeling.entries import ConflictError, Entry, LabelTarget
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity, label_file

TABLE = TableIdentity("patients.csv", 1000, ("age", "city"))
PRICE = LabelTarget("price", "regression")
COLOUR = LabelTarget("colour", "classification", ("red", "blue"))


def opened(path, table=TABLE):
    store = LabelStore(path, table)
    store.add_target(PRICE)
    store.add_target(COLOUR)
    return store


@pytest.fixture
def path(tmp_path):
    return label_file(tmp_path / "patients.csv")


@pytest.fixture
def store(path):
    with opened(path) as store:
        yield store


def entry(row=0, value=2.5, answer="label", *, expects=0, target="price", key=None, origin="suggested"):
    value = value if answer == "label" else None
    return Entry(key or uuid4().hex, target, row, answer, value, origin, expects)


def said(store, row, value, target="price"):
    """Record after whatever was said last."""
    last = store.current(target, row)
    expects = 0 if last is None else last.number
    return store.record(entry(row, value, expects=expects, target=target), "fingerprint")


def labels(store, target="price"):
    found = store.answers(target)
    return {row: event.entry.value for row, event in found.items() if event.entry.answer == "label"}


def counts(store, target="price"):
    """Rows that are labeled, skipped and unsure."""
    answers = [event.entry.answer for event in store.answers(target).values()]
    return tuple(map(answers.count, ("label", "skip", "unsure")))


def in_memory_folder():
    """Hypothesis writes hundreds of files, and each label waits for the disk."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def test_the_file_is_beside_the_table(path):
    assert path.name == "patients.csv.labels.sqlite"


def test_what_was_recorded_is_there_after_reopening(path, store):
    first = store.record(entry(7, 1.25), "abc")
    second = store.record(entry(8, "red", target="colour", origin="random"), "def")
    store.close()
    with LabelStore(path, TABLE) as again:
        assert again.events() == [first, second]
        assert again.answers("price") == {7: first}
        assert again.answers("colour") == {8: second}
        assert again.targets() == (PRICE, COLOUR)
        assert again.fingerprints("price") == {7: "abc"}
        assert again.version() == second.number


@given(value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70))
@settings(max_examples=25, deadline=None)
def test_numbers_are_kept_to_the_last_bit(value):
    with in_memory_folder() as folder, opened(Path(folder) / "l.sqlite") as store:
        store.record(entry(3, value), "")
        (kept,) = labels(store).values()
    assert isinstance(kept, float)
    assert (kept, math.copysign(1, kept)) == (float(value), math.copysign(1, value))


@given(value=st.text(min_size=1).filter(str.strip))
@settings(max_examples=25, deadline=None)
def test_classes_are_kept_to_the_last_letter_or_refused(value):
    with in_memory_folder() as folder, opened(Path(folder) / "l.sqlite") as store:
        if "\0" in value:
            with pytest.raises(ValueError, match="zero byte"):
                store.record(entry(3, value, target="colour"), "")
        else:
            store.record(entry(3, value, target="colour"), "")
        assert labels(store, "colour") == ({} if "\0" in value else {3: value})


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("label"), st.integers(0, 3), st.integers(0, 5)),
        st.tuples(st.sampled_from(["skip", "unsure", "clear"]), st.integers(0, 3), st.none()),
        st.tuples(st.sampled_from(["undo", "reopen"]), st.none(), st.none()),
    ),
    max_size=14,
)


@given(operations=OPERATIONS)
@settings(max_examples=60, deadline=None)
def test_a_store_is_a_dictionary_with_a_way_back(operations):
    model, past = {}, []
    with in_memory_folder() as folder:
        path = Path(folder) / "l.sqlite"
        store = opened(path)
        for what, row, value in operations:
            if what == "reopen":
                store.close()
                store = opened(path)
            elif what == "undo":
                event = store.undo("price", uuid4().hex)
                assert (event is None) == (not past)
                if past:
                    row, before = past.pop()
                    assert event.entry.row == row
                    model[row] = before
            else:
                expects = getattr(store.current("price", row), "number", 0)
                store.record(entry(row, value, what, expects=expects), "")
                past.append((row, model.get(row, ("clear", None))))
                model[row] = (what, value)
            current = store.answers("price")
            assert {row: (e.entry.answer, e.entry.value) for row, e in current.items()} == model
            assert store.undoable("price") == bool(past)
            answers = [answer for answer, _ in model.values()]
            assert counts(store) == tuple(map(answers.count, ("label", "skip", "unsure")))
        store.close()


TWO_PEOPLE = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(st.just("undo"), st.integers(0, 2))), max_size=16
)


@given(operations=TWO_PEOPLE)
@example(operations=[(0, 0), (1, 0), (0, "undo")])
@example(operations=[(0, 0), (1, 0), (0, 0), (0, "undo"), (0, "undo"), (1, "undo"), (0, "undo")])
@settings(max_examples=100, deadline=None)
def test_two_people_on_one_file_do_not_undo_each_other(operations):
    standing = {row: [] for row in range(3)}  # entries of each row that have not been undone
    entered = [[], []]
    with in_memory_folder() as folder:
        path = Path(folder) / "l.sqlite"
        people = [opened(path), opened(path)]
        for step, (who, what) in enumerate(operations):
            if what == "undo":
                event = people[who].undo("price", uuid4().hex)
                of_top = [(row, n) for row, n in entered[who] if standing[row][-1:] == [n]]
                if of_top:
                    row, n = of_top[-1]
                    assert event.entry.row == row
                    standing[row].pop()
                    entered[who].remove((row, n))
                else:
                    assert event is None
            else:
                said(people[who], what, float(step))
                standing[what].append(step)
                entered[who].append((what, step))
            expected = {row: float(stack[-1]) for row, stack in standing.items() if stack}
            assert labels(people[0]) == labels(people[1]) == expected
        for person in people:
            person.close()


def test_undo_of_another_who_is_at_work_is_refused_and_of_one_who_left_is_not(path, store):
    said(store, 1, 1.0)
    with LabelStore(path, TABLE) as newcomer:
        assert newcomer.undoable("price")  # whoever it was may have gone
        said(store, 2, 2.0)  # has not
        assert newcomer.undo("price", "u1") is None
        assert labels(newcomer) == {1: 1.0, 2: 2.0}
    store.close()
    with LabelStore(path, TABLE) as next_day:
        assert next_day.undo("price", "u2").entry.row == 2
        assert next_day.undo("price", "u3").entry.row == 1
        assert next_day.undo("price", "u4") is None


def test_the_same_entry_or_undo_sent_twice_is_one(store):
    one = entry(5, 1.0)
    first = store.record(one, "d")
    assert store.record(one, "d") == first
    undone = store.undo("price", "once")
    assert undone.undoes == first.number
    assert store.undo("price", "once") == undone
    assert store.record(one, "d") == first  # an answer that came late changes nothing
    assert len(store.events()) == 2
    assert counts(store) == (0, 0, 0)


def test_a_key_says_one_thing_only(store):
    one = entry(5, 1.0)
    store.record(one, "d")
    for other in ({"row": 6}, {"value": 1.5}, {"answer": "skip", "value": None}):
        with pytest.raises(ValueError, match="is that of another entry"):
            store.record(replace(one, **other), "d")
    with pytest.raises(ValueError, match="is that of another entry"):
        store.undo("price", one.key)


def test_an_entry_that_has_not_seen_the_last_answer_is_refused_and_told_it(store):
    theirs = store.record(entry(5, 1.0), "d")
    for expects in (0, 99):
        with pytest.raises(ConflictError, match="Row 6 has been answered in the meantime") as refused:
            store.record(entry(5, 2.0, expects=expects), "d")
        assert refused.value.current == theirs
    with pytest.raises(ConflictError) as refused:
        store.record(entry(6, 2.0, expects=theirs.number), "d")  # of another row
    assert refused.value.current is None
    assert store.record(entry(5, 2.0, expects=theirs.number), "d").number == 2
    store.record(entry(5, "red", target="colour"), "d")  # another target is another matter


def test_all_are_recorded_or_none(store):
    said(store, 3, 1.0)
    many = [entry(row, 5.0) for row in (1, 2, 3)]
    with pytest.raises(ConflictError):
        store.record_all(many, ["d"] * 3)
    with pytest.raises(ValueError, match="must be a number, not 'red'"):
        store.record_all([many[0], entry(2, "red")], ["d"] * 2)
    with pytest.raises(ValueError, match="shorter"):
        store.record_all(many[:2], ["d"])
    assert labels(store) == {3: 1.0}
    assert [event.entry for event in store.record_all(many[:2], ["d"] * 2)] == many[:2]
    assert labels(store) == {1: 5.0, 2: 5.0, 3: 1.0}
    assert store.undo("price", "u").entry.row == 3  # not one of those that came together
    assert store.undo("price", "v") is None


def test_undo_restores_the_fingerprint_of_what_it_restores(store):
    first = store.record(entry(1, 1.0), "of yesterday")
    store.record(entry(1, 2.0, expects=first.number), "of today")
    assert store.fingerprints("price") == {1: "of today"}
    store.undo("price", "u")
    assert store.fingerprints("price") == {1: "of yesterday"}
    store.undo("price", "v")
    assert store.fingerprints("price") == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (entry(1000), "There is no row 1,001: the table has 1,000 rows"),
        (entry(-1), "There is no row 0"),
        (entry(target="size"), "There is no target 'size'. The targets are 'price', 'colour'"),
        (entry(value="red"), "price must be a number, not 'red'"),
        (entry(value=math.nan), "price must be a number, not nan"),
        (entry(value=-math.inf), "price must be a number, not -inf"),
        (entry(value=10**400), "price must be a number"),
        (entry(value=True), "price must be a number, not True"),
        (entry(value=None), "price must be a number, not None"),
        (entry(value=3, target="colour"), "colour must be a class name, not 3"),
        (entry(value=" ", target="colour"), "colour must be a class"),
        (entry(value="\ud83d", target="colour"), "half a character"),
        (replace(entry(), answer="skip"), "2.5 is for labels only, and the answer is 'skip'"),
    ],
)
def test_what_makes_no_sense_is_not_stored(store, wrong, words):
    with pytest.raises(ValueError, match=words):
        store.record(wrong, "d")
    assert store.events() == []


def test_a_target_may_get_classes_but_no_other_task(store):
    store.add_target(LabelTarget("colour", "classification", ("green", "red")))
    assert store.target("colour").classes == ("red", "blue", "green")
    with pytest.raises(ValueError, match=r"'colour' is for classification in .* not for regression"):
        store.add_target(LabelTarget("colour", "regression"))
    with pytest.raises(ValueError, match="needs a name"):
        store.add_target(LabelTarget("", "regression"))


def test_another_table_is_noticed(path, store):
    store.close()
    with pytest.raises(ValueError, match=r"table with 1,000 rows, and patients\.csv has 999"):
        LabelStore(path, TABLE._replace(n_rows=999))
    with pytest.raises(ValueError, match=r"patients\.csv has no 'city'"):
        LabelStore(path, TABLE._replace(columns=("age",)))
    with pytest.raises(ValueError, match="the table that was labeled has no 'size'"):
        LabelStore(path, TABLE._replace(columns=("age", "city", "size")))
    # Another name, another order, and a column with the labels make no other table.
    LabelStore(path, TableIdentity("copy.csv", 1000, ("city", "price", "age"))).close()


def test_a_file_that_is_none_of_ours_is_left_alone(path, tmp_path):
    path.write_bytes(b"age,city\n" * 500)
    with pytest.raises(ValueError, match="is not a label file, or is damaged"):
        LabelStore(path, TABLE)
    assert path.read_bytes() == b"age,city\n" * 500
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE birds (name TEXT)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(ValueError, match="is a database, but not one of labels"):
        LabelStore(other, TABLE)
    assert other.read_bytes() == before


def test_a_newer_format_is_refused(path, store):
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET value = '2' WHERE key = 'format'")
    connection.close()
    with pytest.raises(ValueError, match="has format 2, and this version of twinviews knows 1"):
        LabelStore(path, TABLE)


def test_a_damaged_file_is_refused(path, store):
    for row in range(60):
        store.record(entry(row, float(row), key=f"{row:0100}"), "d")
    store.close()
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a label file, or is damaged"):
        LabelStore(path, TABLE)


def test_a_file_cut_short_before_its_first_transaction_is_a_new_one(path):
    path.touch()
    with LabelStore(path, TABLE) as store:
        assert store.targets() == ()


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path):
    with pytest.raises(OSError, match="Check that its folder is there"):
        LabelStore(tmp_path / "nowhere" / "l.sqlite", TABLE)
    with pytest.raises(OSError, match="may be written to and has room"):
        LabelStore(tmp_path, TABLE)


def test_a_lock_that_another_keeps_is_told(path, store, monkeypatch):
    monkeypatch.setattr(database, "_PATIENCE_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(OSError, match=r"Another program has kept .* locked"):
        LabelStore(path, TABLE)
    other.close()
    LabelStore(path, TABLE).close()


@pytest.mark.skipif(sys.platform == "win32", reason="there an open file cannot be deleted")
def test_no_label_goes_to_a_file_that_was_deleted(path, store):
    said(store, 1, 1.0)
    path.unlink()
    with pytest.raises(OSError, match="was moved or deleted while it was open"):
        said(store, 2, 2.0)


def test_version_and_answers_notice_what_others_write(path, store):
    with LabelStore(path, TABLE) as other:
        assert (store.version(), store.answers("price")) == (0, {})
        event = said(other, 4, 1.0)
        assert store.version() == event.number
        assert store.answers("price") == {4: event}
        assert store.events(since=event.number) == []


def test_threads_share_a_store(store):
    refused = []

    def work(first):
        for row in range(first, first + 6):
            said(store, row, float(row))
            try:
                store.record(entry(900 + row % 6, float(first)), "d")
            except ConflictError:
                refused.append(row)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 6, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row: value for row, value in labels(store).items() if row < 900} == {
        row: float(row) for row in range(18)
    }
    assert len(refused) == 12  # of three who speak of a row first, one is heard
    assert [event.number for event in store.events()] == list(range(1, 25))


CHILD = """
import json, sys
from pathlib import Path
from twinviews.labeling.entries import ConflictError, Entry, LabelTarget
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity

path, name, most, looks = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "looks"
store = LabelStore(path, TableIdentity("patients.csv", 1000, ("age", "city")))
store.add_target(LabelTarget("price", "regression"))
for row in range(most):
    last = store.current("price", row) if looks else None
    expects = 0 if last is None else last.number
    entry = Entry(f"{name} {row}", "price", row, "label", float(row), "suggested", expects)
    try:
        print(json.dumps([store.record(entry, name).number, row]), flush=True)
    except ConflictError as error:
        print(json.dumps([-error.current.number, row]), flush=True)
"""


def child(path, name, most, way):
    """A process that labels rows one after the other, after a look at what they have or blindly."""
    folder = str(Path(database.__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), name, str(most), way],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": folder},
    )


def test_kills_lose_nothing_and_double_nothing(path):
    rng = random.Random(0)
    promised = []
    for sitting in range(10):
        process = child(path, f"sitting {sitting}", 500, "looks")
        promised += [json.loads(process.stdout.readline()) for _ in range(rng.randint(1, 4))]
        threading.Event().wait(rng.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        # What was printed before the kill is promised; a line cut short is not.
        promised += [json.loads(line) for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
    with LabelStore(path, TABLE) as store:
        stored = {event.number: event.entry.row for event in store.events()}
        assert {number: stored.get(number) for number, _ in promised} == dict(promised)
        assert len(promised) == len(dict(promised)) <= len(stored) <= len(promised) + 10
        assert sorted(stored) == list(range(1, len(stored) + 1))


def told_by_two(path, way):
    processes = [child(path, name, 40, way) for name in ("anna", "bert")]
    outputs = [process.communicate(timeout=60)[0].splitlines() for process in processes]
    told = [json.loads(line) for output in outputs for line in output]
    assert len(told) == 80  # each entry of each was stored or refused
    return told


def test_of_two_processes_that_speak_of_a_row_first_one_is_heard_and_the_other_told(path):
    told = told_by_two(path, "blindly")
    recorded = {row: number for number, row in told if number > 0}
    refused = {row: -number for number, row in told if number < 0}
    assert recorded == refused
    with LabelStore(path, TABLE) as store:
        assert {row: event.number for row, event in store.answers("price").items()} == recorded
        assert len(store.events()) == 40


def test_two_processes_at_once_lose_nothing_and_double_nothing(path):
    told = told_by_two(path, "looks")
    with LabelStore(path, TABLE) as store:
        last = {}
        for event in store.events():  # nobody has replaced what he had not seen
            assert event.entry.expects == last.get(event.entry.row, 0)
            last[event.entry.row] = event.number
        stored = {event.number: event.entry.row for event in store.events()}
        assert stored == {number: row for number, row in told if number > 0}


@pytest.mark.parametrize("text", ["1,234", "-12,500", "+999,000"])
def test_a_number_that_may_be_a_thousand_times_as_large_is_refused(text):
    with pytest.raises(ValueError, match="without a comma"):
        LabelTarget("price", "regression").read(text)


def test_numbers_and_classes_are_read_as_people_write_them():
    price = LabelTarget("price", "regression")
    assert [price.read(text) for text in ("3,5", "3.5", "0,125", "1 000", "-2e6")] == [
        3.5, 3.5, 0.125, 1000.0, -2e6,
    ]  # fmt: skip
    assert LabelTarget("kind", "classification", (" a",)).read(" a") == " a"
    assert LabelTarget("kind", "classification", ("a",)).read(" b ") == "b"
