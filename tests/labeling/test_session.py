import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_array_equal

from label_sessions import HOSTILE
from twinviews import XNVClassifier, XNVRegressor, forecast_error, label_probabilities
from twinviews.evaluation.told_error import told_error
from twinviews.labeling import candidate_rows as candidates_module
from twinviews.labeling import live_model
from twinviews.labeling import session as session_module
from twinviews.labeling import target_state as target_module
from twinviews.labeling.entries import ConflictError, Entry, LabelTarget
from twinviews.labeling.label_rounds import Wish
from twinviews.labeling.live_model import fit_fully
from twinviews.labeling.page_data import AnswerState
from twinviews.labeling.session import LabelingSession
from twinviews.reading import Reading, read

SIZE = LabelTarget("size", "regression")
KIND = LabelTarget("kind", "classification", ("big", "small"))
N = 60


_fits = {}


def fitted_once(task, X, labels, *more):
    """The full fit; sessions of many tests learn from the same first labels, in the same order."""
    kind = live_model.XNVRegressor if task == "regression" else live_model.XNVClassifier
    key = pickle.dumps((kind, X, *(part.tolist() for part in labels), more))
    if key not in _fits:
        _fits[key] = fit_fully(task, X, labels, *more)
    return _fits[key]


class AtOnce:
    """A fitting process whose fit is done before ``request`` returns."""

    busy = False

    def __init__(self, X, done):
        self._X, self._done = X, done

    def request(self, job):
        self._done(job.target, fitted_once(job.task, self._X, job.labels, job.n_rows, 0, job.asked))

    def close(self):
        pass


@pytest.fixture
def at_once(monkeypatch):
    """Fits at once, of the views alone: what is asked and kept does not depend on members."""
    monkeypatch.setattr(session_module, "FittingProcess", AtOnce)
    for kind in (XNVRegressor, XNVClassifier):
        monkeypatch.setattr(live_model, kind.__name__, partial(kind, members=None))


@pytest.fixture
def with_members(at_once, monkeypatch):
    """The model as users have it, an ensemble; full fits are made when a test says so."""
    for kind in (XNVRegressor, XNVClassifier):
        monkeypatch.setattr(live_model, kind.__name__, kind)
    return lambda n_labels: monkeypatch.setattr(target_module, "_REFIT_AFTER", n_labels)


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


def session_of(folder, table=None, targets=(SIZE, KIND), name="homes.csv", labels="labels.sqlite"):
    table = pa.table(columns() if table is None else table)
    reading = Reading(name, ds.dataset(table), (), table.num_rows)
    session = LabelingSession(reading, name, folder / labels, targets)
    for state in session._targets.values():
        state._rng = np.random.default_rng(0)  # the same rows in every run
    return session


@pytest.fixture
def session(tmp_path, at_once):
    with session_of(tmp_path) as session:
        yield session


def say(session, card, value=None, target="size", answer="label"):
    entry = Entry(uuid4().hex, target, card.row, answer, value, card.origin, card.event)
    return session.record(entry)


def label(session, n, target="size"):
    """The next n rows as they are truly; their cards."""
    values = truth(session.state(target).rows)
    cards = []
    for _ in range(n):
        cards.append(session.next_card(target))
        value = float(values[cards[-1].row])
        say(
            session, cards[-1], value if target == "size" else ("big" if value > 1 else "small"), target
        )
    return cards


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.05)


# --- answers about all rows -------------------------------------------------------------------------


