"""An engine, added from outside the package: SQLite tables, read by a cursor in the database."""

import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from twinviews import XNVRegressor, suggest
from twinviews.tables import BlockTable, Engine, engines, register_engine
from twinviews.tables.arrow import Selection


class Query:
    """What a user names: a query in an open database."""

    def __init__(self, connection, sql):
        self.connection, self.sql = connection, sql

    def batches(self):
        cursor = self.connection.execute(self.sql)
        names = [name for name, *_ in cursor.description]
        while rows := cursor.fetchmany(100):
            yield pa.record_batch([pa.array(column) for column in zip(*rows, strict=True)], names)


class QueryTable(BlockTable):
    """Pieces are batches; ``fold`` and ``map_blocks`` come with ``BlockTable``."""

    def __init__(self, query, selection, wanted):
        self.query, self.selection = query, selection
        self.n_threads, self.progress = wanted.n_threads, wanted.progress

    def pieces(self):
        return self.query.batches()

    def blocks(self, piece):
        return self.selection.blocks(piece)


def open_query(query, wanted):
    selection = Selection.of(next(query.batches()).schema, wanted)
    return QueryTable(query, selection, wanted), selection


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(engines, "_ENGINES", list(engines._ENGINES))
    register_engine(Engine("sqlite3", lambda source: isinstance(source, Query), open_query))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(950, 2)), columns=["a", "b"])
    frame["town"] = np.array(["Oslo", "Rome", "Lima"])[np.arange(950) % 3]
    frame["y"] = frame["a"].where(frame.index % 5 == 0)
    return frame


@pytest.fixture
def query(rows):
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    rows.to_sql("rows", connection, index=False)
    return Query(connection, "select * from rows")


def test_an_engine_fits_predicts_and_suggests(query, rows, tmp_path):
    given = {"committee": False, "random_state": 0}
    model = XNVRegressor(**given).fit_table(query, target="y")
    X = rows.drop(columns="y")
    expected = XNVRegressor(**given).fit(X, rows["y"])
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-9)
    found = pa.concat_tables(model.predict_batches(query, keep=["town"]))
    assert found["town"].to_pylist() == rows["town"].tolist()
    assert_allclose(found["prediction"], model.predict(X), rtol=1e-9, atol=1e-12)
    out = model.predict_table(query, tmp_path / "out.csv", keep=["a"])
    assert_allclose(pd.read_csv(out)["prediction"], model.predict(X), rtol=1e-9, atol=1e-12)
    by_query = suggest(model, query, 5, target="y", random_state=0)
    in_memory = suggest(model, X, 5, y=rows["y"], random_state=0)
    assert by_query.places.tolist() == in_memory.places.tolist()
    with pytest.raises(ValueError, match="name a Parquet file"):
        model.predict_table(query)
    with pytest.raises(TypeError, match="a Query of sqlite3, whose rows are not in memory"):
        model.predict(query)


def test_an_engine_that_is_not_installed_is_named():
    def fail(source, wanted):
        raise ImportError("no such library")

    register_engine(Engine("quack", lambda source: source == "duck://rows", fail))
    with pytest.raises(ImportError, match=r"quack is needed, .* pip install quack"):
        XNVRegressor().fit_table("duck://rows", target="y")
