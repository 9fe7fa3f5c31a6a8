import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_array_equal

from label_desks import HOSTILE
from twinviews.labeling import desk as desk_module
from twinviews.labeling import sample as sample_module
from twinviews.labeling import sheet as sheet_module
from twinviews.labeling.desk import Desk
from twinviews.labeling.entries import ConflictError, Entry, Target
from twinviews.labeling.study import make_study
from twinviews.reading import Reading, read

SIZE = Target("size", "regression")
KIND = Target("kind", "classification", ("big", "small"))
N = 60


class AtOnce:
    """A background in which a study is done before ``ask`` returns."""

    busy = False

    def __init__(self, X, done):
        self._X, self._done = X, done

    def ask(self, job):
        self._done(job.target, make_study(job.task, self._X, job.labels))

    def close(self):
        pass


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(desk_module, "Background", AtOnce)


def columns(n=N):
    rng = np.random.default_rng(0)
    return {
        "a": rng.normal(size=n),
        "b": rng.normal(size=n),
        "city": rng.choice(["Rom", "Köln"], n).tolist(),
    }


def truth(n=N):
    found = columns(n)
    return found["a"] + 2 * (np.array(found["city"]) == "Rom")


def desk_of(folder, table=None, targets=(SIZE, KIND), name="homes.csv", labels="labels.sqlite"):
    table = pa.table(columns() if table is None else table)
    reading = Reading(name, ds.dataset(table), (), table.num_rows)
    desk = Desk(reading, name, folder / labels, targets)
    for sheet in desk._sheets.values():
        sheet._rng = np.random.default_rng(0)  # the same rows in every run
    return desk


@pytest.fixture
def desk(tmp_path, at_once):
    with desk_of(tmp_path) as desk:
        yield desk


def say(desk, card, value=None, target="size", answer="label"):
    entry = Entry(uuid4().hex, target, card.row, answer, value, card.origin, card.event)
    return desk.record(entry)


def label(desk, n, target="size"):
    """The next n rows as they are truly; their cards."""
    values = truth(desk.state(target).rows)
    cards = []
    for _ in range(n):
        cards.append(desk.next_card(target))
        value = float(values[cards[-1].row])
        say(desk, cards[-1], value if target == "size" else ("big" if value > 1 else "small"), target)
    return cards


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.05)


# --- who is asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["size", "kind"])
def test_every_row_is_asked_once_and_then_none(target, tmp_path, at_once):
    with desk_of(tmp_path, columns(12)) as desk:
        rows = [card.row for card in label(desk, 12, target)]
        assert sorted(rows) == list(range(12))
        assert desk.next_card(target) is None
        assert desk.batch(target, 5) == []
        assert desk.state(target).labeled == 12
        other = "kind" if target == "size" else "size"
        assert desk.state(other).labeled == 0
        assert desk.next_card(other) is not None


def test_skipped_and_unsure_rows_are_not_asked_again(desk):
    for answer in ("skip", "unsure", "skip"):
        say(desk, desk.next_card("size"), answer=answer)
    rows = {card.row for card in desk.batch("size", N)}
    assert len(rows) == N - 3
    state = desk.state("size")
    assert (state.labeled, state.skipped, state.unsure) == (0, 2, 1)


def test_a_batch_has_different_rows_and_none_of_those_on_the_page(desk):
    label(desk, 12)
    besides = [desk.next_card("size").row for _ in range(5)]
    rows = [card.row for card in desk.batch("size", 20, besides=besides)]
    assert len(set(rows)) == 20
    assert not set(rows) & set(besides)


@pytest.mark.parametrize("most", [1, 7])
def test_rows_beyond_the_sample_come_in_the_end(most, tmp_path, at_once, monkeypatch):
    monkeypatch.setattr(sample_module, "MOST_ROWS", most)
    with desk_of(tmp_path, columns(20)) as desk:
        assert {card.row for card in desk.batch("size", 30)} == set(range(20))
        besides = range(0, 20, 2)
        assert {card.row for card in desk.batch("size", 30, besides=besides)} == set(range(1, 20, 2))
        assert sorted(card.row for card in label(desk, 20)) == list(range(20))
        assert desk.next_card("size") is None