def test_rows_for_an_answer_come_by_a_design_and_go_on_after_a_restart(
    tmp_path, with_members, monkeypatch
):
    monkeypatch.setattr(target_module, "FIRST_AT_RANDOM", 12)
    targets = (SIZE,)
    with session_of(tmp_path, columns(120), targets) as session:
        assert session.state("size").all_rows == AnswerState(False, None, (), "")
        session.want_all_rows("size", Wish(True, 0.05))
        assert session.state("size").all_rows.words == "12 more labels of random rows come first."
        assert {card.origin for card in label(session, 12)} == {"random"}
        cards = label(session, 4)
        assert {card.origin for card in cards} == {"designed"}
        told = session.state("size").all_rows
        assert told.intervals[0].title == "Mean of size"
        assert "more labels for ±0.05" in told.words
        following = [card.row for card in session.batch("size", 5)]
        _, out = session.export("labels.csv")
        lines = pacsv.read_csv(out).to_pylist()
        assert [line["origin"] for line in lines] == ["random"] * 12 + ["designed"] * 4
        p = np.array([line["probability"] for line in lines])
        assert ((p >= 12 / 120) & (p < 0.5)).all()
        assert 60 < np.sum(1 / p) < 240  # they stand for about all rows
    with session_of(tmp_path, columns(120), targets) as session:
        assert session.state("size").all_rows.half_width == 0.05
        assert [card.row for card in session.batch("size", 5)] == following
        session.want_all_rows("size", Wish())
        assert session.next_card("size").origin in ("random", "suggested")


# --- rows to label ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["size", "kind"])
def test_every_row_is_asked_once_and_then_none(target, tmp_path, at_once):
    with session_of(tmp_path, columns(12)) as session:
        rows = [card.row for card in label(session, 12, target)]
        assert sorted(rows) == list(range(12))
        assert session.next_card(target) is None
        assert session.batch(target, 5) == []
        assert session.state(target).labeled == 12
        other = "kind" if target == "size" else "size"
        assert session.state(other).labeled == 0
        assert session.next_card(other) is not None


def test_skipped_and_unsure_rows_are_not_asked_again(session):
    for answer in ("skip", "unsure", "skip"):
        say(session, session.next_card("size"), answer=answer)
    rows = {card.row for card in session.batch("size", N)}
    assert len(rows) == N - 3
    state = session.state("size")
    assert (state.labeled, state.skipped, state.unsure) == (0, 2, 1)


def test_a_batch_has_different_rows_and_none_of_those_on_the_page(session):
    label(session, 12)
    besides = [session.next_card("size").row for _ in range(5)]
    rows = [card.row for card in session.batch("size", 20, besides=besides)]
    assert len(set(rows)) == 20
    assert not set(rows) & set(besides)


@pytest.mark.parametrize("most", [1, 7])
def test_rows_beyond_the_sample_come_in_the_end(most, tmp_path, at_once, monkeypatch):
    monkeypatch.setattr(candidates_module, "MOST_ROWS", most)
    with session_of(tmp_path, columns(20)) as session:
        assert {card.row for card in session.batch("size", 30)} == set(range(20))
        besides = range(0, 20, 2)
        assert {card.row for card in session.batch("size", 30, besides=besides)} == set(range(1, 20, 2))
        assert sorted(card.row for card in label(session, 20)) == list(range(20))
        assert session.next_card("size") is None


def test_first_all_rows_are_random_and_then_one_in_four(session, monkeypatch):
    monkeypatch.setattr(target_module, "_REFIT_AFTER", 1000)  # one full fit is enough
    first = label(session, 25)
    assert {card.origin for card in first} == {"random"}
    assert {card.reason for card in first} == {"drawn at random, as the first rows are"}
    ahead = Counter(card.origin for card in session.batch("size", 20))
    assert ahead == {"random": 5, "suggested": 15}
    later = label(session, 25)
    origins = np.array([card.origin for card in later])
    assert_array_equal(np.flatnonzero(origins == "random"), [3, 7, 11, 15, 19, 23])
    assert "one row in 4" in later[3].reason
    assert "model" in later[0].reason or "unlike" in later[0].reason
    labels = session._targets["size"].labels
    assert_array_equal(labels.rows, [card.row for card in first + later])
    assert_array_equal(labels.random, [card.origin == "random" for card in first + later])


