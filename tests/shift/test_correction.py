"""Labels that are no random sample: what is told holds for all rows."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from tilted_labels import tilted
from twinviews import (
    DataWarning,
    XNVRegressor,
    load_model,
    save_model,
)
from twinviews.cli import main
from twinviews.estimators._prediction_intervals import fits_without_labels

FORMULA = {"sigma": 2.0, "ridge": 1e-3, "correlation_ridge": 1e-3, "committee": False}


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_rows_that_no_label_is_like_have_no_interval():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=1500)
    few = np.flatnonzero(X[:, 0] > 0)[:150]
    labels = np.full(1500, np.nan)
    labels[few] = y[few]
    model = small().fit(X, labels)
    width = np.diff(model.predict_interval(X), axis=1)[:, 0]
    assert np.isinf(width[X[:, 0] < -1]).mean() > 0.95
    assert np.isinf(width[few]).mean() < 0.05


def small():
    return XNVRegressor(random_state=0, n_components=30, **FORMULA)


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_files_keep_what_labels_stand_for(tmp_path):
    X, _, labels, _ = tilted(1.0, N=1000)
    model = small().fit(X, labels)
    save_model(model, tmp_path / "m.twinviews")
    again = load_model(tmp_path / "m.twinviews")
    assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    assert again.cv_error_ == model.cv_error_


def test_equal_probabilities_are_none():
    X, _, labels, _ = tilted(0.0, N=600)
    plain = small().fit(X, labels)
    model = small().fit(X, labels, label_probability=np.full(600, 1 / 3))
    assert_allclose(model.cv_error_, plain.cv_error_, rtol=1e-12)
    assert_allclose(model.predict_interval(X), plain.predict_interval(X), rtol=1e-9)


def test_a_label_counts_as_many_rows_as_it_stands_for():
    """The told error is the mean of squared errors, each times the rows without a label like it."""
    X, _, labels, probability = tilted(1.0, N=600, n=60)
    known = ~np.isnan(labels)
    model = small().fit(X, labels, label_probability=probability)
    plain = small().fit(X, labels, label_probability=np.full(600, 0.1))
    problem = plain._solution.problems[0]
    squared = np.square(fits_without_labels(plain, 0).residual)
    place = [int(np.flatnonzero((X[known] == row).all(axis=1))[0]) for row in problem.X]
    weight = 1 / probability[known][place] - 1
    assert_allclose(model.cv_error_, np.sqrt(np.average(squared, weights=weight)), rtol=1e-9)
    model.relabel(X[known], labels[known], label_probability=probability[known])
    assert_allclose(model.cv_error_, np.sqrt(np.average(squared, weights=weight)), rtol=1e-9)


def test_strata_are_probabilities():
    """A table with strata, and the same rows with the share of labels in each stratum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = X[:, 0] + 0.2 * rng.normal(size=900)
    region = np.repeat(["north", "south", None], 300)
    n_labels = {"north": 100, "south": 30, None: 20}
    labels, probability = np.full(900, np.nan), np.full(900, np.nan)
    for name, number in n_labels.items():
        rows = np.flatnonzero(region == name)[:number]
        labels[rows], probability[rows] = y[rows], number / 300
    columns = {"a": X[:, 0], "b": X[:, 1], "y": pa.array(labels, from_pandas=True)}
    strata = pa.table({**columns, "region": region})
    by_strata = small().fit_table(strata, target="y", columns=["a", "b"], strata="region")
    table = pa.table({**columns, "p": pa.array(probability, from_pandas=True)})
    by_column = small().fit_table(table, target="y", label_probability="p")
    by_array = small().fit(X, labels, label_probability=probability)
    for model in (by_column, by_array):
        assert_allclose(model.cv_error_, by_strata.cv_error_, rtol=1e-9)
        rows = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}) if model is by_column else X
        ends = by_strata.predict_interval(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}))
        assert_allclose(model.predict_interval(rows), ends, rtol=1e-7)
    assert by_column.feature_names_in_.tolist() == ["a", "b"]


def test_strata_without_a_label_are_told():
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) < 40, rng.normal(size=300), np.nan)
    region = np.where(np.arange(300) < 250, "north", "south")
    columns = {"a": rng.normal(size=300), "y": pa.array(labels, from_pandas=True), "region": region}
    with pytest.warns(DataWarning, match="50 of 300 rows are of strata without a label"):
        small().fit_table(pa.table(columns), target="y", columns=["a"], strata="region")