def test_first_all_rows_are_random_and_then_one_in_five(desk, monkeypatch):
    monkeypatch.setattr(sheet_module, "_STUDY_AFTER", 1000)  # one study is enough
    first = label(desk, 25)
    assert {card.origin for card in first} == {"random"}
    assert {card.reason for card in first} == {"drawn at random, as the first rows are"}
    ahead = Counter(card.origin for card in desk.batch("size", 20))
    assert ahead == {"random": 4, "suggested": 16}
    later = label(desk, 25)
    origins = np.array([card.origin for card in later])
    assert_array_equal(np.flatnonzero(origins == "random"), [4, 9, 14, 19, 24])
    assert "one row in 5" in later[4].reason
    assert "model" in later[0].reason or "unlike" in later[0].reason
    labels = desk._sheets["size"].labels
    assert_array_equal(labels.rows, [card.row for card in first + later])
    assert_array_equal(labels.random, [card.origin == "random" for card in first + later])


def test_rows_that_a_user_looks_up_are_no_random_ones(desk):
    card = desk.card("size", 17)
    assert (card.row, card.origin, card.reason) == (17, "chosen", "chosen by you")
    say(desk, card, 3.0)
    assert desk._sheets["size"].labels.random.tolist() == [False]
    again = desk.card("size", 17)
    assert (again.answer, again.value) == ("label", 3.0)


# --- labels of the table ----------------------------------------------------------------------------


@pytest.fixture
def own():
    """A table that has every fifth label already."""
    sizes = truth().tolist()
    return columns() | {"size": [size if i % 5 == 0 else None for i, size in enumerate(sizes)]}


def test_labels_of_the_table_count_and_are_not_asked_again(own, tmp_path, at_once):
    with desk_of(tmp_path, own) as desk:
        assert desk.state("size").labeled == 12
        assert {card.row for card in desk.batch("size", N)} == {i for i in range(N) if i % 5}
        card = desk.card("size", 10)
        assert (card.answer, card.value, card.event) == ("label", truth()[10], 0)
        assert desk.next_card("size").guess is not None  # learned from them alone
        say(desk, card, 99.0)
        assert desk.state("size").labeled == 12
        labels = desk._sheets["size"].labels
        assert labels.y[labels.rows == 10].tolist() == [99.0]
        say(desk, desk.card("size", 15), answer="skip")
        assert desk.state("size").labeled == 11


def test_to_undo_an_answer_gives_the_label_of_the_table_back(own, tmp_path, at_once):
    with desk_of(tmp_path, own) as desk:
        before = desk._sheets["size"].labels
        say(desk, desk.card("size", 10), 99.0)
        desk.undo("size", "a key")
        after = desk._sheets["size"].labels
        assert_array_equal(after.rows, before.rows)
        assert_array_equal(after.y, before.y)
        assert desk.state("size").labeled == 12
        assert desk.card("size", 10).value == truth()[10]
        assert 10 not in {card.row for card in desk.batch("size", N)}


def test_more_labels_of_the_table_than_are_learned_from_are_still_shown(
    own, tmp_path, at_once, monkeypatch
):
    monkeypatch.setattr(sheet_module, "_MOST_OWN", 11)
    with desk_of(tmp_path, own) as desk:
        assert len(desk._sheets["size"].labels.rows) == 11
        assert [desk.card("size", row).value for row in range(0, N, 5)] == truth()[::5].tolist()
        assert desk.state("size").labeled == 12


def test_no_target_is_an_input(own, tmp_path, at_once):
    """With the label among its inputs a model would be right, and useless."""
    with desk_of(tmp_path, own) as desk, desk_of(tmp_path, columns(), labels="other") as without:
        assert desk._sample.inputs == without._sample.inputs == ("a", "b", "city")
        assert_array_equal(desk._sample.X, without._sample.X)
        for row in (0, 1):  # with a label and without
            assert [fact.name for fact in desk.card("size", row).facts] == ["a", "b", "city"]
        for found in desk.search("size", "#11"):
            assert "size" not in found.words
        near = desk.card("size", 1).neighbours
        assert near
        assert {name for one in near for name, _ in one.differences} <= {"a", "b", "city"}


