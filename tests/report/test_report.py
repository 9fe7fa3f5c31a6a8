"""The report: nothing is judged by labels the model has seen, and the page says what was measured."""

import os
import re
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyRegressor

from report_tables import (
    HOSTILE,
    PlainEncoder,
    classes_table,
    classifier,
    hostile_table,
    numbers_table,
    regressor,
)
from twinviews import KRRRegressor, XNVRegressor
from twinviews._system.visible_text import visible
from twinviews.evaluation.told_error import told_error
from twinviews.report import gather, write_report
from twinviews.report import rows as report_rows
from twinviews.report import sentences as words
from twinviews.report.page import render

FEW = 40


@pytest.fixture(scope="module", autouse=True)
def one_split_for_small_tables():
    """So that both ways of hiding labels are tried on tables that take no time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("twinviews.report.trial.FEW_LABELS", FEW)
        yield


@pytest.fixture(scope="module")
def numbers():
    return gather(numbers_table(), "y", "regression", PlainEncoder(), regressor())


@pytest.fixture(scope="module")
def classes():
    return gather(classes_table(), "y", "classification", PlainEncoder(), classifier())


def encoded(table):
    inputs = table.drop_columns(["y"])
    return PlainEncoder().fit(inputs).transform(inputs)


# --- hidden labels -----------------------------------------------------------------------------------


def test_hidden_labels_are_hidden(numbers):
    table = numbers_table()
    y = table["y"].to_numpy().copy()
    held_out = numbers.outcome.held_out
    assert_array_equal(held_out.truth, y[held_out.number - 1])
    y[held_out.number - 1] = 1e6 + np.arange(len(held_out.number))
    other = table.set_column(table.num_columns - 1, "y", pa.array(y, from_pandas=True))
    again = gather(other, "y", "regression", PlainEncoder(), regressor()).outcome
    assert_array_equal(again.held_out.number, held_out.number)
    assert_array_equal(again.held_out.predicted, held_out.predicted)
    assert_array_equal(again.held_out.intervals, held_out.intervals)
    assert again.error.value > 1e5


def test_all_methods_are_judged_on_the_same_rows_with_the_same_labels(numbers):
    table, outcome = numbers_table(), numbers.outcome
    X, y = encoded(table), table["y"].to_numpy()
    test = outcome.held_out.number - 1
    train = np.setdiff1d(np.flatnonzero(~np.isnan(y)), test)
    assert (len(train), len(test)) == (outcome.n_train, outcome.n_test) == (60, 20)
    models = {
        "kernel ridge": KRRRegressor(scale="standard").fit(X[train], y[train]),
        "guessing the mean": DummyRegressor().fit(X[train], y[train]),
        "this model, without unlabeled rows": regressor().fit(X[train], y[train]),
    }
    found = {rival.name: rival for rival in (*outcome.baselines, outcome.alone)}
    for name, model in models.items():
        error = np.sqrt(np.mean(np.square(model.predict(X[test]) - y[test])))
        assert_allclose(found[name].error.value, error, rtol=1e-9)
        assert_allclose(found[name].difference.value, error - outcome.error.value, rtol=1e-6)
    ours = regressor().fit(X[train], y[train], X_unlabeled=X[np.isnan(y)])
    assert_allclose(outcome.held_out.predicted, ours.predict(X[test]), rtol=1e-9)
    assert_allclose(outcome.error.value, np.sqrt(np.mean(np.square(outcome.held_out.residuals))))


def test_of_few_labels_each_is_judged_once():
    table = numbers_table(n=30)
    outcome = gather(table, "y", "regression", PlainEncoder(), regressor()).outcome
    assert (outcome.n_folds, outcome.n_test, outcome.n_train) == (5, 30, 24)
    assert_array_equal(np.sort(outcome.held_out.number), np.arange(1, 31))


def test_on_shuffled_labels_nothing_beats_the_constant():
    for make, task, estimator in (
        (numbers_table, "regression", regressor()),
        (classes_table, "classification", classifier()),
    ):
        table = make(n=200)
        labels = np.array(table["y"].to_pylist()[:200], dtype=object)
        shuffled = np.random.default_rng(1).permutation(labels)
        y = pa.array([*shuffled, *[None] * 100], table["y"].type)
        table = table.set_column(table.num_columns - 1, "y", y)
        evidence = gather(table, "y", task, PlainEncoder(), estimator)
        assert evidence.outcome.baselines[-1].verdict != "better"
        assert words.answers(evidence)[2].short != "Yes"


def test_a_good_model_beats_the_constant(numbers, classes):
    for evidence in (numbers, classes):
        assert evidence.outcome.baselines[-1].verdict == "better"


# --- the error to expect ----------------------------------------------------------------------------


def test_the_error_to_expect_is_that_of_the_model_that_was_given(numbers):
    table = numbers_table()
    known = ~np.isnan(table["y"].to_numpy())
    fitted = regressor().fit_table(table, target="y", encode=True)
    evidence = gather(table, "y", "regression", None, fitted)
    assert evidence.model is fitted
    assert evidence.told == told_error(fitted)
    assert [column.name for column in evidence.rows.columns] == [one.name for one in fitted.columns_]
    numbers = fitted.predict(table.filter(pa.array(~known)), return_std=True)[1]
    assert_allclose(evidence.uncertain[0].uncertainty, numbers.max())


def test_classes_of_a_model_that_was_given_are_found_among_its_own():
    """Also where the rows of the report are a sample without some class."""
    table = classes_table()
    fitted = classifier().fit_table(table, target="y", encode=True)
    without = table.filter(pc.or_kleene(pc.is_null(table["y"]), pc.not_equal(table["y"], "low")))
    evidence = gather(without, "y", "classification", None, fitted)
    assert evidence.rows.classes == ("high", "middle")
    said = fitted.predict(table.filter(pc.is_null(table["y"]))).tolist()
    assert {row.prediction for row in evidence.uncertain} <= set(said)
    for one in evidence.dependence:
        assert one.curves.shape == (len(one.values), 2)
        assert (one.curves.sum(axis=1) < 1).all()


@pytest.mark.parametrize("n", [12, 30, 80])
def test_the_first_answers_and_the_section_tell_the_error_of_the_model(n):
    for make, task, estimator in (
        (numbers_table, "regression", regressor()),
        (classes_table, "classification", classifier()),
    ):
        evidence = gather(make(n=n), "y", task, PlainEncoder(), estimator)
        told, (good, certain, *_) = evidence.told, words.answers(evidence)
        page = Page(render(evidence))
        assert f"Error to expect: {told.words()}." in page.text
        assert told.short() in f"{good.short} {good.sentence}"
        if told.too_few_labels and told.interval():
            assert certain.short == "Too few labels for one number"
        elif told.interval():
            assert certain.short == told.interval()
        for other in told.others_in_words() if told.interval() else []:
            assert other in good.sentence


# --- looking into the model --------------------------------------------------------------------------


def test_what_the_target_depends_on_comes_first_and_noise_is_within_its_spread_of_zero(
    numbers, classes
):
    for evidence in (numbers, classes):
        found = {column.name: column.growth for column in evidence.importance.columns}
        assert [column.name for column in evidence.importance.columns[:2]] == ["strong", "group"]
        assert found["strong"].low > 0
        for name in ("noise", "day"):
            assert found[name].low <= 0 <= found[name].high


def test_partial_dependence_finds_slopes_and_steps_of_the_target(numbers):
    curve = next(one for one in numbers.dependence if one.name == "strong")
    slope = np.polyfit(curve.at, curve.curves[:, 0], 1)[0]
    assert_allclose(slope, 20, rtol=0.1)
    level = next(one for one in numbers.dependence if one.name == "group")
    assert level.at is None
    by_level = dict(zip(level.values, level.curves[:, 0], strict=True))
    assert_allclose(by_level["b"] - by_level["a"], 20, rtol=0.2)
    day = next(one for one in numbers.dependence if one.name == "day")
    assert list(day.values) == sorted(day.values)
    assert isinstance(day.values[0], date)


def test_probabilities_of_a_partial_dependence_sum_to_one(classes):
    for one in classes.dependence:
        assert_allclose(one.curves.sum(axis=1), 1)


def test_uncertain_rows_are_unlabeled_and_show_their_raw_values(numbers, classes):
    for evidence, table in ((numbers, numbers_table()), (classes, classes_table())):
        uncertainties = [row.uncertainty for row in evidence.uncertain]
        assert uncertainties == sorted(uncertainties, reverse=True)
        for row in evidence.uncertain:
            (raw,) = table.slice(row.number - 1, 1).to_pylist()
            assert raw.pop("y") is None
            assert row.values == raw


def test_counts_of_classes_add_up(classes):
    held_out = classes.outcome.held_out
    confusion = held_out.confusion()
    assert confusion.sum() == classes.outcome.n_test
    wrong = confusion.sum() - np.trace(confusion)
    assert_allclose(classes.outcome.error.value, wrong / confusion.sum())
    bins = held_out.reliability()
    gaps = [one.n_rows * abs(one.confidence - one.accuracy.value) for one in bins]
    assert_allclose(held_out.calibration_error, sum(gaps) / classes.outcome.n_test)


def test_wider_intervals_hold_more_rows(numbers):
    coverage = numbers.outcome.held_out.coverage()
    assert (np.diff([one.inside.value for one in coverage]) >= 0).all()
    assert (np.diff([one.width for one in coverage]) > 0).all()


def test_the_metric_of_a_committee_is_shared_among_raw_columns():
    model = XNVRegressor(n_components=20, random_state=0)
    evidence = gather(numbers_table(n=40, N=100), "y", "regression", PlainEncoder(), model)
    shares = {column.name: column.metric for column in evidence.importance.columns}
    assert_allclose(sum(shares.values()), 1)
    assert max(shares, key=shares.get) == "strong"
    members = evidence.model.committee_
    assert members == sorted(members, key=lambda member: -member[1])
    assert f"of {len(members)} ensemble members" in render(evidence)


# --- tables of all kinds -----------------------------------------------------------------------------


def test_a_table_without_unlabeled_rows_says_so(tmp_path):
    evidence = gather(numbers_table(n=60, N=60), "y", "regression", PlainEncoder(), regressor())
    assert evidence.outcome.alone is None
    assert evidence.uncertain == ()
    assert "Every row of the table has a label." in render(evidence)


def test_a_model_that_needs_more_rows_than_labels_says_why():
    model = regressor().set_params(n_components=100)
    evidence = gather(numbers_table(), "y", "regression", PlainEncoder(), model)
    assert evidence.outcome.alone is None
    assert "n_components=100" in evidence.outcome.why_not_alone
    assert "n_components=100" in render(evidence)


def test_of_a_large_table_a_part_is_used_and_said(monkeypatch):
    monkeypatch.setattr(report_rows, "MOST_UNLABELED", 50)
    monkeypatch.setattr(report_rows, "MOST_LABELED", 64)
    evidence = gather(numbers_table(), "y", "regression", PlainEncoder(), regressor())
    assert (evidence.rows.n_labeled_used, evidence.rows.n_unlabeled_used) == (64, 50)
    part = "64 of the 80 labeled rows and 50 of the 220 rows without a label"
    assert f"this report uses {part}, drawn at random." in render(evidence)


def test_a_target_that_never_varies_is_reported_as_it_is():
    table = numbers_table()
    same = table.set_column(4, "y", pa.array([7.0] * 80 + [None] * 220))
    evidence = gather(same, "y", "regression", PlainEncoder(), regressor())
    assert evidence.outcome.error.value < 1e-9
    assert evidence.told.error.value < 1e-9
    words = "The root mean squared error to expect is unknown, as all labels are the same."
    assert words in render(evidence)


@pytest.mark.parametrize("kind", ["string", "dictionary", "int", "bool", "float"])
def test_classes_of_any_type_are_the_same_report(kind):
    table = classes_table()
    labels = [label if label != "middle" else "high" for label in table["y"].to_pylist()]
    code = {"low": 1, "high": 0, None: None}
    made = {
        "string": lambda: pa.array(labels),
        "dictionary": lambda: pa.array(labels).dictionary_encode(),
        "int": lambda: pa.array([code[label] for label in labels]),
        "bool": lambda: pa.array([code[label] for label in labels]).cast(pa.bool_()),
        "float": lambda: pa.array(
            [np.nan if label is None else float(code[label]) for label in labels], from_pandas=False
        ),
    }
    known = report_rows.read_labels(table.set_column(4, "y", made[kind]()), "y", "classification")
    plain = np.array([0 if label == "high" else 1 for label in labels[:80]])
    assert_array_equal(known.values, plain)
    assert_array_equal(np.flatnonzero(known.known), np.arange(80))
    assert len(known.classes) == 2


def test_the_missing_label_of_the_estimator_is_no_label():
    table = numbers_table()
    marked = np.nan_to_num(table["y"].to_numpy(), nan=-1.0)
    model = regressor().set_params(missing_label=-1)
    other = table.set_column(4, "y", pa.array(marked))
    evidence = gather(other, "y", "regression", PlainEncoder(), model)
    assert evidence.rows.n_labeled == 80
    classes = report_rows.read_labels(classes_table(), "y", "classification", "low")
    assert classes.classes == ("high", "middle")


@pytest.mark.parametrize(
    ("table", "target", "task", "message"),
    [
        (numbers_table(), "z", "regression", "There is no column 'z'. The table has noise, strong"),
        (numbers_table(n=9), "y", "regression", "'y' has 9 labels.*needs at least 10"),
        (classes_table(), "y", "regression", "'y' is of type string.*task=\"classification\""),
        (
            pa.table({"x": range(20), "y": ["same"] * 20}),
            "y",
            "classification",
            "Every label in column 'y' is 'same'",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(table, target, task, message):
    with pytest.raises(ValueError, match=message):
        gather(table, target, task, PlainEncoder(), regressor())


# --- the page ----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Tags, attributes, tables by caption, and all text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.tables, self.text = [], [], {}, ""
        self._caption = self._cell = None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "caption":
            self._caption = ""
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag == "caption":
            self._rows, self._caption = self.tables.setdefault(self._caption, []), None
        elif tag in ("td", "th"):
            self._row.append(self._cell)
            self._cell = None
        elif tag == "tr":
            self._rows.append(self._row)

    def handle_data(self, data):
        self.text += data
        if self._caption is not None:
            self._caption += data
        elif self._cell is not None:
            self._cell += data


def test_numbers_of_the_page_are_those_of_the_evidence(numbers, classes):
    for evidence in (numbers, classes):
        page = Page(render(evidence))
        outcome = evidence.outcome
        title = "How much larger the error of other methods is, with 95% intervals"
        *others, ours = page.tables[title][1:]
        rivals = [*outcome.baselines, outcome.alone]
        assert [row[0] for row in others] == [rival.name for rival in rivals]
        for row, rival in zip(others, rivals, strict=True):
            assert row[1:3] == list(words.gain(evidence, rival))
            assert row[3] == words.error(evidence, rival.error.value)
        assert ours[:1] + ours[3:4] == ["this model", words.error(evidence, outcome.error.value)]
        assert [answer.short in page.text for answer in words.answers(evidence)] == [True] * 4
    confusion = page.tables[f"Confusion matrix of {classes.outcome.n_test} hidden rows"][1:]
    counts = [[int(cell) for cell in row[1:-1]] for row in confusion]
    assert_array_equal(counts, classes.outcome.held_out.confusion())


def test_every_figure_has_words_and_numbers(numbers, classes):
    for evidence in (numbers, classes):
        page = Page(render(evidence))
        labels = [value for name, value in page.attributes if name == "aria-label"]
        assert page.tags.count("figure") == page.tags.count("figcaption") > 7
        assert all(labels)
        assert page.tags.count("details") == page.tags.count("figure") + 1  # parameters
        assert page.tags.count("table") == page.tags.count("caption")


@pytest.fixture(scope="module")
def hostile():
    return gather(hostile_table(), HOSTILE[0], "classification", PlainEncoder(), classifier())


def test_hostile_words_are_shown_and_not_obeyed(hostile):
    html = render(hostile)
    page = Page(html)
    assert {"script", "img", "b", "iframe", "link"}.isdisjoint(page.tags)
    assert not [
        name for name, _ in page.attributes if name.startswith("on") or name in ("style", "src")
    ]
    for word in HOSTILE:
        assert visible(word) in page.text
    assert page.tables["Columns and what was done with them"][2][0] == HOSTILE[3]
    assert "\u202e" not in html
    assert re.search("default-src 'none'; style-src 'sha256-[^']+'", html)


@given(text=st.text(st.characters(exclude_categories=())))
@settings(max_examples=200, deadline=None)
def test_text_is_spelled_out_where_it_would_hide(text):
    shown = visible(text)
    assert "\n" not in shown
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    shown.encode("utf-8")
    if text.isprintable():
        assert visible(text) == text


@given(amount=st.floats(-1e300, 1e300))
@settings(max_examples=300, deadline=None)
def test_short_numbers_are_right_to_three_digits(amount):
    shown = words.number(amount).replace(",", "").replace("−", "-")
    assert_allclose(float(shown), amount, rtol=0.0051)


def test_the_same_seed_writes_the_same_page(numbers, tmp_path):
    again = gather(numbers_table(), "y", "regression", PlainEncoder(), regressor())
    one, other = write_report(tmp_path / "a.html", numbers), write_report(tmp_path / "b.html", again)
    assert one.read_bytes() == other.read_bytes()


def test_a_page_is_written_whole_or_not_at_all(numbers, tmp_path, monkeypatch):
    path = write_report(tmp_path / "page.html", numbers)
    before = path.read_bytes()

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_report(path, numbers)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["page.html"]
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere\. Make it"):
        write_report(tmp_path / "nowhere" / "page.html", numbers)