def test_rows_that_a_user_looks_up_are_no_random_ones(session):
    card = session.card("size", 17)
    assert (card.row, card.origin, card.reason) == (17, "chosen", "chosen by you")
    say(session, card, 3.0)
    assert session._targets["size"].labels.random.tolist() == [False]
    again = session.card("size", 17)
    assert (again.answer, again.value) == ("label", 3.0)


# --- labels of the table ----------------------------------------------------------------------------


@pytest.fixture
def own():
    """A table that has every fifth label already."""
    sizes = truth().tolist()
    return columns() | {"size": [size if i % 5 == 0 else None for i, size in enumerate(sizes)]}


def test_labels_of_the_table_count_and_are_not_asked_again(own, tmp_path, at_once):
    with session_of(tmp_path, own) as session:
        assert session.state("size").labeled == 12
        assert {card.row for card in session.batch("size", N)} == {i for i in range(N) if i % 5}
        card = session.card("size", 10)
        assert (card.answer, card.value, card.event) == ("label", truth()[10], 0)
        assert session.next_card("size").guess is not None  # learned from them alone
        say(session, card, 99.0)
        assert session.state("size").labeled == 12
        labels = session._targets["size"].labels
        assert labels.y[labels.rows == 10].tolist() == [99.0]
        say(session, session.card("size", 15), answer="skip")
        assert session.state("size").labeled == 11


def test_to_undo_an_answer_gives_the_label_of_the_table_back(own, tmp_path, at_once):
    with session_of(tmp_path, own) as session:
        before = session._targets["size"].labels
        say(session, session.card("size", 10), 99.0)
        session.undo("size", "a key")
        after = session._targets["size"].labels
        assert_array_equal(after.rows, before.rows)
        assert_array_equal(after.y, before.y)
        assert session.state("size").labeled == 12
        assert session.card("size", 10).value == truth()[10]
        assert 10 not in {card.row for card in session.batch("size", N)}


def test_more_labels_of_the_table_than_are_learned_from_are_still_shown(
    own, tmp_path, at_once, monkeypatch
):
    monkeypatch.setattr(target_module, "_MOST_TABLE_LABELS", 11)
    with session_of(tmp_path, own) as session:
        assert len(session._targets["size"].labels.rows) == 11
        assert [session.card("size", row).value for row in range(0, N, 5)] == truth()[::5].tolist()
        assert session.state("size").labeled == 12


def test_no_target_is_an_input(own, tmp_path, at_once):
    """With the label among its inputs a model would be right, and useless."""
    with (
        session_of(tmp_path, own) as session,
        session_of(tmp_path, columns(), labels="other") as without,
    ):
        assert session._candidates.inputs == without._candidates.inputs == ["a", "b", "city"]
        assert_array_equal(session._candidates.X, without._candidates.X)
        for row in (0, 1):  # with a label and without
            assert [fact.name for fact in session.card("size", row).facts] == ["a", "b", "city"]
        for found in session.search("size", "#11"):
            assert "size" not in found.words
        near = session.card("size", 1).neighbours
        assert near
        assert {name for one in near for name, _ in one.differences} <= {"a", "b", "city"}


# --- answers, taken back and shared -----------------------------------------------------------------