# --- answers, taken back and shared -----------------------------------------------------------------


def test_undo_brings_the_row_back(desk):
    label(desk, 13)
    before = desk._sheets["size"].labels
    card = desk.next_card("size")
    say(desk, card, 7.0)
    assert desk.undo("size", "a key").entry.row == card.row
    assert_array_equal(desk._sheets["size"].labels.rows, before.rows)
    assert card.row in {one.row for one in desk.batch("size", N)}
    assert desk.state("size").labeled == 13
    for i in range(13):
        assert desk.undo("size", f"key {i}") is not None
    assert desk.undo("size", "one more") is None
    state = desk.state("size")
    assert (state.labeled, state.undoable, state.curve) == (0, False, ())
    assert desk.next_card("size").guess is None


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_said_and_taken_back_the_desk_is_where_it_should_be(seed, tmp_path, at_once):
    """Against a dictionary and a stack, over 60 steps, some of which close the desk and open it."""
    rng = np.random.default_rng(seed)
    own = {"size": [4.0, None, None, 5.0, *[None] * 4]}
    said, done = {}, []
    desk = desk_of(tmp_path, columns(8) | own)
    for step in range(60):
        do = rng.choice(["next", "look up", "undo", "open"], p=[0.4, 0.25, 0.3, 0.05])
        if do == "open":
            desk.close()
            desk = desk_of(tmp_path, columns(8) | own)
        elif do == "undo":
            taken = desk.undo("size", f"undo {step}")
            assert (taken is None) == (not done)
            if done:
                row, before = done.pop()
                said.pop(row)
                said |= {} if before is None else {row: before}
        else:
            card = desk.next_card("size") if do == "next" else desk.card("size", int(rng.integers(8)))
            if card is not None:
                answer = str(rng.choice(["label", "label", "skip", "unsure"]))
                value = float(step) if answer == "label" else None
                say(desk, card, value, answer=answer)
                done.append((card.row, said.get(card.row)))
                said[card.row] = answer, value
        labels = {0: 4.0, 3: 5.0} | {row: value for row, (_, value) in said.items()}
        labels = {row: value for row, value in labels.items() if value is not None}
        found = desk._sheets["size"].labels
        assert dict(zip(found.rows.tolist(), found.y.tolist(), strict=True)) == labels
        assert {card.row for card in desk.batch("size", 9)} == set(range(8)) - {0, 3, *said}
        state, counts = desk.state("size"), Counter(answer for answer, _ in said.values())
        assert (state.labeled, state.skipped, state.unsure) == (
            len(labels), counts["skip"], counts["unsure"],
        )  # fmt: skip
        assert state.undoable == bool(done)
    desk.close()


def test_a_desk_that_is_opened_again_goes_on(tmp_path, at_once):
    with desk_of(tmp_path) as desk:
        label(desk, 14)
        say(desk, desk.next_card("size"), answer="skip")
        label(desk, 3, "kind")
        before, labels = desk.state("size"), desk._sheets["size"].labels
        guess = desk.card("size", 5).guess
    with desk_of(tmp_path, targets=()) as again:
        state = again.state("")
        assert (state.target, state.labeled, state.skipped) == ("size", 14, 1)
        assert state.targets == before.targets
        assert again.state("kind").labeled == 3
        for part, same in zip(again._sheets["size"].labels, labels, strict=True):
            assert_array_equal(part, same)
        assert again.card("size", 5).guess.value == pytest.approx(guess.value, abs=0.2)
        assert len(again.batch("size", N)) == N - 15


