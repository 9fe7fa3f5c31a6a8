"""A kind of column, added from outside the package: angles, of which 359 and 1 are neighbours."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from twinviews import TableEncoder, XNVRegressor, load_model, save_model
from twinviews.encoding import ColumnKind, column_kinds, register_column_kind
from twinviews.reading import arrow_kinds as types_of_kinds


@dataclass(frozen=True)
class Seen:
    """A summary need not hold more than the code wants to know."""

    count: int

    def merge(self, other):
        return Seen(self.count + other.count)


@dataclass(frozen=True)
class AngleCode:
    name: str
    kind = "angle"
    words = "degrees as points on a circle; blanks are its centre"

    @property
    def outputs(self):
        return (f"{self.name}, sin", f"{self.name}, cos")

    def __call__(self, column):
        turn = np.deg2rad(degrees(column))
        return np.nan_to_num(np.column_stack([np.sin(turn), np.cos(turn)]))


def degrees(column):
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def summarise(name, column, weight):
    missing = np.isnan(degrees(column))
    return missing, Seen(int((~missing).sum()))


@dataclass(frozen=True)
class VectorCode:
    name: str
    length: int
    kind = "vector"
    words = "its numbers"

    @property
    def outputs(self):
        return tuple(f"{self.name}[{j}]" for j in range(self.length))

    def __call__(self, column):
        return np.array(column.to_pylist(), dtype=float)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(column_kinds, "_KINDS", dict(column_kinds._KINDS))
    monkeypatch.setattr(types_of_kinds, "_KINDS", list(types_of_kinds._KINDS))
    register_column_kind(
        ColumnKind("angle", summarise, lambda name, facts, n_rows, wanted: AngleCode(name))
    )
    register_column_kind(
        ColumnKind(
            "vector",
            lambda name, column, weight: (np.asarray(column.is_null()), Seen(len(column[0]))),
            lambda name, facts, n_rows, wanted: VectorCode(name, 3),
            is_type=pa.types.is_list,
        )
    )


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    wind = rng.integers(0, 360, size=200).astype(float)
    wind[::17] = np.nan
    y = np.where(np.arange(200) % 2, np.cos(np.deg2rad(wind)), np.nan)
    return pd.DataFrame({"wind": wind, "x": rng.normal(size=200), "y": y})


def test_a_kind_is_taken_by_name(table, tmp_path):
    encoder = TableEncoder(kinds={"wind": "angle"}).fit(table[["wind", "x"]])
    assert encoder.get_feature_names_out().tolist() == ["wind, sin", "wind, cos", "x"]
    near = encoder.transform(pd.DataFrame({"wind": [359.0, 1.0, None], "x": [0.0, 0.0, 0.0]}))
    assert_allclose(near[0, 1], near[1, 1])
    assert not near[2, :2].any()
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    model = XNVRegressor(committee=False, random_state=0)
    model.fit_table(tmp_path / "t.csv", target="y", kinds={"wind": "angle"})
    assert [code.kind for code in model.columns_] == ["angle", "number"]
    (found,) = model.predict_batches(tmp_path / "t.csv")
    assert_allclose(found["prediction"], model.predict(table[["wind", "x"]]), rtol=1e-9)


def test_a_kind_is_taken_by_type(table, tmp_path):
    vectors = np.random.default_rng(1).normal(size=(200, 3))
    rows = pa.table({"v": vectors.tolist(), "y": pa.array(table["y"], from_pandas=True)})
    pq.write_table(rows, tmp_path / "t.parquet")
    model = XNVRegressor(committee=False, random_state=0)
    model.fit_table(tmp_path / "t.parquet", target="y")
    assert model.columns_ == [VectorCode("v", 3)]


def test_a_model_with_such_a_column_is_not_saved_halfway(table, tmp_path):
    model = XNVRegressor(committee=False, random_state=0)
    model.fit_table(table, target="y", kinds={"wind": "angle"})
    with pytest.raises(ValueError, match="AngleCode"):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model")