def test_undo_brings_the_row_back(session):
    label(session, 13)
    before = session._targets["size"].labels
    card = session.next_card("size")
    say(session, card, 7.0)
    assert session.undo("size", "a key").entry.row == card.row
    assert_array_equal(session._targets["size"].labels.rows, before.rows)
    assert card.row in {one.row for one in session.batch("size", N)}
    assert session.state("size").labeled == 13
    for i in range(13):
        assert session.undo("size", f"key {i}") is not None
    assert session.undo("size", "one more") is None
    state = session.state("size")
    assert (state.labeled, state.undoable, state.curve) == (0, False, ())
    assert session.next_card("size").guess is None


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_said_and_taken_back_the_session_is_where_it_should_be(seed, tmp_path, at_once):
    """Against a dictionary and a stack, over 60 steps, some of which close the session and open it."""
    rng = np.random.default_rng(seed)
    own = {"size": [4.0, None, None, 5.0, *[None] * 4]}
    said, done = {}, []
    session = session_of(tmp_path, columns(8) | own)
    for step in range(60):
        do = rng.choice(["next", "look up", "undo", "open"], p=[0.4, 0.25, 0.3, 0.05])
        if do == "open":
            session.close()
            session = session_of(tmp_path, columns(8) | own)
        elif do == "undo":
            taken = session.undo("size", f"undo {step}")
            assert (taken is None) == (not done)
            if done:
                row, before = done.pop()
                said.pop(row)
                said |= {} if before is None else {row: before}
        else:
            card = (
                session.next_card("size")
                if do == "next"
                else session.card("size", int(rng.integers(8)))
            )
            if card is not None:
                answer = str(rng.choice(["label", "label", "skip", "unsure"]))
                value = float(step) if answer == "label" else None
                say(session, card, value, answer=answer)
                done.append((card.row, said.get(card.row)))
                said[card.row] = answer, value
        labels = {0: 4.0, 3: 5.0} | {row: value for row, (_, value) in said.items()}
        labels = {row: value for row, value in labels.items() if value is not None}
        found = session._targets["size"].labels
        assert dict(zip(found.rows.tolist(), found.y.tolist(), strict=True)) == labels
        assert {card.row for card in session.batch("size", 9)} == set(range(8)) - {0, 3, *said}
        state, counts = session.state("size"), Counter(answer for answer, _ in said.values())
        assert (state.labeled, state.skipped, state.unsure) == (
            len(labels), counts["skip"], counts["unsure"],
        )  # fmt: skip
        assert state.undoable == bool(done)
    session.close()


def test_a_session_that_is_opened_again_goes_on(tmp_path, at_once):
    with session_of(tmp_path) as session:
        label(session, 14)
        say(session, session.next_card("size"), answer="skip")
        label(session, 3, "kind")
        before, labels = session.state("size"), session._targets["size"].labels
        guess = session.card("size", 5).guess
    with session_of(tmp_path, targets=()) as again:
        state = again.state("")
        assert (state.target, state.labeled, state.skipped) == ("size", 14, 1)
        assert state.targets == before.targets
        assert again.state("kind").labeled == 3
        for part, same in zip(again._targets["size"].labels, labels, strict=True):
            assert_array_equal(part, same)
        assert again.card("size", 5).guess.value == pytest.approx(guess.value, abs=0.2)
        assert len(again.batch("size", N)) == N - 15


def test_sessions_on_the_same_files_see_each_other(tmp_path, at_once):
    with session_of(tmp_path) as one, session_of(tmp_path) as other:
        say(one, one.card("size", 3), 1.5)
        assert other.version() == one.version() == 1
        assert other.card("size", 3).value == 1.5
        assert 3 not in {card.row for card in other.batch("size", N)}
        stale = one.card("size", 4)
        say(other, other.card("size", 4), 2.0)
        with pytest.raises(ConflictError, match="Row 5 has been answered in the meantime"):
            say(one, stale, 2.5)
        assert one.state("size").labeled == other.state("size").labeled == 2
        one.add_target(LabelTarget("age", "regression"))
        say(one, one.card("age", 3), 50.0, "age")
        assert other.state("age").labeled == 1
        label(one, 10)
        assert one.state("size").curve
        assert other.state("size").curve  # it has learned from the same labels, by itself


def test_a_table_that_has_changed_is_refused(tmp_path, at_once):
    with session_of(tmp_path) as session:
        say(session, session.card("size", 6), 1.0)
        say(session, session.card("size", 8), 1.0)
    changed = columns()
    changed["b"][5] += 1  # a row that nobody has labeled
    session_of(tmp_path, changed).close()
    changed["b"][6] += 1
    with pytest.raises(ValueError, match=r"Row 7 of homes\.csv is not the one that was labeled: "):
        session_of(tmp_path, changed)
    changed["b"][8] += 1
    with pytest.raises(ValueError, match=r"Row 7 .* nor are 1 others.* name another .* --labels"):
        session_of(tmp_path, changed)
    with pytest.raises(ValueError, match=r"60 rows, and homes\.csv has 50"):
        session_of(tmp_path, columns(50))
    assert not multiprocessing.active_children()