def test_desks_on_the_same_files_see_each_other(tmp_path, at_once):
    with desk_of(tmp_path) as one, desk_of(tmp_path) as other:
        say(one, one.card("size", 3), 1.5)
        assert other.version() == one.version() == 1
        assert other.card("size", 3).value == 1.5
        assert 3 not in {card.row for card in other.batch("size", N)}
        stale = one.card("size", 4)
        say(other, other.card("size", 4), 2.0)
        with pytest.raises(ConflictError, match="Row 5 has been answered in the meantime"):
            say(one, stale, 2.5)
        assert one.state("size").labeled == other.state("size").labeled == 2
        one.add_target(Target("age", "regression"))
        say(one, one.card("age", 3), 50.0, "age")
        assert other.state("age").labeled == 1
        label(one, 10)
        assert one.state("size").curve
        assert other.state("size").curve  # it has learned from the same labels, by itself


def test_a_table_that_has_changed_is_refused(tmp_path, at_once):
    with desk_of(tmp_path) as desk:
        say(desk, desk.card("size", 6), 1.0)
        say(desk, desk.card("size", 8), 1.0)
    changed = columns()
    changed["b"][5] += 1  # a row that nobody has labeled
    desk_of(tmp_path, changed).close()
    changed["b"][6] += 1
    with pytest.raises(ValueError, match=r"Row 7 of homes\.csv is not the one that was labeled: "):
        desk_of(tmp_path, changed)
    changed["b"][8] += 1
    with pytest.raises(ValueError, match=r"Row 7 .* nor are 1 others.* name another .* --labels"):
        desk_of(tmp_path, changed)
    with pytest.raises(ValueError, match=r"60 rows, and homes\.csv has 50"):
        desk_of(tmp_path, columns(50))
    assert not multiprocessing.active_children()


def test_threads_lose_nothing(desk, monkeypatch):
    """Ten at once, as from ten tabs; a row that two were asked is answered by one of them."""
    monkeypatch.setattr(sheet_module, "_STUDY_AFTER", 1000)
    said, refused = [], []

    def work():
        for _ in range(6):
            card = desk.next_card("size")
            try:
                said.append(say(desk, card, 1.0 + card.row).entry.row)
            except ConflictError:
                refused.append(card.row)

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == len(set(said)) == desk.state("size").labeled
    assert len(said) + len(refused) == 60
    labels = desk._sheets["size"].labels
    assert sorted(labels.rows) == sorted(said)
    assert_array_equal(labels.y, 1.0 + labels.rows)


# --- targets ----------------------------------------------------------------------------------------


def test_a_target_can_be_added_at_any_time(desk):
    label(desk, 11)
    desk.add_target(Target("b", "regression"))  # so far an input
    assert [one.name for one in desk.state("b").targets] == ["size", "kind", "b"]
    for target in ("size", "kind", "b"):
        assert [fact.name for fact in desk.card(target, 4).facts] == ["a", "city"]
    assert desk._sample.inputs == ("a", "city")
    assert desk.state("b").labeled == N
    assert desk.next_card("b") is None
    assert desk.state("size").labeled == 11
    assert desk.next_card("size").guess is not None
    desk.add_target(Target("kind", "classification", ("vast",)))
    assert desk.state("kind").targets[1].classes == ("big", "small", "vast")


def test_a_target_that_cannot_be_leaves_the_desk_as_it_was(tmp_path, at_once):
    wrong = Target("city", "regression")
    message = "Column 'city' holds values of kind category, and a regression needs numbers"
    with desk_of(tmp_path) as desk:
        with pytest.raises(ValueError, match=message):
            desk.add_target(wrong)
        with pytest.raises(ValueError, match="'size' is for regression"):
            desk.add_target(Target("size", "classification"))
        assert desk.targets() == (SIZE, KIND)
        label(desk, 2)
    with pytest.raises(ValueError, match=message):
        desk_of(tmp_path, targets=[wrong])
    with desk_of(tmp_path) as desk:
        assert desk.state("size").labeled == 2


