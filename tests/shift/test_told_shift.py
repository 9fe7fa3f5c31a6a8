"""What a fit tells about labels that are unlike the rows: attribute, warning, files and commands."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from twinviews import (
    DataWarning,
    KRRRegressor,
    ShiftWarning,
    SSSLClassifier,
    XNVRegressor,
    load_model,
    save_model,
)
from twinviews.cli import main

N = 1500


def coal(seed=0):
    """Words, dates, blanks and numbers; grade F is rare."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(list("ABCDEF"), N, p=[0.3, 0.3, 0.2, 0.1, 0.08, 0.02])
    days = pd.to_timedelta(rng.integers(0, 700, N), unit="D")
    rows = {
        "carbon": rng.uniform(31, 62, N),
        "ash": np.where(rng.random(N) < 0.1, np.nan, rng.normal(10, 2, N)),
        "grade": grade,
        "day": pd.Timestamp("2020-01-01") + days,
    }
    return pd.DataFrame(rows)


ROWS = coal()
TARGET = 0.1 * ROWS["carbon"].to_numpy() + np.random.default_rng(1).normal(size=N)
RANDOM = np.ones(N, dtype=bool)


def labels(possible=RANDOM, n=150, seed=0):
    """The target where a row has a label: some of the possible rows."""
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(possible))[:n]
    y = np.full(N, np.nan)
    y[chosen] = TARGET[chosen]
    return y


def quick(**parameters):
    return XNVRegressor(members=None, scale="standard", n_components=20, random_state=0, **parameters)