def test_threads_lose_nothing(session, monkeypatch):
    """Ten at once, as from ten tabs; a row that two were shown is answered by one of them."""
    monkeypatch.setattr(target_module, "_REFIT_AFTER", 1000)
    said, refused = [], []

    def work():
        for _ in range(6):
            card = session.next_card("size")
            try:
                said.append(say(session, card, 1.0 + card.row).entry.row)
            except ConflictError:
                refused.append(card.row)

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == len(set(said)) == session.state("size").labeled
    assert len(said) + len(refused) == 60
    labels = session._targets["size"].labels
    assert sorted(labels.rows) == sorted(said)
    assert_array_equal(labels.y, 1.0 + labels.rows)


# --- targets ----------------------------------------------------------------------------------------


def test_a_target_can_be_added_at_any_time(session):
    label(session, 11)
    session.add_target(LabelTarget("b", "regression"))  # so far an input
    assert [one.name for one in session.state("b").targets] == ["size", "kind", "b"]
    for target in ("size", "kind", "b"):
        assert [fact.name for fact in session.card(target, 4).facts] == ["a", "city"]
    assert session._candidates.inputs == ["a", "city"]
    assert session.state("b").labeled == N
    assert session.next_card("b") is None
    assert session.state("size").labeled == 11
    assert session.next_card("size").guess is not None
    session.add_target(LabelTarget("kind", "classification", ("vast",)))
    assert session.state("kind").targets[1].classes == ("big", "small", "vast")


def test_a_target_that_cannot_be_leaves_the_session_as_it_was(tmp_path, at_once):
    wrong = LabelTarget("city", "regression")
    message = "Column 'city' holds values of kind category, and a regression needs numbers"
    with session_of(tmp_path) as session:
        with pytest.raises(ValueError, match=message):
            session.add_target(wrong)
        with pytest.raises(ValueError, match="'size' is for regression"):
            session.add_target(LabelTarget("size", "classification"))
        assert session.targets() == (SIZE, KIND)
        label(session, 2)
    with pytest.raises(ValueError, match=message):
        session_of(tmp_path, targets=[wrong])
    with session_of(tmp_path) as session:
        assert session.state("size").labeled == 2


def test_targets_that_are_not_there_are_named(tmp_path, at_once):
    with session_of(tmp_path, targets=()) as session:
        with pytest.raises(ValueError, match=r"There is no target yet\. Add one"):
            session.state("")
        session.add_target(SIZE)
        assert session.state("").target == "size"
        with pytest.raises(ValueError, match=r"There is no target 'price'\. The targets are 'size'"):
            session.next_card("price")
        with pytest.raises(ValueError, match="There is no row 61: the table has 60 rows"):
            session.card("size", 60)


# --- the model --------------------------------------------------------------------------------------


def test_the_curve_appears_with_ten_labels(session, with_members):
    label(session, 9)
    state = session.state("size")
    assert (state.curve, state.promises, state.baseline) == ((), (), None)
    assert state.model == "no model yet: it needs 10 labels, of at least two values or classes"
    assert session.next_card("size").guess is None
    label(session, 6)
    state = session.state("size")
    assert [point.labels for point in state.curve][-1] == 15
    assert all(point.lower <= point.error <= point.upper for point in state.curve)
    assert state.baseline > 0
    assert all(promise.error <= state.curve[-1].error for promise in state.promises)
    assert [promise.more for promise in state.promises] == [5, 15]
    assert state.model == "learned from 15 labels"
    label(session, 1)
    assert session.state("size").model == "learned from 15 labels, and 1 since then"