def test_targets_that_are_not_there_are_named(tmp_path, at_once):
    with desk_of(tmp_path, targets=()) as desk:
        with pytest.raises(ValueError, match=r"There is no target yet\. Add one"):
            desk.state("")
        desk.add_target(SIZE)
        assert desk.state("").target == "size"
        with pytest.raises(ValueError, match=r"There is no target 'price'\. The targets are 'size'"):
            desk.next_card("price")
        with pytest.raises(ValueError, match="There is no row 61: the table has 60 rows"):
            desk.card("size", 60)


# --- the model --------------------------------------------------------------------------------------


def test_the_curve_appears_with_ten_labels(desk):
    label(desk, 9)
    state = desk.state("size")
    assert (state.curve, state.promises, state.baseline) == ((), (), None)
    assert state.model == "learns from 10 labels on, of two values or classes at least"
    assert desk.next_card("size").guess is None
    label(desk, 6)
    state = desk.state("size")
    assert [point.labels for point in state.curve][-1] == 15
    assert all(point.lower <= point.error <= point.upper for point in state.curve)
    assert state.baseline > 0
    assert all(promise.error <= state.curve[-1].error for promise in state.promises)
    assert [promise.more for promise in state.promises] == [5, 15]
    assert state.model == "learned from 15 labels"
    label(desk, 1)
    assert desk.state("size").model == "learned from 15 labels, and 1 since then"


def test_a_slip_that_was_learned_from_is_forgotten_at_once(desk):
    label(desk, 14)
    good = desk.card("size", 3).guess
    card = desk.next_card("size")
    say(desk, card, 1e6)
    assert desk.state("size").model == "learned from 15 labels"
    assert abs(desk.card("size", 3).guess.value) > 1000
    say(desk, desk.card("size", card.row), float(truth()[card.row]))  # corrected: as many as before
    assert desk.card("size", 3).guess.value == pytest.approx(good.value, abs=1)
    label(desk, 1)
    desk.undo("size", "one")  # of which the study does not know
    assert desk.state("size").model == "learned from 15 labels"
    desk.undo("size", "two")  # which brings the slip back
    desk.undo("size", "three")
    assert desk.state("size").model == "learned from 14 labels"
    assert desk.card("size", 3).guess.value == pytest.approx(good.value, abs=1)


def test_one_class_alone_is_not_learned_from(desk):
    for _ in range(12):
        say(desk, desk.next_card("kind"), "big", "kind")
    assert desk.state("kind").model.startswith("learns from 10 labels on, of two")
    assert desk.next_card("kind").guess is None
    say(desk, desk.next_card("kind"), "small", "kind")
    guess = desk.next_card("kind").guess
    assert {one.name for one in guess.probabilities} == {"big", "small"}
    assert sum(one.probability for one in guess.probabilities) == pytest.approx(1)
    assert guess.value == guess.probabilities[0].name
    say(desk, desk.next_card("kind"), "huge", "kind")  # a class of which the study knew nothing
    assert {one.name for one in desk.next_card("kind").guess.probabilities} == {"big", "small", "huge"}


def test_a_label_counts_at_once(desk, monkeypatch):
    label(desk, 20)
    monkeypatch.setattr(sheet_module, "_STUDY_AFTER", 1000)
    card = desk.next_card("size")
    say(desk, card, card.guess.value + 10)
    again = desk.card("size", card.row).guess
    assert again.value > card.guess.value + 1
    # Until the next study the interval reaches from where it was to where it would be now.
    assert again.lower == pytest.approx(card.guess.lower)
    assert again.upper == pytest.approx(card.guess.upper + again.value - card.guess.value)
    desk.undo("size", "a key")
    assert desk.card("size", card.row).guess.value == pytest.approx(card.guess.value)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("typed", [1e150, 1e200, 1.7e308])
def test_a_label_that_is_far_too_large_can_be_taken_back(typed, tmp_path):
    """With the study of the others, and with a study of its own; JSON has no infinity."""
    with desk_of(tmp_path) as desk:
        label(desk, 12)
        wait_for(lambda: desk.state("size").curve)
        guess = desk.card("size", 3).guess
        say(desk, desk.next_card("size"), typed)
        as_json(desk)
        label(desk, 2)
        wait_for(lambda: "closer look" not in desk.state("size").model)
        as_json(desk)
        for i in range(3):
            desk.undo("size", f"key {i}")
        as_json(desk)
        assert desk.state("size").labeled == 12
        wait_for(lambda: desk.state("size").model == "learned from 12 labels")
        assert desk.card("size", 3).guess.value == pytest.approx(guess.value, abs=1)


