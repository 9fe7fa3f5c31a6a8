"""Questions about data that a fit asks in Python."""

import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from twinviews import DataWarning, KRRClassifier, KRRRegressor, XNVClassifier, XNVRegressor
from twinviews.plots import LabelCurveDisplay
from twinviews.tables.arrow import ArrowTable

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=80)


def questions_of(action):
    """What is asked on the way; filters of the tests do not hide any."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        action()
    return [str(one.message) for one in caught if issubclass(one.category, DataWarning)]


def asked(model, *arguments, **options):
    return questions_of(lambda: model.fit(*arguments, **options))


def test_a_clean_table_is_not_asked_about():
    assert asked(KRRRegressor(), X, np.where(np.arange(80) < 60, Y, np.nan)) == []
    assert asked(KRRClassifier(), X, np.where(Y > 0, "up", "down")) == []


def test_rows_are_named_by_their_place():
    y = np.where(np.arange(80) % 2, Y, np.nan)
    y[41] = 1e7
    (question,) = asked(KRRRegressor(), X, y)
    assert question.startswith("y[41] is 10,000,000")


def test_minus_one_for_unlabeled_rows_is_asked_about():
    codes = np.where(np.arange(80) < 30, np.digitize(Y, [-0.5, 0.5]), -1)
    questions = asked(XNVClassifier(members=None, random_state=0), X, codes)
    assert any("missing_label=-1" in question for question in questions)


@pytest.mark.parametrize("label", [np.inf, 1e9, "bad"])
def test_labels_of_rows_without_weight_are_absent(label):
    y, weight = Y.astype(object), np.ones(80)
    y[5], weight[5] = label, 0
    assert asked(KRRRegressor(), X, y, sample_weight=weight) == []


def test_a_class_that_one_column_decides_is_named():
    names = np.where(X[:, 0] > 0.4, "apple", np.where(X[:, 1] + X[:, 2] > 0, "pear", "plum"))
    (question,) = asked(KRRClassifier(), X, names)
    assert "alone nearly decides class 'apple'" in question


FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(np.arange(80) % 2, Y, np.nan))
FRAME.loc[41, "y"] = 1e7  # row 42 of the table, and label 21


def files_of(folder):
    """The table as one file, and as a folder of files in two row groups each."""
    FRAME.to_csv(folder / "rows.csv", index=False)
    FRAME.to_json(folder / "rows.jsonl", orient="records", lines=True)
    FRAME.to_excel(folder / "rows.xlsx", index=False)
    (folder / "parts").mkdir()
    for number, part in enumerate((FRAME[:30], FRAME[30:])):
        part.to_parquet(folder / "parts" / f"{number}.parquet", row_group_size=15, index=False)
    return [folder / name for name in ("rows.csv", "rows.jsonl", "rows.xlsx", "parts")]


def asked_of_table(source, model=None, **options):
    model = KRRRegressor() if model is None else model
    return questions_of(lambda: model.fit_table(source, target="y", **options))


def test_rows_of_a_table_are_named_by_their_number(tmp_path):
    arrow = pa.table(FRAME)
    stream = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=7))
    for source in [*files_of(tmp_path), FRAME, arrow, stream, pl.from_pandas(FRAME)]:
        (question,) = asked_of_table(source)
        assert question.startswith("row 42 is 10,000,000"), source


def test_rows_without_weight_count_when_rows_are_numbered():
    (question,) = asked_of_table(FRAME.assign(w=(np.arange(80) > 20).astype(float)), weight="w")
    assert question.startswith("row 42 is 10,000,000")


def test_rows_are_numbered_beside_a_mark_for_no_label():
    marked = FRAME.assign(y=FRAME["y"].fillna(-1))
    (question,) = asked_of_table(marked, KRRRegressor(missing_label=-1))
    assert question.startswith("row 42 is 10,000,000")


def test_a_clean_table_is_not_read_again_for_its_row_numbers(monkeypatch):
    monkeypatch.setattr(ArrowTable, "numbered_labels", None)
    clean = FRAME.assign(y=np.where(np.arange(80) % 2, Y, np.nan))
    assert asked_of_table(clean) == []


def test_labels_of_partitions_are_counted_and_the_question_says_so():
    (question,) = asked_of_table(dask.dataframe.from_pandas(FRAME, npartitions=3))
    assert question.startswith("label 21 in the order of the partitions is 10,000,000")


def test_the_first_rows_of_a_stream_are_named_by_their_place():
    model = XNVRegressor(members=None, random_state=0)
    (question,) = questions_of(lambda: model.partial_fit(X, FRAME["y"]))
    assert question.startswith("y[41] is 10,000,000")


def test_draws_of_a_display_do_not_ask_again():
    y = np.where(X[:, 0] > 0, "a", "b")
    assert len(asked(KRRClassifier(), X, y)) == 1
    options = {"n_labels": [20, 40], "n_draws": 2, "random_state": 0}
    assert (
        questions_of(lambda: LabelCurveDisplay.from_estimator(KRRClassifier(), X, y, **options)) == []
    )
