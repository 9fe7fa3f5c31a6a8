"""Columns of words, dates and blanks: what they become, from any rows in any order by any engine."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import make
from local_spark import local_spark
from twinviews import TableEncoder, XNVClassifier, XNVRegressor

GIVEN = {"n_components": 30, "sigma": 3.0, "ridge": 1e-2, "correlation_ridge": 1e-4, "random_state": 0}
START = dt.datetime(2024, 1, 1)


@pytest.fixture(scope="module")
def messy():
    """900 rows of every kind of column, 150 of them labeled."""
    rng = np.random.default_rng(3)
    N = 900
    size, town = rng.lognormal(size=N), rng.choice(["Rome", "Oslo", "Bern"], N)
    days = rng.integers(0, 700, N)
    hours = rng.integers(0, 24, N)
    when = [START + dt.timedelta(days=int(d), hours=int(h)) for d, h in zip(days, hours, strict=True)]
    y = np.log(size) + 2 * (town == "Rome") + np.sin(2 * np.pi * hours / 24) + 0.1 * rng.normal(size=N)
    return pd.DataFrame(
        {
            "id": rng.permutation(N) + 1,
            "note": [f"see page {i}" for i in range(N)],
            "size": np.where(rng.random(N) < 0.1, np.nan, size),
            "town": np.where(rng.random(N) < 0.1, None, town),
            "maker": [f"m{int(k)}" for k in rng.geometric(0.03, N)],
            "when": when,
            "old": rng.random(N) < 0.3,
            "unit": "kg",
            "blank": None,
            "y": np.where(np.arange(N) % 6 == 0, y, np.nan),
        }
    )


@pytest.fixture(scope="module")
def inputs(messy):
    return messy.drop(columns="y")


@pytest.mark.filterwarnings("default")
@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def by_name(encoder):
    return {column.name: column for column in encoder.columns_}


def test_every_column_is_told_apart(inputs):
    found = by_name(TableEncoder().fit(inputs))
    assert {name: column.kind for name, column in found.items()} == {
        "id": "left out",
        "note": "left out",
        "size": "number",
        "town": "category",
        "maker": "category",
        "when": "date",
        "old": "boolean",
        "unit": "left out",
        "blank": "left out",
    }
    assert found["id"].words == "it numbers the rows"
    assert found["note"].words == "nearly every row has a value of its own"
    assert found["unit"].words == "all rows have the same value"
    assert found["blank"].words == "it is empty"


def test_a_kind_that_is_said_is_kept(inputs):
    kinds = {"id": "number", "old": "category"}
    found = by_name(TableEncoder(kinds=kinds).fit(inputs))
    assert {name: found[name].kind for name in kinds} == kinds
    assert found["old"].outputs == ("old=true",)


def test_blanks_count_as_the_mean_and_are_flagged(inputs):
    encoder = TableEncoder().fit(inputs[["size", "town"]])
    Z = encoder.set_output(transform="pandas").transform(inputs)
    blank = inputs["size"].isna().to_numpy()
    assert_allclose(Z["size"][blank], inputs["size"].mean(), rtol=1e-10)
    assert_array_equal(Z["size"][~blank], inputs["size"][~blank])
    assert_array_equal(Z["size is missing"], blank)
    assert_array_equal(Z["town is missing"], inputs["town"].isna())


def test_few_levels_are_those_of_a_one_hot_encoder(inputs):
    town = inputs[["town"]].dropna()
    theirs = OneHotEncoder(sparse_output=False).fit(town)
    assert_array_equal(TableEncoder().fit_transform(town), theirs.transform(town))


def test_a_level_that_was_never_seen_is_none_of_those_seen(inputs):
    encoder = TableEncoder().fit(inputs[["town", "maker"]])
    row = encoder.transform(pd.DataFrame({"town": ["Paris"], "maker": ["none of them"]}))
    names = encoder.get_feature_names_out().tolist()
    assert row[0, [names.index(name) for name in names if "=" in name]].sum() == 0
    rarest = encoder.transform(inputs)[:, names.index("maker, how common")].min()
    assert row[0, names.index("maker, how common")] < rarest


def test_rare_levels_share_what_is_left():
    words = ["a"] * 50 + ["b"] * 40 + ["c"] * 2 + ["d"]
    encoder = TableEncoder().fit(pd.DataFrame({"word": words}))
    assert encoder.get_feature_names_out().tolist() == ["word=a", "word=b"]
    assert_array_equal(
        encoder.transform(pd.DataFrame({"word": ["a", "c", "d"]})), [[1, 0], [0, 0], [0, 0]]
    )


def test_dates_turn_in_circles(inputs):
    encoder = TableEncoder().fit(inputs[["when"]]).set_output(transform="pandas")
    Z = encoder.transform(inputs)
    for circle in ("day", "week", "year"):
        radius = Z[f"when, sin of {circle}"] ** 2 + Z[f"when, cos of {circle}"] ** 2
        assert_allclose(radius, 1)
    later = encoder.transform(inputs.assign(when=inputs["when"] + dt.timedelta(days=7)))
    assert_allclose(later["when, sin of week"], Z["when, sin of week"], atol=1e-9)
    assert_allclose(later["when"], Z["when"] + 7)
    blank = encoder.transform(pd.DataFrame({"when": pd.Series([None], dtype="datetime64[us]")}))
    assert_allclose(blank["when"], Z["when"].mean())
    assert blank[["when, sin of day", "when, cos of week"]].to_numpy().tolist() == [[0, 0]]


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 899), max_size=4))
@settings(max_examples=15, deadline=None)
def test_parts_in_any_order_are_coded_like_the_whole(inputs, seed, cuts):
    whole = TableEncoder().fit(inputs)
    shuffled = inputs.sample(frac=1, random_state=seed)
    edges = [0, *sorted(set(cuts)), 900]
    parts = [shuffled[a:b] for a, b in pairwise(edges)]
    grown = TableEncoder().partial_fit(parts[0])
    merged = TableEncoder().partial_fit(parts[-1])
    for part in parts[1:]:
        grown.partial_fit(part)
    for part in parts[:-1]:
        merged.merge(TableEncoder().partial_fit(part))
    assert grown.columns_ == merged.columns_ == whole.columns_
    assert_array_equal(grown.transform(inputs), whole.transform(inputs))


def test_libraries_agree(inputs):
    frame = inputs.drop(columns="blank")
    expected = TableEncoder().fit(frame)
    for same in (
        pa.Table.from_pandas(frame),
        pl.from_pandas(frame),
        frame.astype({"town": "category"}),
    ):
        other = TableEncoder().fit(same)
        assert other.columns_ == expected.columns_
        assert_array_equal(other.transform(same), expected.transform(frame))


CELLS = {
    "numbers": st.one_of(st.none(), st.floats(-1e12, 1e12), st.integers(-(10**9), 10**9).map(float)),
    "words": st.one_of(st.none(), st.text(max_size=5)),
    "dates": st.one_of(st.none(), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))),
    "booleans": st.one_of(st.none(), st.booleans()),
}
TYPES = {
    "numbers": pa.float64(), "words": pa.string(), "dates": pa.timestamp("us"), "booleans": pa.bool_(),
}  # fmt: skip


@given(data=st.data(), n=st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_any_table_becomes_finite_numbers_and_keeps_its_own(data, n):
    columns = {
        f"{name}{j}": pa.array(data.draw(st.lists(cells, min_size=n, max_size=n)), TYPES[name])
        for name, cells in CELLS.items()
        for j in range(data.draw(st.integers(0, 2)))
    }
    columns["plain"] = pa.array(np.arange(n) ** 2)
    table = pa.table(columns)
    encoder = TableEncoder().fit(table)
    Z = encoder.transform(table)
    assert Z.shape == (n, len(encoder.get_feature_names_out()))
    assert np.isfinite(Z).all()
    assert_array_equal(Z, np.vstack([encoder.transform(table.slice(i, 1)) for i in range(n)]))


def test_a_row_of_weight_two_is_a_row_given_twice(messy, tmp_path):
    heavy = np.arange(900) % 3 == 0
    weighted = messy.assign(w=np.where(heavy, 2.0, 1.0))
    pq.write_table(pa.Table.from_pandas(weighted), tmp_path / "weighted.parquet")
    twice = pd.concat([messy, messy[heavy]])
    options = {"target": "y", "columns": ["size", "town", "maker"]}
    once = XNVRegressor(**GIVEN).fit_table(tmp_path / "weighted.parquet", weight="w", **options)
    again = XNVRegressor(**GIVEN).fit_table(pa.Table.from_pandas(twice), **options)
    assert once._encoder == again._encoder


def test_small_weights_do_not_make_levels_rare(messy, tmp_path):
    light = messy.assign(w=1 / 900)
    options = {"target": "y", "columns": ["size", "town", "maker"]}
    model = XNVRegressor(**GIVEN).fit_table(pa.Table.from_pandas(light), weight="w", **options)
    plain = XNVRegressor(**GIVEN).fit_table(pa.Table.from_pandas(messy), **options)
    assert [code.outputs for code in model.columns_] == [code.outputs for code in plain.columns_]


def test_rows_without_labels_given_apart_are_as_if_stacked(messy, inputs):
    apart = XNVRegressor(**GIVEN).fit(inputs[:200], messy["y"][:200], X_unlabeled=inputs[200:])
    stacked = messy["y"].where(np.arange(900) < 200)
    assert apart.columns_ == XNVRegressor(**GIVEN).fit(inputs, stacked).columns_
    numbers, blank = inputs[["size"]].dropna(), inputs[["size"]]
    model = XNVRegressor(**GIVEN).fit(numbers, messy["y"][numbers.index], X_unlabeled=blank)
    assert model.columns_[0].outputs == ("size", "size is missing")


def test_rows_of_weight_zero_are_absent(messy, inputs):
    weight = np.where(np.arange(900) < 300, 0.0, 1.0)
    heavy = inputs.assign(size=inputs["size"].where(np.arange(900) >= 300, 1e6))
    model = XNVRegressor(**GIVEN).fit(heavy, messy["y"], sample_weight=weight)
    assert model.columns_ == XNVRegressor(**GIVEN).fit(inputs[300:], messy["y"][300:]).columns_


def test_a_column_that_is_blank_at_first_becomes_what_it_is():
    first = pd.DataFrame({"a": np.arange(9.0), "b": np.full(9, np.nan)})
    words = pd.DataFrame({"a": np.arange(9.0), "b": ["x", "y", "y"] * 3})
    grown = TableEncoder().partial_fit(first).partial_fit(words)
    assert by_name(grown)["b"].kind == "category"
    numbers = TableEncoder().partial_fit(words.assign(b=1.0 * np.arange(9)))
    with pytest.raises(ValueError, match="Column 'b' holds values of kind category and number"):
        numbers.merge(TableEncoder().partial_fit(words))
    with pytest.raises(ValueError, match="'b' holds 'x' where a number is expected"):
        numbers.partial_fit(words)


def test_names_of_outputs_are_unique():
    frame = pd.DataFrame({"age": [1.0, None, 3.0, 4.0], "age is missing": [4.0, 3.0, 2.0, 9.0]})
    names = TableEncoder().fit(frame).get_feature_names_out().tolist()
    assert names == ["age", "age is missing", "age is missing (2)"]


def test_whole_numbers_are_no_dates(inputs):
    years = pd.DataFrame({"year": np.arange(1950, 2020)})
    with pytest.raises(ValueError, match="'year' holds '1950' where a date is expected"):
        TableEncoder(kinds={"year": "date"}).fit(years)
    encoder = TableEncoder().fit(inputs[["when"]])
    with pytest.raises(ValueError, match="where a date is expected"):
        encoder.transform(pd.DataFrame({"when": [20200115]}))


def test_words_that_no_three_rows_share_leave_nothing(inputs):
    with pytest.raises(ValueError, match="No input column"):
        TableEncoder(kinds={"note": "category"}).fit(inputs[["note"]])


def test_names_that_are_no_strings_are_not_told():
    frame = pd.DataFrame({0: ["a", "b", "a", "b"] * 3, 1: np.arange(12.0) ** 2})
    assert not hasattr(TableEncoder().fit(frame), "feature_names_in_")
    model = XNVRegressor(**GIVEN | {"n_components": 3}).fit(frame, np.arange(12.0))
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


def test_labels_too_large_to_be_told_apart_are_refused():
    large = pa.table({"a": np.arange(20.0), "y": pa.array([2**53, 2**53 + 1] * 10)})
    with pytest.raises(ValueError, match="write them as text"):
        XNVClassifier(**GIVEN).fit_table(large, target="y")


def test_kinds_without_encoding_contradict(messy):
    with pytest.raises(ValueError, match="encode=False"):
        XNVRegressor().fit_table(messy, target="y", kinds={"size": "number"}, encode=False)


def test_an_estimator_does_what_a_pipeline_does(messy, inputs):
    inside = make("XNVRegressor").fit(inputs, messy["y"])
    front = make_pipeline(TableEncoder(), make("XNVRegressor", scale="standard"))
    front.fit(inputs, messy["y"])
    assert_array_equal(inside.predict(inputs), front.predict(inputs))
    assert_array_equal(
        inside.predict_interval(inputs[:9]), front[-1].predict_interval(front[0].transform(inputs[:9]))
    )
    assert inside.feature_names_in_.tolist() == list(inputs.columns)
    again = inside.relabel(inputs[:300], messy["y"][:300]).predict(inputs)
    assert np.isfinite(again).all()


def test_numbers_alone_are_left_as_they_are(table):
    frame = pd.DataFrame(table.X, columns=list("abcd"))
    with_frame = XNVRegressor(**GIVEN).fit(frame, table.few).predict(frame)
    assert_array_equal(with_frame, XNVRegressor(**GIVEN).fit(table.X, table.few).predict(table.X))


def test_what_is_learned_shows_in_the_error(messy, inputs):
    """The hour and the town matter; numbers alone cannot know."""
    known = messy["y"].notna()
    model = make("XNVRegressor").fit(inputs, messy["y"])
    assert model.loo_error_ < 0.35 * messy["y"][known].var()
    alone = make("XNVRegressor").fit(inputs[["size", "old"]], messy["y"])
    assert alone.loo_error_ > 0.5 * messy["y"][known].var()


def test_engines_agree_on_a_messy_table(messy, tmp_path):
    rows = pa.Table.from_pandas(messy.drop(columns="blank"), preserve_index=False)
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=170)
    expected = XNVRegressor(**GIVEN).fit(messy.drop(columns=["blank", "y"]), messy["y"])
    from_file = XNVRegressor(**GIVEN).fit_table(tmp_path / "rows.parquet", target="y")
    stacked = XNVRegressor(**GIVEN).fit_table(rows[:500], target="y", unlabeled=rows[500:].drop(["y"]))
    assert_array_equal(from_file.landmarks_, expected.landmarks_)
    assert_allclose(from_file.predict(messy), expected.predict(messy), rtol=1e-8, atol=1e-9)
    assert stacked._encoder == expected._encoder
    out = from_file.predict_table(tmp_path / "rows.parquet", tmp_path / "out.parquet", keep=["id"])
    written = pq.read_table(out).to_pandas()
    assert_array_equal(written["id"], messy["id"])
    assert_allclose(written["prediction"], expected.predict(messy), rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_clusters_agree_on_a_messy_table(messy, tmp_path):
    import dask.dataframe as dd

    rows = messy.drop(columns=["blank", "old"])
    expected = XNVRegressor(**GIVEN).fit_table(rows, target="y")
    by_dask = XNVRegressor(**GIVEN).fit_table(dd.from_pandas(rows, npartitions=3), target="y")
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "rows.parquet")
    frame = local_spark().read.parquet(str(tmp_path / "rows.parquet"))
    by_spark = XNVRegressor(**GIVEN).fit_table(frame, target="y")
    for model in (by_dask, by_spark):
        assert model._encoder == expected._encoder
        assert_allclose(model.predict(rows), expected.predict(rows), rtol=1e-8, atol=1e-9)
    predicted = by_spark.predict_table(frame).toPandas().set_index("id")["prediction"]
    assert_allclose(predicted[rows["id"]], expected.predict(rows), rtol=1e-8, atol=1e-9)


def test_classes_of_a_messy_table(messy, inputs):
    labels = np.where(messy["y"].isna(), None, np.where(messy["y"] > 0.7, "high", "low"))
    model = XNVClassifier(**GIVEN).fit(inputs, labels)
    assert_allclose(model.predict_proba(inputs).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows.rename(columns={"size": "sise"}),
            r"no column 'size' \('size' may be 'sise'\)",
        ),
        (lambda rows: rows.drop(columns=["town", "when"]), "no columns 'town', 'when'"),
        (lambda rows: rows.assign(size="large"), "'size' holds 'large' where a number is expected"),
        (lambda rows: rows.assign(when="soon"), "'when' holds 'soon' where a date is expected"),
        (lambda rows: rows.assign(size=np.inf), "'size' has infinite values"),
        (lambda rows: rows.to_numpy(), "needs such a table here; this is a ndarray"),
    ],
)
def test_a_wrong_table_is_told_what_is_wrong(messy, inputs, change, message):
    model = XNVRegressor(**GIVEN).fit(inputs, messy["y"])
    with pytest.raises(ValueError, match=message):
        model.predict(change(inputs))


def test_words_for_numbers_will_do_if_they_are_numbers(messy, inputs):
    model = XNVRegressor(**GIVEN).fit(inputs, messy["y"])
    words = inputs.assign(size=[None if np.isnan(v) else repr(float(v)) for v in inputs["size"]])
    assert_array_equal(model.predict(words), model.predict(inputs))


def test_columns_may_come_in_another_order(messy, inputs):
    model = XNVRegressor(**GIVEN).fit(inputs, messy["y"])
    assert_array_equal(model.predict(inputs[inputs.columns[::-1]]), model.predict(inputs))


def test_a_table_that_says_nothing_is_refused():
    says_nothing = pd.DataFrame({"unit": ["kg"] * 20, "id": range(20)})
    message = r"No input column .*'unit': all rows have the same value"
    with pytest.raises(ValueError, match=message):
        TableEncoder().fit(says_nothing)
    with pytest.raises(ValueError, match=message):
        TableEncoder().partial_fit(says_nothing).transform(says_nothing)


def test_wrong_kinds_are_refused(inputs):
    with pytest.raises(ValueError, match=r"kinds\['size'\]='text' must be one of"):
        TableEncoder(kinds={"size": "text"}).fit(inputs)
    with pytest.raises(ValueError, match="no column 'sise'"):
        TableEncoder(kinds={"sise": "number"}).fit(inputs)
    with pytest.raises(ValueError, match="cannot be merged"):
        TableEncoder().fit(inputs).merge(TableEncoder().fit(inputs[["size"]]))


def test_two_fits_with_other_codes_do_not_merge(messy, inputs):
    first = XNVRegressor(**GIVEN).fit(inputs[:450], messy["y"][:450])
    second = XNVRegressor(**GIVEN).fit(inputs[450:], messy["y"][450:])
    with pytest.raises(ValueError, match="cannot be merged"):
        first.merge(second)