def as_json(desk):
    shown = [desk.state("size"), desk.card("size", 3), *desk.batch("size", 3)]
    return json.dumps(shown, default=vars, allow_nan=False)


def test_neighbours_are_labeled_rows_and_never_the_row_itself(desk):
    label(desk, 12)
    labels = desk._sheets["size"].labels
    for row in (*labels.rows[:3], desk.next_card("size").row):
        near = desk.card("size", int(row)).neighbours
        assert len(near) == 3
        assert row not in [one.row for one in near]
        assert [one.label for one in near] == [truth()[one.row] for one in near]
        likeness = [one.likeness for one in near]
        assert likeness == sorted(likeness, reverse=True)


@pytest.mark.parametrize(
    "table",
    [
        {"one": [3.0] * 15, "word": ["same"] * 15},
        {"id": [f"id {i}" for i in range(15)]},
        {"none": pa.nulls(15)},
        {"size": pa.nulls(15, pa.float64())},
    ],
)
def test_a_table_that_says_nothing_can_be_labeled(table, tmp_path, at_once):
    with desk_of(tmp_path, table) as desk:
        cards = label(desk, 15)
        assert sorted(card.row for card in cards) == list(range(15))
        assert {(card.origin, card.guess, card.neighbours) for card in cards} == {("random", None, ())}
        assert desk.next_card("size") is None
        state = desk.state("size")
        assert state.model.startswith("no model: No input column")
        assert state.curve == ()


def test_hostile_names_are_names(tmp_path, at_once):
    names = [name.replace("\0", "") for name in HOSTILE]
    table = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate(names[2:])}
    table[names[4]] = [names[i % 3] for i in range(30)]
    target = Target(names[0], "classification", tuple(names[1:3]))
    with desk_of(tmp_path, table, [target], name="../../'; DROP TABLE events; --.csv") as desk:
        for i in range(12):
            say(desk, desk.next_card(names[0]), names[1 + i % 2], names[0])
        card = desk.next_card(names[0])
        assert [fact.name for fact in card.facts] == names[2:]
        assert {one.name for one in card.guess.probabilities} == set(names[1:3])
        name, out = desk.export("parquet")
        assert name == "'; DROP TABLE events; --.labeled.parquet"
        assert read(out).dataset.to_table()[names[0]].null_count == 18
    with desk_of(tmp_path, table, [target], name="../../'; DROP TABLE events; --.csv") as desk:
        assert desk.state("").labeled == 12


# --- search, export, import -------------------------------------------------------------------------


def test_search_tells_what_was_said(own, tmp_path, at_once):
    with desk_of(tmp_path, own) as desk:
        say(desk, desk.card("size", 6), 1.5)
        say(desk, desk.card("size", 7), answer="unsure")
        found = {one.row: (one.answer, one.value) for one in desk.search("size", "city=rom", 99)}
        assert set(found) == {i for i, city in enumerate(own["city"]) if city == "Rom"}
        by_number = [desk.search("size", f"#{i + 1}")[0] for i in (5, 6, 7, 8)]
        assert [(one.row, one.answer) for one in by_number] == [
            (5, "label"), (6, "label"), (7, "unsure"), (8, None),
        ]  # fmt: skip
        assert [one.value for one in by_number] == [truth()[5], 1.5, None, None]
        assert by_number[0].words.startswith("a ")