def test_the_error_has_the_name_it_has_elsewhere_and_says_on_which_labels_it_is_estimated(
    session, with_members
):
    assert session.state("size").unit == "root mean squared error"
    assert session.state("kind").unit == "error rate"
    with_members(15)
    label(session, 25)
    fit = session._targets["size"].model.full_fit
    now = session.state("size").curve[-1]
    assert (now.error, now.lower, now.upper) == (fit.model.cv_error_, *fit.model.cv_error_interval_)
    assert told_error(fit.model).words().startswith(now.words)
    with_members(10)
    label(session, 10)
    n_suggested = int((session._targets["size"].labels.origin == "suggested").sum())
    assert n_suggested > 0
    assert (
        f"in its error {n_suggested} suggested or chosen rows stand for themselves"
        in session.state("size").model
    )


def test_the_error_is_that_of_the_whole_table(session, with_members):
    with_members(30)
    label(session, 40)
    state = session._targets["size"]
    fit, labels = state.model.full_fit, state._fitted
    probability = label_probabilities(labels.origin, N)
    found = forecast_error(fit.model, labels.X, labels.y, label_probability=probability)
    assert fit.forecast.curve == found.curve
    assert np.ptp(probability) > 0


def test_a_slip_that_was_learned_from_is_forgotten_at_once(session, with_members):
    label(session, 14)
    good = session.card("size", 3).guess
    card = session.next_card("size")
    say(session, card, 3.0)
    assert session.state("size").model == "learned from 15 labels"
    assert abs(session.card("size", 3).guess.value - good.value) > 0.03
    say(
        session, session.card("size", card.row), float(truth()[card.row])
    )  # corrected: as many as before
    assert session.card("size", 3).guess.value == pytest.approx(good.value, abs=0.01)
    label(session, 1)
    session.undo("size", "one")  # of which the full fit does not know
    assert session.state("size").model == "learned from 15 labels"
    session.undo("size", "two")  # which brings the slip back
    session.undo("size", "three")
    assert session.state("size").model == "learned from 14 labels"
    assert session.card("size", 3).guess.value == pytest.approx(good.value, abs=0.01)


def test_a_wild_slip_is_not_learned_from(session, with_members):
    label(session, 14)
    good = session.card("size", 3).guess
    say(session, session.next_card("size"), 1e6)
    assert session.state("size").model == "learned from 15 labels"
    assert session.card("size", 3).guess.value == pytest.approx(good.value, abs=0.01)


def test_one_class_alone_is_not_learned_from(session, with_members):
    for _ in range(12):
        say(session, session.next_card("kind"), "big", "kind")
    assert session.state("kind").model.startswith("no model yet: it needs 10 labels, of at least two")
    assert session.next_card("kind").guess is None
    say(session, session.next_card("kind"), "small", "kind")
    guess = session.next_card("kind").guess
    assert {one.name for one in guess.probabilities} == {"big", "small"}
    assert sum(one.probability for one in guess.probabilities) == pytest.approx(1)
    assert guess.value == guess.probabilities[0].name
    say(
        session, session.next_card("kind"), "huge", "kind"
    )  # a class of which the full fit knew nothing
    assert {one.name for one in session.next_card("kind").guess.probabilities} == {
        "big",
        "small",
        "huge",
    }


def test_a_label_counts_at_once(session, with_members):
    with_members(10)
    label(session, 20)
    with_members(1000)
    card = session.next_card("size")
    say(session, card, card.guess.value + 10)
    again = session.card("size", card.row).guess
    assert again.value > card.guess.value + 1
    # Until the next full fit the interval reaches from where it was to where it would be now.
    assert again.lower == pytest.approx(card.guess.lower)
    assert again.upper == pytest.approx(card.guess.upper + again.value - card.guess.value)
    session.undo("size", "a key")
    assert session.card("size", card.row).guess.value == pytest.approx(card.guess.value)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("typed", [1e150, 1e200, 1.7e308])
