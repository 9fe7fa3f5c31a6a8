"""What does not matter to a check: order, type, unit, names; and what a finding must hold."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from twinviews.data_checks import (
    DataWarning,
    check_classes,
    check_inputs,
    check_numbers,
    check_text,
    warn_of,
)
from twinviews.data_checks.class_order import order_of_words
from twinviews.data_checks.count_target import not_whole
from twinviews.data_checks.text_target import BLANK_WORDS
from twinviews.reading.spellings import USUAL

HONEST = np.random.default_rng(3).normal(20, 2, 60)
FAR = np.r_[HONEST, 5e5]
TOTAL = np.r_[HONEST, HONEST.sum()]
MARKED = np.r_[HONEST, np.full(30, -999.0)]
TARGETS = {"honest": HONEST, "far": FAR, "total": TOTAL, "marked": MARKED}
few = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def checks(findings):
    return [one.check for one in findings]


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
@few
@given(seed=seeds)
def test_order_of_the_labels_matters_to_places_only(y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    rows = np.arange(1, len(y) + 1)
    assert checks(check_numbers(y[order], rows[order])) == checks(check_numbers(y, rows))
    if y is not MARKED:  # of several equal marks the first is named
        assert check_numbers(y[order], rows[order]) == check_numbers(y, rows)


@few
@given(seed=seeds, unlabeled=st.integers(0, 50))
def test_rows_without_a_label_move_places_and_nothing_else(seed, unlabeled):
    random = np.random.default_rng(seed)
    sparse = np.full(len(FAR) + unlabeled, np.nan)
    places = np.sort(random.choice(len(sparse), len(FAR), replace=False))
    sparse[places] = FAR
    [found], [plain] = check_numbers(sparse), check_numbers(FAR)
    assert found.message == plain.message.replace(f"y[{len(FAR) - 1}]", f"y[{places[-1]}]")


@pytest.mark.parametrize("y", [HONEST, FAR], ids=["honest", "far"])
@few
@given(shift=st.floats(-1e4, 1e4), scale=st.floats(1e-3, 1e3), sign=st.sampled_from([-1, 1]))
def test_far_labels_know_neither_unit_nor_origin(y, shift, scale, sign):
    assert checks(check_numbers(sign * scale * y + shift)) == checks(check_numbers(y))


@few
@given(scale=st.floats(1e-3, 1e3), sign=st.sampled_from([-1, 1]))
def test_a_total_and_a_zero_know_no_unit(scale, sign):
    zeros = np.r_[HONEST, np.zeros(100)]
    for y in (TOTAL, zeros):
        assert checks(check_numbers(sign * scale * y)) == checks(check_numbers(y)) != []


@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.float32, np.float64, object])
def test_the_type_of_numbers_does_not_matter(dtype):
    marked = np.r_[np.arange(40, 100), np.full(30, -999)]
    assert check_numbers(marked.astype(dtype)) == check_numbers(marked)
    classes = np.r_[np.arange(40) % 2, np.full(60, -1)]
    assert check_classes(classes.astype(dtype)) == check_classes(classes)


@pytest.mark.parametrize("container", [np.array, list, lambda names: np.array(names, object)])
def test_the_type_of_names_does_not_matter(container):
    names = ["one", "One", "two", "nan"] * 10
    assert check_classes(container(names)) == check_classes(np.array(names, object))


@few
@given(seed=seeds)
def test_order_of_classes_matters_to_places_only(seed):
    names = np.array(["One ", "one", "ONE", "two"] * 10, object)
    shuffled = np.random.default_rng(seed).permutation(names)
    assert check_classes(shuffled) == check_classes(names)


def table(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4))
    y = X[:, 0] + random.normal(size=60)
    X[:, 2] = np.exp(y)
    X[::5, 3] = -999
    return X, y, random


@few
@given(seed=seeds, classes=st.booleans())
def test_order_of_rows_and_columns_does_not_matter(seed, classes):
    X, y, random = table(seed)
    y = y > np.median(y) if classes else y
    rows, columns = random.permutation(60), random.permutation(4)
    names = np.array([*"abcd"])
    found = check_inputs(X, y, names, classes=classes)
    assert found == check_inputs(X[rows][:, columns], y[rows], names[columns], classes=classes)


@pytest.mark.parametrize("classes", [False, True])
def test_two_columns_may_be_strange_in_two_ways(classes):
    X, y, _ = table(0)
    marked, answer = check_inputs(X, y > 0 if classes else y, "abcd", classes=classes)
    assert "'d' is -999 in 12 of 60" in marked.message
    assert "Column 'c' alone" in answer.message


@few
@given(seed=seeds)
def test_no_monotone_change_of_column_or_target_hides_the_answer(seed):
    X, y, _ = table(seed)
    plain = check_inputs(X, y, "abcd", classes=False)
    X[:, 2] = -(np.log(X[:, 2]) ** 3)
    assert check_inputs(X, np.exp(y), "abcd", classes=False) == plain


@few
@given(seed=seeds)
def test_names_of_classes_do_not_matter_to_columns(seed):
    X, y, _ = table(seed)
    classes = np.digitize(y, [-0.5, 0.5])
    words = np.array(["low", "between", "high"], object)[classes]
    assert check_inputs(X, words, "abcd", classes=True) == check_inputs(
        X, classes, "abcd", classes=True
    )


@few
@given(
    y=arrays(np.float64, st.integers(0, 60), elements=st.floats(-1e100, 1e100) | st.just(np.nan)),
    rows=st.booleans(),
)
@example(y=np.array([2, -9.3e18, 0, 1]), rows=False)  # a difference that no integer of 64 bits holds
@example(y=np.array([2.6e7] + [1.5e-301] * 19), rows=False)  # a ratio beyond all numbers
def test_any_numbers_are_judged_without_an_error(y, rows):
    check_numbers(y, np.arange(len(y)) if rows else None)
    check_inputs(np.c_[y, y[::-1]], np.arange(len(y)), "ab", classes=False)


@few
@given(
    st.lists(st.none() | st.text(max_size=8) | st.floats().map(str) | st.sampled_from(["<1", "2.5"]))
)
def test_any_texts_are_judged_without_an_error(texts):
    check_text(texts)
    for found in check_classes(np.array([*texts, None], object)):
        assert found.message.isprintable()


@few
@given(
    st.lists(st.none() | st.integers() | st.booleans() | st.floats(allow_infinity=False), max_size=30)
)
def test_any_labels_are_judged_without_an_error(labels):
    check_classes(np.array([*labels, None], object))


FOUND = [
    *check_numbers(MARKED),
    *check_numbers(FAR),
    *check_numbers(TOTAL),
    *check_numbers(np.arange(60) % 5),
    *check_classes(np.array([0, 1, -1, -1, -1] * 5)),
    *check_classes(np.array(["one", "One", "nan"] * 9)),
    *check_classes(np.arange(60) % 5),
    *check_classes(np.arange(3)),
    *check_text([*map(str, HONEST), "<15"]),
    *check_numbers(np.random.default_rng(0).permutation(60) % 30),
    not_whole(np.array([1.0, 2.5])),
    *order_of_words(np.array(["bad", "fair", "good"])),
    *check_inputs(*table(0)[:2], "abcd", classes=False),
]


@pytest.mark.parametrize("finding", FOUND, ids=[one.check for one in FOUND])
def test_a_finding_has_sentences_and_a_remedy_for_each_user(finding):
    for text in (finding.message, finding.remedy_python, finding.remedy_command_line):
        assert text.endswith((".", "'coerce')."))
        assert "  " not in text
    assert "--" not in finding.remedy_python
    assert "missing_label" not in finding.remedy_command_line
    assert not (finding.stops and finding.command_line_only)
    if finding.stops:
        assert "--task" in finding.remedy_command_line


def test_all_checks_are_tried_above():
    assert {one.check for one in FOUND} == {
        "blank mark",
        "far label",
        "ratings",
        "counts",
        "counts that are not whole",
        "order of the alphabet",
        "unlabeled class",
        "two spellings",
        "text among numbers",
        "blank mark in a column",
        "gives the answer away",
    }


def test_only_what_changes_the_task_stops_the_command_line():
    minority, majority = np.r_[HONEST, [-999] * 9], np.r_[HONEST, [-999] * 90]
    assert [one.stops for one in check_numbers(minority)] == [False]
    assert [one.stops for one in check_numbers(majority)] == [True]
    assert [one.stops for one in check_numbers(FAR)] == [False]

    one_class, few_codes = np.array([0, 1, -1, -1] * 10), np.r_[np.arange(60) % 3, 99, 99]
    assert [one.stops for one in check_classes(one_class)] == [True]
    assert [one.stops for one in check_classes(few_codes)] == [False]


def test_what_the_user_names_as_missing_is_no_finding():
    assert check_numbers(MARKED, missing_label=-999) == check_numbers(HONEST) == []
    classes = np.array([0, 1, -1, -1] * 10)
    assert check_classes(classes, missing_label=-1) == []
    words = np.array([*map(str, HONEST), "tbd", "nan"], object)
    assert [one.check for one in check_classes(words, missing_label="nan")] == ["text among numbers"]
    asked = [one.check for one in check_classes(words, missing_label="tbd")]
    assert asked == ["unlabeled class", "a class for each label"]


def test_warnings_are_of_their_own_class_and_point_at_the_user():
    with pytest.warns(DataWarning, match=r"30 of 90 labels are -999 .* missing_label=-999") as caught:
        warn_of(check_numbers(MARKED))
    assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warn_of(check_numbers(MARKED))


@pytest.mark.parametrize("top", [4, 5, 10])
def test_ratings_are_a_remark_for_the_command_line_that_says_how_they_are_taken(top):
    labels = np.arange(100) % top + 1
    [of_numbers], [of_classes] = check_numbers(labels), check_classes(labels)
    assert of_numbers.command_line_only
    assert of_classes.command_line_only
    assert f"{top} whole numbers from 1 to {top}, taken as numbers" in of_numbers.message
    assert "taken as classes" in of_classes.message
    assert "--task classification" in of_numbers.remedy_command_line
    assert "--task regression" in of_classes.remedy_command_line
    warn_of([of_numbers, of_classes])  # an error, if they were warned of


def test_words_for_blanks_are_those_of_reading():
    assert frozenset(USUAL) == BLANK_WORDS


def test_a_warning_travels_between_processes():
    with pytest.warns(DataWarning) as caught:
        warn_of(check_numbers(FAR))
    warning = caught[0].message
    assert warning.finding.check == "far label"
    again = pickle.loads(pickle.dumps(warning))
    assert str(again) == str(warning)


@pytest.mark.parametrize("large", [np.iinfo(np.int64).max, 2**53 + 1])
def test_classes_that_no_float_holds(large):
    codes = np.random.default_rng(0).integers(0, 6, 60)
    codes[:9] = large
    assert "unlabeled class" in checks(check_classes(codes))