def test_strata_and_probabilities_are_of_every_engine(tmp_path):
    """Files and Dask: the same model as from one table in memory."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    labels = np.where(np.arange(600) % 5 == 0, X[:, 0] + 0.1 * rng.normal(size=600), np.nan)
    region = rng.choice(["north", "south"], 600, p=[0.8, 0.2])
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": labels, "region": region})
    options = {"target": "y", "columns": ["a", "b"], "strata": "region"}
    here = small().fit_table(pa.Table.from_pandas(frame), **options)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    file = small().fit_table(tmp_path / "t.parquet", **options)
    lazy = small().fit_table(dd.from_pandas(frame, npartitions=3), **options)
    for other in (file, lazy):
        assert_allclose(other.cv_error_, here.cv_error_, rtol=1e-9)


def test_probabilities_that_imply_another_number_of_rows_are_told(recwarn):
    """A relative weight, or the probability within something else than the table."""
    X, _, labels, probability = tilted(0.3, N=600, n=60)
    small().fit(X, labels, label_probability=probability)
    assert not recwarn
    with pytest.warns(DataWarning, match=r"should be about [\d,]+ rows, and there are 600"):
        small().fit(X, labels, label_probability=probability / 3)


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1.5, np.nan, "often"])
def test_wrong_probabilities_are_refused(wrong):
    X, _, labels, _ = tilted(0.0, N=200, n=30)
    probability = np.full(200, 0.1, dtype=object if wrong == "often" else float)
    probability[np.flatnonzero(~np.isnan(labels))[3]] = wrong
    with pytest.raises(ValueError, match="label_probability"):
        small().fit(X, labels, label_probability=probability)


@pytest.mark.parametrize("wrong", [0.1, [[0.1]] * 200, [0.1] * 199])
def test_probabilities_are_one_for_each_row(wrong):
    X, _, labels, _ = tilted(0.0, N=200, n=30)
    with pytest.raises(ValueError, match=r"one number for each row|inconsistent numbers"):
        small().fit(X, labels, label_probability=wrong)


def test_probabilities_and_strata_are_one_too_many():
    table = pa.table({"a": [1.0, 2.0], "y": [1.0, 2.0], "p": [0.5, 0.5]})
    with pytest.raises(ValueError, match="Give one"):
        small().fit_table(table, target="y", strata="p", label_probability="p")


def loans(seed=0, N=2000):
    """The rate rises with the grade, and debt says something about it; grade F has no label."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(list("ABCDEFG"), N, p=[0.25, 0.25, 0.2, 0.15, 0.1, 0.03, 0.02])
    level = np.array([ord(one) - ord("A") for one in grade])
    debt = 10 + 3 * level + rng.normal(0, 2, N)
    rate = 6 + 2 * level + 0.1 * debt + rng.normal(0, 0.5, N)
    rows = pd.DataFrame({"grade": grade, "income": rng.gamma(3, 20, N), "debt": debt})
    labels = np.full(N, np.nan)
    some = rng.permutation(np.flatnonzero(grade != "F"))[:200]
    labels[some] = rate[some]
    return rows, rate, labels


@pytest.mark.slow
def test_a_level_without_a_label_gets_what_other_columns_say_and_a_wide_interval():
    rows, _, labels = loans()
    model = XNVRegressor(random_state=0).fit(rows, labels)
    assert [one.level for one in model.shift_.unlabeled_levels] == ["F"]
    is_f = rows["grade"].to_numpy() == "F"
    low, high = model.predict_interval(rows).T
    assert np.median((high - low)[is_f]) > 3 * np.median((high - low)[~is_f])
    # As the same rows of a level that is never told apart from others.
    unknown = rows.assign(grade=np.where(is_f, "(new)", rows["grade"]))
    with pytest.warns(UserWarning, match="grade"):
        assert_allclose(model.predict(unknown)[is_f], model.predict(rows)[is_f], rtol=1e-6)
    # More debt, the only other sign of a poor grade, means a higher rate.
    assert np.corrcoef(model.predict(rows)[is_f], rows["debt"][is_f])[0, 1] > 0.5


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_the_command_line_leaves_blanks_and_says_why(tmp_path):
    """Rows beyond all labels, and with --by groups with too few of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=800), "b": rng.normal(size=800)})
    frame["machine"] = np.where(np.arange(800) % 40 == 0, "new", "old")
    frame["y"] = np.where((frame["a"] > 0) & (np.arange(800) < 300), frame["a"], np.nan)
    frame.to_csv(tmp_path / "t.csv", index=False)
    run = CliRunner().invoke
    model, table, out = (str(tmp_path / name) for name in ("m", "t.csv", "p.csv"))
    assert run(main, ["fit", table, "--target", "y", "--quick", "-o", model]).exit_code == 0
    said = run(main, ["predict", model, table, "-o", out])
    found = pd.read_csv(out)
    assert f"{found['lower'].isna().sum():,} of 800 rows have no interval" in said.stderr
    assert "no label is like them" in said.stderr
    assert found["lower"][frame["a"] < -1].isna().mean() > 0.9
    assert found["prediction"].notna().all()
    said = run(main, ["predict", model, table, "--by", "machine", "-o", out])
    assert "too few labels have their machine" in said.stderr
    assert pd.read_csv(out)["lower"][frame["machine"] == "new"].isna().all()
    assert run(main, ["predict", model, table, "--by", "colour", "-o", out]).exit_code != 0