def test_a_label_that_is_far_too_large_can_be_taken_back(typed, tmp_path):
    """With the fit to the others, and with a fit of its own; JSON has no infinity."""
    with session_of(tmp_path) as session:
        label(session, 12)
        wait_for(lambda: session.state("size").curve)
        guess = session.card("size", 3).guess
        say(session, session.next_card("size"), typed)
        as_json(session)
        label(session, 2)
        wait_for(lambda: "full fit" not in session.state("size").model)
        as_json(session)
        for i in range(3):
            session.undo("size", f"key {i}")
        as_json(session)
        assert session.state("size").labeled == 12
        wait_for(lambda: session.state("size").model == "learned from 12 labels")
        assert session.card("size", 3).guess.value == pytest.approx(guess.value, abs=1)


def as_json(session):
    shown = [session.state("size"), session.card("size", 3), *session.batch("size", 3)]
    return json.dumps(shown, default=vars, allow_nan=False)


def test_neighbours_are_labeled_rows_and_never_the_row_itself(session):
    label(session, 12)
    labels = session._targets["size"].labels
    for row in (*labels.rows[:3], session.next_card("size").row):
        near = session.card("size", int(row)).neighbours
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
    with session_of(tmp_path, table) as session:
        cards = label(session, 15)
        assert sorted(card.row for card in cards) == list(range(15))
        assert {(card.origin, card.guess, card.neighbours) for card in cards} == {("random", None, ())}
        assert session.next_card("size") is None
        state = session.state("size")
        assert state.model.startswith("no model: No input column")
        assert state.curve == ()


def test_hostile_names_are_names(tmp_path, at_once):
    names = [name.replace("\0", "") for name in HOSTILE]
    table = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate(names[2:])}
    table[names[4]] = [names[i % 3] for i in range(30)]
    target = LabelTarget(names[0], "classification", tuple(names[1:3]))
    with session_of(tmp_path, table, [target], name="../../'; DROP TABLE events; --.csv") as session:
        for i in range(12):
            say(session, session.next_card(names[0]), names[1 + i % 2], names[0])
        card = session.next_card(names[0])
        assert [fact.name for fact in card.facts] == names[2:]
        assert {one.name for one in card.guess.probabilities} == set(names[1:3])
        name, out = session.export("parquet")
        assert name == "'; DROP TABLE events; --.labeled.parquet"
        assert read(out).dataset.to_table()[names[0]].null_count == 18
    with session_of(tmp_path, table, [target], name="../../'; DROP TABLE events; --.csv") as session:
        assert session.state("").labeled == 12


# --- search, export, import -------------------------------------------------------------------------


def test_search_tells_what_was_said(own, tmp_path, at_once):
    with session_of(tmp_path, own) as session:
        say(session, session.card("size", 6), 1.5)
        say(session, session.card("size", 7), answer="unsure")
        found = {one.row: (one.answer, one.value) for one in session.search("size", "rom", 99)}
        assert set(found) == {i for i, city in enumerate(own["city"]) if city == "Rom"}
        by_number = [session.search("size", f"#{i + 1}")[0] for i in (5, 6, 7, 8)]
        assert [(one.row, one.answer) for one in by_number] == [
            (5, "label"), (6, "label"), (7, "unsure"), (8, None),
        ]  # fmt: skip
        assert [one.value for one in by_number] == [truth()[5], 1.5, None, None]
        assert by_number[0].words.startswith("a ")


def test_what_is_exported_can_be_imported(tmp_path, at_once):
    with session_of(tmp_path) as session, session_of(tmp_path, labels="other") as other:
        label(session, 6)
        say(session, session.next_card("size"), answer="skip")
        name, out = session.export("labels.csv")
        assert name == "homes.labels.csv"
        done = other.import_labels("size", name, out.read_bytes())
        assert (done.added, done.unchanged, done.conflicts) == (7, 0, 0)
        mine, theirs = (one._targets["size"].labels for one in (session, other))
        for one, same in zip(mine, theirs, strict=True):
            assert_array_equal(one, same)
        assert other.state("size").skipped == 1
        assert other.import_labels("size", name, out.read_bytes()).added == 0
        for form in ("csv", "parquet"):
            name, out = session.export(form)
            assert name == f"homes.labeled.{form}"
            sizes = read(out).dataset.to_table()["size"].to_pylist()
            assert {i: size for i, size in enumerate(sizes) if size is not None} == dict(
                zip(mine.rows.tolist(), mine.y.tolist(), strict=True)
            )