def fitted(y, model=None, X=ROWS):
    """A model, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = (model or quick()).fit(X, y)
    return model, [one for one in caught if issubclass(one.category, ShiftWarning)]


LOW_CARBON = ROWS["carbon"].to_numpy() < 47
NOT_F = ROWS["grade"].to_numpy() != "F"


def test_random_labels_are_silent():
    model, warned = fitted(labels())
    assert warned == []
    assert not model.shift_.is_shifted
    assert model.shift_.n_effective == 150
    assert model.shift_.columns == ()
    assert model.shift_.findings() == []
    assert "No sign" in model.shift_.words()


def test_labels_below_a_value_are_told_with_the_column_and_both_ranges():
    model, (warning,) = fitted(labels(LOW_CARBON))
    shift = model.shift_
    assert shift.is_shifted
    assert [column.name for column in shift.columns] == ["carbon"]
    (carbon,) = shift.columns
    assert 44 < carbon.labeled[2] <= 47
    assert 58 < carbon.all_rows[2] <= 62
    assert 0.4 < shift.share_outside < 0.6
    assert shift.n_effective < 150
    assert str(warning.message).startswith("The 150 labeled rows are not like all rows (p = ")
    assert "carbon is mostly 31" in str(warning.message)
    assert warning.filename == __file__


def test_dates_are_told_as_dates():
    model, _ = fitted(labels(ROWS["day"].to_numpy() > np.datetime64("2021-03-01")))
    assert model.shift_.columns[0].name == "day"
    assert "day is mostly 2021-03" in model.shift_.words()


def test_blanks_are_told_as_a_level():
    model, _ = fitted(labels(~ROWS["ash"].isna().to_numpy(), n=400))
    assert [level.words() for level in model.shift_.unlabeled_levels] == [
        f"ash (blank): {ROWS['ash'].isna().sum()} rows and no label"
    ]


def test_a_level_without_a_label_is_told_by_name_and_is_no_warning():
    model, warned = fitted(labels(NOT_F))
    assert warned == []
    (level,) = model.shift_.unlabeled_levels
    assert (level.column, level.level, level.n_rows) == ("grade", "F", (~NOT_F).sum())
    assert level.words() == f"grade F: {(~NOT_F).sum()} rows and no label"
    assert 0.005 < model.shift_.share_outside < 0.04


@pytest.mark.parametrize("has_label", ["no", "yes"])
def test_either_of_two_levels_may_have_no_label(has_label):
    smoker = np.where(np.arange(N) % 4 == 0, "yes", "no")
    frame = ROWS.assign(smoker=smoker)
    model, (warning,) = fitted(labels(smoker == has_label), X=frame)
    other = "yes" if has_label == "no" else "no"
    levels = [(one.column, one.level) for one in model.shift_.unlabeled_levels]
    assert ("smoker", other) in levels
    share = np.mean(smoker == other)
    assert model.shift_.share_outside >= share - 0.03
    assert f"smoker {other}: {np.sum(smoker == other):,} rows and no label" in str(warning.message)


def test_the_warning_can_be_silenced_as_one_of_data_and_pickled():
    assert issubclass(ShiftWarning, DataWarning)
    _, (warning,) = fitted(labels(LOW_CARBON))
    copy = pickle.loads(pickle.dumps(warning.message))
    assert type(copy) is ShiftWarning
    assert str(copy) == str(warning.message)


def test_files_and_memory_tell_the_same(tmp_path):
    frame = ROWS.assign(y=labels(LOW_CARBON))
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=170)
    here, _ = fitted(frame["y"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftWarning)
        there = quick().fit_table(path, target="y")
        turned = quick().fit_table(pq.read_table(path).take(np.arange(N)[::-1]), target="y")
    assert there.shift_ == here.shift_
    assert turned.shift_ == here.shift_


@pytest.mark.parametrize("possible", [LOW_CARBON, NOT_F, RANDOM], ids=["carbon", "F", "random"])
def test_model_files_keep_it(possible, tmp_path):
    model, _ = fitted(labels(possible))
    save_model(model, tmp_path / "m.twinviews")
    assert load_model(tmp_path / "m.twinviews").shift_ == model.shift_


def test_new_labels_are_compared_with_the_rows_of_the_fit(tmp_path):
    y = labels(LOW_CARBON)
    model, _ = fitted(labels())
    save_model(model, tmp_path / "m.twinviews")
    known = ~np.isnan(y)
    with pytest.warns(ShiftWarning, match="carbon is mostly"):
        model.relabel(ROWS[known], y[known])
    assert model.shift_ == fitted(y)[0].shift_
    loaded = load_model(tmp_path / "m.twinviews").relabel(ROWS[known], y[known])
    assert loaded.shift_ is None  # a file keeps no rows to compare with


def test_after_more_rows_it_is_unknown():
    y = labels()
    model = quick().partial_fit(ROWS[:1000], y[:1000])
    assert model.shift_ is not None
    assert model.partial_fit(ROWS[1000:], y[1000:]).shift_ is None


def test_a_table_without_other_rows_has_nothing_to_compare():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert KRRRegressor().fit(X, X[:, 0] + X[:, 1] ** 2).shift_ is None


def test_columns_without_names_are_counted_and_classes_are_told_alike():
    X = np.random.default_rng(0).normal(size=(800, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down").astype(object)
    y[(X[:, 2] > 0) | (np.arange(800) > 400)] = None
    with pytest.warns(ShiftWarning, match="column 2 is mostly"):
        SSSLClassifier(random_state=0).fit(X, y)


# --- commands --------------------------------------------------------------------------------------


def run_fit(folder, y, *options):
    ROWS.assign(y=y).to_csv(folder / "coal.csv", index=False)
    arguments = ["fit", str(folder / "coal.csv"), "--target", "y", "-o", str(folder / "m.twinviews")]
    found = CliRunner().invoke(main, [*arguments, "--quick", *options])
    assert found.exit_code == 0, found.stderr
    return found


def test_the_command_line_tells_of_columns(tmp_path):
    found = run_fit(tmp_path, labels(LOW_CARBON), "--json")
    assert "The 150 labeled rows are not like all rows (p = 0.001): carbon is mostly" in found.stderr
    assert "ShiftWarning" not in found.stderr
    told = json.loads(found.stdout)["shift"]
    assert told["is_shifted"]
    assert told["columns"][0]["name"] == "carbon"
    shown = CliRunner().invoke(main, ["inspect", str(tmp_path / "m.twinviews")]).stdout
    assert "shift       The 150 labeled rows are not like all rows" in shown


def test_the_command_line_tells_of_levels_and_is_silent_without(tmp_path):
    said = run_fit(tmp_path, labels(NOT_F)).stderr
    assert f"grade F: {(~NOT_F).sum()} rows and no label." in said
    assert "no label" not in run_fit(tmp_path, labels(seed=1)).stderr