def test_what_is_exported_can_be_imported(tmp_path, at_once):
    with desk_of(tmp_path) as desk, desk_of(tmp_path, labels="other") as other:
        label(desk, 6)
        say(desk, desk.next_card("size"), answer="skip")
        name, out = desk.export("labels.csv")
        assert name == "homes.labels.csv"
        done = other.import_labels("size", name, out.read_bytes())
        assert (done.added, done.unchanged, done.conflicts) == (7, 0, 0)
        mine, theirs = (one._sheets["size"].labels for one in (desk, other))
        for one, same in zip(mine, theirs, strict=True):
            assert_array_equal(one, same)
        assert other.state("size").skipped == 1
        assert other.import_labels("size", name, out.read_bytes()).added == 0
        for form in ("csv", "parquet"):
            name, out = desk.export(form)
            assert name == f"homes.labeled.{form}"
            sizes = read(out).dataset.to_table()["size"].to_pylist()
            assert {i: size for i, size in enumerate(sizes) if size is not None} == dict(
                zip(mine.rows.tolist(), mine.y.tolist(), strict=True)
            )
        with pytest.raises(ValueError, match=r"There is no form 'xlsx'\. Choose one of csv"):
            desk.export("xlsx")


def test_an_import_is_learned_from(desk):
    lines = [f"{row + 1},size,label,{size}" for row, size in enumerate(truth()[:15])]
    content = "\n".join(["row,target,answer,value", *lines]).encode()
    assert desk.import_labels("size", "more.csv", content).added == 15
    assert desk.state("size").curve
    assert desk.next_card("size").guess is not None


# --- the process in the background ------------------------------------------------------------------


def test_a_study_is_made_in_the_background_and_nothing_is_left_behind(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with desk_of(tmp_path) as desk:
        label(desk, 12)
        (child,) = multiprocessing.active_children()
        wait_for(lambda: desk.state("size").curve)
        assert desk.state("size").model.startswith("learned from 10 labels")
        desk.export("csv")
        desk.export("csv")
    assert not multiprocessing.active_children()
    assert not child.is_alive()
    assert not list(temporary.iterdir())


def test_a_background_that_is_killed_is_told_and_replaced(tmp_path):
    with desk_of(tmp_path) as desk:
        (child,) = multiprocessing.active_children()
        child.kill()
        child.join()
        label(desk, 10)  # which are on the disk, whatever becomes of the study
        (second,) = multiprocessing.active_children()
        second.kill()
        wait_for(lambda: "too little memory" in desk.state("size").model)
        assert desk.state("size").labeled == 10
        label(desk, 5)
        wait_for(lambda: desk.state("size").curve)
    assert not multiprocessing.active_children()


STUDYING = """
import sys
import numpy as np
from twinviews.labeling.background import Background, Job
from twinviews.labeling.study import Labels

X = np.random.default_rng(0).normal(size=(20_000, 60))
background = Background(X, lambda *_: print("done", flush=True))
labels = Labels(np.arange(2000), X[:2000], X[:2000, 0], np.full(2000, "random", object))
background.ask(Job("y", "regression", labels, 0))
print("asked", flush=True)
input()
"""


def test_a_study_ends_in_the_middle_when_its_desk_is_killed():
    command = [sys.executable, "-c", STUDYING]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdout.readline() == b"asked\n"
        time.sleep(2)
        process.kill()
        # The process in the background has the same output, which ends when both are gone.
        assert process.communicate(timeout=20) == (b"", None)


def test_every_export_works_after_the_one_before_was_sent_and_deleted(desk):
    label(desk, 3)
    for form in ("csv", "parquet", "labels.csv", "csv"):
        _, out = desk.export(form)
        assert out.stat().st_size > 0
        out.unlink()  # as the server does
        out.parent.rmdir()


def test_labels_from_elsewhere_are_judged_only_until_rows_drawn_at_random_are_there(desk):
    label(desk, 30)
    labels = desk._sheets["size"].labels
    assert labels.judged.tolist() == labels.random.tolist()
    mixed = np.where(np.arange(30) < 4, "random", "imported").astype(object)
    assert labels._replace(origin=mixed).judged.all()


def test_a_row_that_is_corrected_stays_what_it_was_drawn_as(desk):
    card = desk.next_card("size")
    say(desk, card, 1.0)
    assert desk.card("size", card.row).origin == card.origin == "random"