def test_an_import_is_learned_from(session):
    lines = [f"{row + 1},size,label,{size}" for row, size in enumerate(truth()[:15])]
    content = "\n".join(["row,target,answer,value", *lines]).encode()
    assert session.import_labels("size", "more.csv", content).added == 15
    assert session.state("size").curve
    assert session.next_card("size").guess is not None


# --- the process in the background ------------------------------------------------------------------


def test_a_fit_is_made_in_the_fitting_process_and_nothing_is_left_behind(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with session_of(tmp_path) as session:
        label(session, 12)
        (child,) = multiprocessing.active_children()
        wait_for(lambda: session.state("size").curve)
        assert session.state("size").model.startswith("learned from 10 labels")
        session.export("csv")
        session.export("csv")
    assert not multiprocessing.active_children()
    assert not child.is_alive()
    assert not list(temporary.iterdir())


def test_a_fitting_process_that_is_killed_is_told_and_replaced(tmp_path):
    with session_of(tmp_path) as session:
        (child,) = multiprocessing.active_children()
        child.kill()
        child.join()
        label(session, 10)  # which are on the disk, whatever becomes of the fit
        (second,) = multiprocessing.active_children()
        second.kill()
        wait_for(lambda: "too little memory" in session.state("size").model)
        assert session.state("size").labeled == 10
        label(session, 5)
        wait_for(lambda: session.state("size").curve)
    assert not multiprocessing.active_children()


FITTING = """
import sys
import numpy as np
from twinviews.labeling.fitting_process import FitJob, FittingProcess
from twinviews.labeling.live_model import RowLabels

X = np.random.default_rng(0).normal(size=(20_000, 60))
fitting = FittingProcess(X, lambda *_: print("done", flush=True))
labels = RowLabels(np.arange(2000), X[:2000], X[:2000, 0], np.full(2000, "random", object))
fitting.request(FitJob("y", "regression", labels, 20_000, 0))
print("requested", flush=True)
input()
"""


def test_a_fit_ends_in_the_middle_when_its_session_is_killed():
    command = [sys.executable, "-c", FITTING]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdout.readline() == b"requested\n"
        time.sleep(2)
        process.kill()
        # The process in the background has the same output, which ends when both are gone.
        assert process.communicate(timeout=20) == (b"", None)


def test_every_export_works_after_the_one_before_was_sent_and_deleted(session):
    label(session, 3)
    for form in ("csv", "parquet", "labels.csv", "csv"):
        _, out = session.export(form)
        assert out.stat().st_size > 0
        out.unlink()  # as the server does
        out.parent.rmdir()


def test_labels_from_elsewhere_count_as_those_of_rows_drawn_at_random(session):
    label(session, 30)
    labels = session._targets["size"].labels
    assert labels.sampled.tolist() == labels.random.tolist()
    words = ["random", "imported", "suggested", "chosen"] * 5
    mixed = labels._replace(origin=np.array(words, dtype=object))
    assert mixed.sampled.tolist() == [True, True, False, False] * 5


def test_the_rule_random_draws_at_random(tmp_path, at_once):
    table = pa.table(columns())
    reading = Reading("homes.csv", ds.dataset(table), (), table.num_rows)
    with LabelingSession(reading, "homes.csv", tmp_path / "l", [SIZE], rule="random") as session:
        cards = label(session, 35)
    assert {(card.origin, card.reason) for card in cards} == {("random", "drawn at random")}


def test_a_row_that_is_corrected_stays_what_it_was_drawn_as(session):
    card = session.next_card("size")
    say(session, card, 1.0)
    assert session.card("size", card.row).origin == card.origin == "random"
