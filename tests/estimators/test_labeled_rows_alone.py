"""Rows without a label, left out: the model is that of the labeled rows alone, and shifts are told."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from report_tables import classes_table, numbers_table
from twinviews import (
    KRRRegressor,
    SSSLClassifier,
    XNVClassifier,
    XNVRegressor,
    load_model,
    save_model,
)

ESTIMATORS = [
    XNVRegressor(members=None, scale="standard", random_state=0),
    XNVRegressor(random_state=0),
    KRRRegressor(),
    XNVClassifier(members=None, random_state=0),
    SSSLClassifier(random_state=0),
]


def table_for(model):
    return classes_table() if hasattr(model, "predict_proba") else numbers_table()


def labeled(table):
    return table.filter(pc.is_valid(table["y"]))


def assert_same_predictions(model, expected, table):
    assert_array_equal(model.predict(table), expected.predict(table))
    assert model.columns_ == expected.columns_
    assert model.n_unlabeled_ == expected.n_unlabeled_ == 0


@pytest.mark.parametrize("model", ESTIMATORS, ids=repr)
def test_the_model_is_that_of_the_labeled_rows(model):
    table = table_for(model)
    expected = model.__class__(**model.get_params()).fit_table(labeled(table), target="y")
    model.fit_table(table, target="y", without_unlabeled=True)
    assert_same_predictions(model, expected, labeled(table))
    assert model.n_left_out_ == 220
    assert model.n_labeled_ == 80


def test_tables_of_unlabeled_rows_are_left_out_too():
    table, model = numbers_table(), XNVRegressor(members=None, random_state=0)
    expected = XNVRegressor(members=None, random_state=0).fit_table(labeled(table), target="y")
    more = table.drop_columns(["y"]).slice(80)
    model.fit_table(labeled(table), target="y", unlabeled=[more, more], without_unlabeled=True)
    assert_same_predictions(model, expected, labeled(table))
    assert model.n_left_out_ == 440


@pytest.mark.parametrize("missing", [None, -1.0])
def test_a_missing_label_of_ones_own(missing):
    table = numbers_table()
    marked = table["y"] if missing is None else pc.fill_null(table["y"], missing)
    marked = table.set_column(table.num_columns - 1, "y", marked)
    model = XNVRegressor(members=None, random_state=0, missing_label=missing)
    model.fit_table(marked, target="y", without_unlabeled=True)
    expected = XNVRegressor(members=None, random_state=0).fit_table(labeled(table), target="y")
    assert_same_predictions(model, expected, labeled(table))


def test_a_row_with_one_of_two_labels_stays():
    table = numbers_table(n=80)
    other = np.where(np.arange(300) < 60, np.arange(300.0), np.nan)
    table = table.append_column("z", pa.array(other, from_pandas=True))
    model = XNVRegressor(members=None, random_state=0)
    model.fit_table(table, target=["z", "y"], without_unlabeled=True)
    assert (model.n_labeled_, model.n_left_out_) == (80, 220)


@pytest.mark.parametrize("block", [1, 7, 300])
def test_blocks_without_a_label_change_nothing(block, tmp_path):
    table = numbers_table()
    table = table.take(np.random.default_rng(0).permutation(len(table)))
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=block)
    model = XNVRegressor(members=None, random_state=0)
    model.fit_table(tmp_path / "rows.parquet", target="y", without_unlabeled=True)
    expected = XNVRegressor(members=None, random_state=0).fit_table(labeled(table), target="y")
    np.testing.assert_allclose(model.predict(table), expected.predict(table), rtol=1e-9)


def test_a_fit_that_was_stopped_goes_on(tmp_path, monkeypatch):
    pq.write_table(numbers_table(), tmp_path / "rows.parquet", row_group_size=50)
    asked = {"source": tmp_path / "rows.parquet", "target": "y", "without_unlabeled": True}
    expected = XNVRegressor(members=None, random_state=0).fit_table(**asked)
    notes = tmp_path / "notes.npz"
    model = XNVRegressor(members=None, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(XNVRegressor, "_solve", _stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit_table(**asked, checkpoint=notes)
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.fit_table(tmp_path / "rows.parquet", target="y", checkpoint=notes)
    model.fit_table(**asked, checkpoint=notes)
    assert_same_predictions(model, expected, labeled(numbers_table()))
    assert model.n_left_out_ == 220
    assert not notes.exists()


def _stop(*_):
    raise KeyboardInterrupt


def test_the_shift_is_that_of_all_rows():
    table = one_sided_table()
    alone, whole = (XNVRegressor(members=None, random_state=0) for _ in range(2))
    with pytest.warns(UserWarning, match="strong is mostly"):
        alone.fit_table(table, target="y", without_unlabeled=True)
    with pytest.warns(UserWarning, match="strong is mostly"):
        whole.fit_table(table, target="y")
    assert alone.shift_.as_dict() == whole.shift_.as_dict()
    assert alone.shift_.is_shifted


def one_sided_table():
    """Labels only of rows of group a with a high number; group b has none."""
    table = numbers_table(n=300)
    chosen = (table["strong"].to_numpy() > 0.5) & (np.array(table["group"].to_pylist()) == "a")
    y = np.where(chosen, table["y"].to_numpy(), np.nan)
    return table.set_column(table.num_columns - 1, "y", pa.array(y, from_pandas=True))


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_levels_that_only_other_rows_have_are_told_and_not_learned():
    table = one_sided_table()
    model = XNVRegressor(members=None, random_state=0)
    model.fit_table(table, target="y", without_unlabeled=True)
    assert [one.level for one in model.shift_.unlabeled_levels] == ["b"]
    (group,) = (code for code in model.columns_ if code.name == "group")
    assert group.kind == "left out"  # of the labeled rows all are a


@pytest.mark.parametrize("columns", [["strong", "noise"], ["strong", "group"]])
def test_no_label_at_all(columns):
    asked = {"target": "y", "columns": columns, "without_unlabeled": True}
    with pytest.raises(ValueError, match=r"no label at all.* Give at least 2 rows a label"):
        XNVRegressor(members=None).fit_table(numbers_table(n=0), **asked)


def test_strata_need_the_rows_that_would_be_left_out():
    asked = {"target": "y", "strata": "group", "without_unlabeled": True}
    with pytest.raises(ValueError, match=r"strata='group' counts .* Use label_probability"):
        XNVRegressor(members=None).fit_table(numbers_table(), **asked)


def test_label_probabilities_are_those_of_the_labeled_rows():
    table = numbers_table()
    known = pa.array(np.linspace(0.1, 1, 300))
    table = table.append_column("p", known)
    asked = {"target": "y", "label_probability": "p"}
    model = XNVRegressor(members=None, random_state=0)
    model.fit_table(table, **asked, without_unlabeled=True)
    expected = XNVRegressor(members=None, random_state=0).fit_table(labeled(table), **asked)
    assert_same_predictions(model, expected, labeled(table))
    assert model.cv_error_ == expected.cv_error_


def test_the_option_is_a_flag():
    with pytest.raises(ValueError, match="without_unlabeled='yes' must be True or False"):
        XNVRegressor().fit_table(numbers_table(), target="y", without_unlabeled="yes")


def test_the_next_fit_starts_afresh():
    model = XNVRegressor(members=None, random_state=0)
    model.fit_table(numbers_table(), target="y", without_unlabeled=True)
    model.fit_table(numbers_table(), target="y")
    assert (model.n_left_out_, model.n_unlabeled_) == (0, 220)


def test_a_file_keeps_how_many_were_left_out(tmp_path):
    model = XNVRegressor(members=None, random_state=0)
    save_model(
        model.fit_table(numbers_table(), target="y", without_unlabeled=True), tmp_path / "m.twinviews"
    )
    assert load_model(tmp_path / "m.twinviews").n_left_out_ == 220
