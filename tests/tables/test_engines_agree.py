"""The same table through memory, files, parts, Dask and Spark gives the same model."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from conftest import CLASSIFIERS, REGRESSORS, make
from local_spark import local_spark
from twinviews import XNVClassifier, XNVRegressor, estimate, suggest
from twinviews.method.moments import Moments
from twinviews.passes.first_pass import FirstPass

GIVEN = {"n_components": 40, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def frame(table):
    rows = pd.DataFrame(table.X, columns=NAMES)
    rows["y"] = table.few
    rows["kind"] = [None if np.isnan(v) else ("up" if v > 0 else "down") for v in table.few]
    rows["id"] = [f"row {i}" for i in range(len(rows))]
    return rows


@pytest.fixture(scope="module")
def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.fixture
def parquet(arrow, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(arrow, path, row_group_size=170)
    return path


def assert_same(model, expected, X):
    assert_array_equal(model.landmarks_, expected.landmarks_)
    assert_allclose(model.correlations_, expected.correlations_, rtol=1e-8)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-9)
    assert (model.n_labeled_, model.n_unlabeled_) == (expected.n_labeled_, expected.n_unlabeled_)


@pytest.fixture(scope="module")
def expected(frame):
    return XNVRegressor(**GIVEN, random_state=0).fit(frame[NAMES], frame["y"])


def in_one_file(arrow, folder):
    pq.write_table(arrow, folder / "rows.parquet", row_group_size=170)
    return folder / "rows.parquet"


def in_a_folder(arrow, folder):
    for part in range(3):
        pq.write_table(arrow.slice(400 * part, 400), folder / f"part-{part}.parquet")
    return folder


def partitioned(arrow, folder):
    halves = pa.array(np.arange(1200) % 2)
    ds.write_dataset(
        arrow.append_column("half", halves),
        folder,
        format="parquet",
        partitioning=["half"],
        partitioning_flavor="hive",
    )
    return folder


def as_csv(arrow, folder):
    pyarrow.csv.write_csv(arrow, folder / "rows.csv")
    return folder / "rows.csv"


def as_ipc(arrow, folder):
    pyarrow.feather.write_feather(arrow, folder / "rows.arrow", chunksize=100)
    return folder / "rows.arrow"


def as_list_of_files(arrow, folder):
    return sorted(in_a_folder(arrow, folder).iterdir())


def as_dataset(arrow, folder):
    return ds.dataset(in_one_file(arrow, folder))


def as_table(arrow, folder):
    return arrow


def as_pandas(arrow, folder):
    return arrow.to_pandas()


SOURCES = [
    in_one_file, in_a_folder, partitioned, as_csv, as_ipc, as_list_of_files, as_dataset, as_table,
    as_pandas,
]  # fmt: skip


@pytest.mark.parametrize("form", SOURCES)
def test_files_of_every_form(form, arrow, expected, tmp_path, frame):
    source = form(arrow, tmp_path)
    model = XNVRegressor(**GIVEN, random_state=0)
    model.fit_table(source, target="y", columns=NAMES)
    assert_same(model, expected, frame[NAMES])
    assert list(model.feature_names_in_) == NAMES


@pytest.mark.parametrize("name", REGRESSORS)
def test_every_regressor_takes_a_file(name, parquet, frame):
    X, y = frame[NAMES], frame["y"]
    model = make(name, sigma=1.5).fit_table(parquet, target="y", columns=NAMES)
    assert_allclose(model.predict(X), make(name, sigma=1.5).fit(X, y).predict(X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_takes_a_file(name, parquet, frame):
    X, y = frame[NAMES], frame["kind"]
    model = make(name, sigma=1.5).fit_table(parquet, target="kind", columns=NAMES)
    assert model.classes_.tolist() == ["down", "up"]
    fitted = make(name, sigma=1.5).fit(X, y)
    assert_allclose(model.decision_function(X), fitted.decision_function(X), rtol=1e-7, atol=1e-7)


def test_two_sources_are_one_under_the_other(frame, tmp_path, expected):
    known = frame["y"].notna()
    frame[known].to_parquet(tmp_path / "labeled.parquet")
    frame[~known].drop(columns="y").to_parquet(tmp_path / "unlabeled.parquet")
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(
        tmp_path / "labeled.parquet",
        target="y",
        columns=NAMES,
        unlabeled=tmp_path / "unlabeled.parquet",
    )
    assert_same(model, expected, frame[NAMES])


def test_several_targets_and_a_weight_column(frame, tmp_path):
    frame = frame.assign(z=frame["a"].where(np.arange(1200) % 7 == 0), w=np.arange(1200) % 4)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(
        tmp_path / "rows.parquet", target=["y", "z"], columns=NAMES, weight="w"
    )
    memory = XNVRegressor(**GIVEN, random_state=0).fit(
        frame[NAMES], frame[["y", "z"]], sample_weight=frame["w"]
    )
    assert_allclose(model.predict(frame[NAMES]), memory.predict(frame[NAMES]), rtol=1e-8, atol=1e-9)


def test_predictions_are_written_row_by_row(parquet, expected, frame, tmp_path):
    out = expected.predict_table(parquet, tmp_path / "out.parquet", keep=["id"])
    written = pq.read_table(out).to_pandas()
    assert written["id"].tolist() == frame["id"].tolist()
    assert_allclose(written["prediction"], expected.predict(frame[NAMES]), rtol=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "rows.parquet"]
    assert out.stat().st_mode == parquet.stat().st_mode  # readable by whom files usually are


def test_classes_are_written_with_their_probabilities(parquet, frame, tmp_path):
    model = XNVClassifier(**GIVEN, random_state=0).fit_table(parquet, target="kind", columns=NAMES)
    written = pq.read_table(model.predict_table(parquet, tmp_path / "out.parquet")).to_pandas()
    assert written["prediction"].tolist() == model.predict(frame[NAMES]).tolist()
    columns = written[["probability_down", "probability_up"]]
    assert_allclose(columns, model.predict_proba(frame[NAMES]), rtol=1e-12)


def test_a_prediction_that_fails_leaves_no_file(parquet, expected, tmp_path, monkeypatch):
    calls = []

    def fail_later(X, coverage, by):
        calls.append(len(X))
        if len(calls) > 2:
            raise KeyboardInterrupt
        return {"prediction": np.zeros(len(X))}

    monkeypatch.setattr(expected, "_prediction_columns", fail_later)
    with pytest.raises(KeyboardInterrupt):
        expected.predict_table(parquet, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "price"}, r"There is no column 'price'\. The table has a, b, c, d, y, kind, id"),
        ({"target": "y", "encode": False}, "'kind' is of type .*string, and inputs must be numbers"),
        ({"target": "a", "columns": ["y", "b"]}, "Column 'y' has missing values"),
        ({"target": "y", "columns": ["a"], "weight": "b"}, "missing or negative weights"),
    ],
)
def test_wrong_columns_are_named(parquet, options, message):
    with pytest.raises(ValueError, match=message):
        XNVRegressor(**GIVEN).fit_table(parquet, **options)


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_blank_label_in_text_is_no_class(tmp_path, frame, suffix, delimiter):
    frame[[*NAMES, "kind"]].to_csv(tmp_path / f"t.{suffix}", sep=delimiter, index=False)
    model = XNVClassifier(**GIVEN, random_state=0)
    model.fit_table(tmp_path / f"t.{suffix}", target="kind")
    assert model.classes_.tolist() == ["down", "up"]
    assert model.n_labeled_ == 120


def test_a_model_without_names_cannot_read_a_table(table, parquet, tmp_path):
    model = make("SSSLRegressor", sigma=1.5).fit(table.X, table.few)
    with pytest.raises(ValueError, match="fitted on rows without column names"):
        model.predict_table(parquet, tmp_path / "out.parquet")


def test_rows_of_weight_zero_are_absent_from_a_file(frame, tmp_path):
    light = frame.assign(w=np.where(np.arange(1200) < 400, 0, 2))
    light.to_parquet(tmp_path / "rows.parquet", row_group_size=200)  # two groups of them
    for scale in (None, "standard"):
        model = XNVRegressor(**GIVEN, scale=scale, random_state=0)
        model.fit_table(tmp_path / "rows.parquet", target="y", columns=NAMES, weight="w")
        rest = XNVRegressor(**GIVEN, scale=scale, random_state=0)
        rest.fit(frame[NAMES][400:], frame["y"][400:])
        assert_allclose(model.landmarks_, rest.landmarks_, rtol=1e-12)
        assert_allclose(model.predict(frame[NAMES]), rest.predict(frame[NAMES]), rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_words_in_a_dask_array_are_refused(dask_client, frame):
    import dask.array as da

    words = da.from_array(frame[["a", "id"]].to_numpy(), chunks=(400, 2))
    with pytest.raises(ValueError, match="inputs must be numbers"):
        XNVRegressor().fit(words, da.from_array(frame["y"].to_numpy()))


def test_a_table_without_rows_is_refused(arrow, tmp_path):
    pq.write_table(arrow.slice(0, 0), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows\.parquet has no rows\. Name a table with rows"):
        XNVRegressor(**GIVEN).fit_table(tmp_path / "rows.parquet", target="y", columns=NAMES)
    with pytest.raises(ValueError, match="The table has no rows"):
        XNVRegressor(**GIVEN).fit_table(arrow.slice(0, 0), target="y", columns=NAMES)


@pytest.mark.parametrize("name", ["XNVRegressor", "XKSRegressor"])
@pytest.mark.parametrize("parts", [2, 5])
def test_rows_taken_in_by_parts_give_the_model_of_the_whole(name, parts, table):
    given = dict(GIVEN)
    landmarks = XNVRegressor(**GIVEN, random_state=0).fit(table.X, table.few).landmarks_
    if name == "XNVRegressor":
        given["landmarks"] = landmarks
    whole = make(name, **given).fit(table.X, table.few)
    X, few = np.array_split(table.X, parts), np.array_split(table.few, parts)
    streamed = make(name, **given).fit(X[0], few[0])
    for x, y in zip(X[1:], few[1:], strict=True):
        streamed.partial_fit(x, y)
    merged = make(name, **given).fit(X[0], few[0])
    for x, y in zip(X[1:], few[1:], strict=True):
        merged.merge(make(name, **given).fit(x, y))
    for model in (streamed, merged):
        assert_allclose(model.correlations_, whole.correlations_, rtol=1e-8)
        assert_allclose(model.predict(table.X), whole.predict(table.X), rtol=1e-8, atol=1e-9)
        assert_allclose(model.loo_error_, whole.loo_error_, rtol=1e-8)
        assert (model.n_labeled_, model.n_unlabeled_) == (whole.n_labeled_, whole.n_unlabeled_)


def test_unlabeled_rows_can_be_taken_in(table):
    labeled = ~np.isnan(table.few)
    model = make("XNVRegressor", **GIVEN).fit(table.X[:800], table.few[:800])
    before = model.n_labeled_
    model.partial_fit(table.X[800:])
    assert model.n_labeled_ == before
    assert model.n_labeled_ + model.n_unlabeled_ == 1200
    assert labeled[:800].sum() == before


def test_classes_may_come_later(digits):
    X, y = digits.X, digits.y
    model = make("XNVClassifier", **GIVEN).partial_fit(X[:600][y[:600] < 5], y[:600][y[:600] < 5])
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    model.partial_fit(X[600:1200], y[600:1200])
    assert model.classes_.tolist() == list(range(10))
    assert model.score(X[1200:], y[1200:]) > 0.8
    first = make("XNVClassifier", **GIVEN)
    first.partial_fit(X[:600][y[:600] < 5], y[:600][y[:600] < 5], classes=np.arange(10))
    assert first.classes_.tolist() == list(range(10))
    assert first.predict(X[:600]).max() < 5
    with pytest.raises(ValueError, match="classes is for classifiers"):
        make("XNVRegressor", **GIVEN).partial_fit(X, y, classes=[1, 2])


def test_fits_with_other_views_cannot_be_merged(table):
    one = make("XNVRegressor", **GIVEN).fit(table.X[:600], table.few[:600])
    other = make("XNVRegressor", **GIVEN).fit(table.X[600:], table.few[600:])
    with pytest.raises(ValueError, match="cannot be merged: their views differ"):
        one.merge(other)


def test_landmarks_of_the_wrong_shape_are_refused(table):
    with pytest.raises(ValueError, match=r"landmarks has shape \(3, 4\).* even number of rows"):
        make("XNVRegressor", landmarks=table.X[:3]).fit(table.X, table.few)


# --- Dask: two worker processes of one thread each -------------------------------------------------


@pytest.fixture(scope="module")
def dask_client():
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_dask_arrays(dask_client, frame, expected):
    import dask.array as da

    X = da.from_array(frame[NAMES].to_numpy(), chunks=(250, 2))
    y = da.from_array(frame["y"].to_numpy(), chunks=400)
    model = XNVRegressor(**GIVEN, random_state=0).fit(X, y)
    assert_same(model, expected, frame[NAMES].to_numpy())


@pytest.mark.filterwarnings("ignore")
def test_dask_frames(dask_client, frame, expected):
    import dask.dataframe as dd

    rows = dd.from_pandas(frame, npartitions=5)
    model = XNVRegressor(**GIVEN, random_state=0).fit(rows[NAMES], rows["y"])
    assert_same(model, expected, frame[NAMES])
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(rows, target="y", columns=NAMES)
    assert_same(model, expected, frame[NAMES])


@pytest.fixture(scope="module")
def mixed(frame):
    """Words and dates beside numbers, some of which are blank."""
    towns = np.array(["Oslo", "Rome", "Lima"])[np.arange(1200) % 3]
    blank = np.arange(1200) % 11 == 0
    return frame[["a", "b", "y", "id"]].assign(town=towns, c=frame["c"].mask(blank))


@pytest.mark.filterwarnings("ignore")
def test_a_dask_frame_is_encoded_by_fit_as_by_fit_table(dask_client, mixed):
    import dask.dataframe as dd

    inputs = ["a", "b", "town", "c"]
    rows = dd.from_pandas(mixed, npartitions=3)
    by_table = XNVRegressor(**GIVEN, random_state=0).fit_table(rows, target="y", columns=inputs)
    by_fit = XNVRegressor(**GIVEN, random_state=0).fit(rows[inputs], rows["y"])
    assert [code.kind for code in by_fit.columns_] == ["number", "number", "category", "number"]
    assert by_fit.columns_ == by_table.columns_
    assert_same(by_fit, by_table, mixed[inputs])
    labeled, others = mixed["y"].notna(), mixed["y"].isna()
    apart = XNVRegressor(**GIVEN, random_state=0).fit(
        dd.from_pandas(mixed[labeled][inputs], npartitions=2),
        dd.from_pandas(mixed[labeled]["y"], npartitions=3),
        X_unlabeled=dd.from_pandas(mixed[others][inputs], npartitions=2),
    )
    assert_same(apart, by_table, mixed[inputs])


@pytest.mark.filterwarnings("ignore")
def test_a_dask_frame_without_its_unlabeled_rows(dask_client, mixed):
    import dask.dataframe as dd

    assert_left_out(dd.from_pandas(mixed.sort_values("y"), npartitions=5), mixed)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_frame_with_more_labels_than_are_held(dask_client, frame):
    import dask.dataframe as dd

    assert_held(dd.from_pandas(frame.sort_values("y"), npartitions=5), frame)


def assert_held(rows, frame):
    """Of more labels than are held, the same are used whatever the engine."""
    asked = {**GIVEN, "max_labels": 30, "random_state": 0}
    expected = XNVRegressor(**asked).fit(frame[NAMES], frame["y"])
    assert expected.n_labels_unused_ == expected.n_labeled_ - 30
    model = XNVRegressor(**asked).fit_table(rows, target="y", columns=NAMES)
    assert_same(model, expected, frame[NAMES])
    assert model.n_labels_unused_ == expected.n_labels_unused_


def assert_left_out(rows, mixed):
    """The model of some rows, of which the unlabeled ones are left out, is that of the labeled ones."""
    asked = {"target": "y", "columns": ["a", "b", "town", "c"]}
    expected = XNVRegressor(**GIVEN, random_state=0).fit_table(mixed[mixed["y"].notna()], **asked)
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(rows, **asked, without_unlabeled=True)
    assert_same(model, expected, mixed[asked["columns"]])
    assert (model.n_unlabeled_, model.n_left_out_) == (0, mixed["y"].isna().sum())
    assert model.shift_ is not None


@pytest.mark.filterwarnings("ignore")
def test_predictions_of_a_dask_frame(dask_client, mixed, tmp_path):
    import dask.dataframe as dd

    inputs = ["a", "b", "town", "c"]
    rows = dd.from_pandas(mixed, npartitions=10)
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(rows, target="y", columns=inputs)
    lazy = model.predict_table(rows)
    assert isinstance(lazy, dd.DataFrame)
    assert list(lazy.columns) == [*mixed.columns, "prediction"]
    here = lazy.compute()
    expected = model.predict(mixed[inputs])
    assert_allclose(here["prediction"], expected, rtol=1e-9)
    pd.testing.assert_frame_equal(here[mixed.columns], rows.compute())
    out = model.predict_table(rows, tmp_path / "out.parquet", keep=["id"])
    written = pq.read_table(out).to_pandas()
    assert written["id"].tolist() == mixed["id"].tolist()
    assert_allclose(written["prediction"], expected, rtol=1e-9)
    with pytest.raises(ValueError, match="a column 'prediction' already"):
        model.predict_table(lazy)
    with pytest.raises(TypeError, match=r"not in memory.* predict_table"):
        model.predict(rows[inputs])


@pytest.mark.filterwarnings("ignore")
def test_dask_arrays_of_unknown_length(dask_client, frame, expected):
    import dask.dataframe as dd

    rows = dd.from_pandas(frame, npartitions=4)
    rows = rows[rows["a"] < 10]  # all of them, which Dask cannot know
    X, y = rows[NAMES].to_dask_array(), rows["y"].to_dask_array()
    assert np.isnan(X.shape[0])
    model = XNVRegressor(**GIVEN, random_state=0).fit(X, y)
    assert_same(model, expected, frame[NAMES].to_numpy())
    with pytest.raises(ValueError, match="X has 1200 rows and y 600"):
        XNVRegressor(**GIVEN, random_state=0).fit(X, y[:600].compute_chunk_sizes()[:600])
    with pytest.raises(TypeError, match="not in memory"):
        model.predict(X)


@pytest.mark.filterwarnings("ignore")
def test_dask_brings_only_summaries_to_the_client(dask_client, monkeypatch):
    import dask.array as da
    from dask.distributed import Client

    gathered = []
    gather = Client.gather

    def spy(self, futures, *arguments, **options):
        result = gather(self, futures, *arguments, **options)
        gathered.extend(flat(result))
        return result

    def flat(result):  # Dask before 2025 wraps a result in lists
        if isinstance(result, (list, tuple)):
            return [single for part in result for single in flat(part)]
        return [result]

    monkeypatch.setattr(Client, "gather", spy)
    X = da.random.default_rng(0).normal(size=(20_000, 4), chunks=(2_000, 4))
    y = da.where(da.arange(20_000, chunks=2_000) < 200, X[:, 0], np.nan)
    model = XNVRegressor(**GIVEN, random_state=0).fit(X, y)
    assert (model.n_labeled_, model.n_unlabeled_) == (200, 19_800)
    assert [type(result) for result in gathered] == [FirstPass, Moments]


# --- Spark: local, two threads ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    session = local_spark()
    yield session
    session.stop()


@pytest.mark.filterwarnings("ignore")
def test_spark(spark, arrow, frame, expected):
    rows = spark.createDataFrame(arrow).repartition(5)
    model = XNVRegressor(**GIVEN, random_state=0).fit_table(rows, target="y", columns=NAMES)
    assert_same(model, expected, frame[NAMES])
    predicted = model.predict_table(rows).toPandas().set_index("id").loc[frame["id"]]
    assert_allclose(predicted["prediction"], expected.predict(frame[NAMES]), rtol=1e-7, atol=1e-8)
    classifier = XNVClassifier(**GIVEN, random_state=0).fit_table(rows, target="kind", columns=NAMES)
    blocks = list(model.predict_batches(rows, keep=["id"]))
    by_block = pa.concat_tables(blocks).to_pandas().set_index("id").loc[frame["id"]]
    assert_allclose(by_block["prediction"], predicted["prediction"], rtol=1e-9)
    guesses = classifier.predict_table(rows).toPandas()
    assert set(guesses["prediction"]) == {"up", "down"}
    assert_allclose(guesses["probability_up"] + guesses["probability_down"], 1)


@pytest.mark.filterwarnings("ignore")
def test_a_spark_frame_with_more_labels_than_are_held(spark, arrow, frame):
    assert_held(spark.createDataFrame(arrow).repartition(5), frame)


@pytest.mark.filterwarnings("ignore")
def test_a_spark_frame_without_its_unlabeled_rows(spark, mixed):
    table = pa.Table.from_pandas(mixed.sort_values("y"), preserve_index=False)
    assert_left_out(spark.createDataFrame(table).repartition(5), mixed)


@pytest.mark.filterwarnings("ignore")
def test_spark_estimates_what_memory_does(spark, arrow, frame):
    some = arrow.slice(0, 600)
    model = XNVRegressor(random_state=0).fit_table(some, target="y", columns=NAMES)
    rows = spark.createDataFrame(some).repartition(3)
    for question in ({"by": "kind"}, {"what": "quantile"}):
        memory = estimate(model, some, target="y", **question)
        found = estimate(model, rows, target="y", **question)
        for one, other in zip(found, memory, strict=True):
            assert one.words(0.95) == other.words(0.95)
            assert_allclose([one.low, one.high], [other.low, other.high], rtol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_spark_estimates_from_clusters_what_memory_does(spark, frame):
    patients = frame[:600].assign(patient=[f"p{i // 5}" for i in range(600)]).drop(columns="kind")
    how = {"target": "y", "columns": NAMES, "cluster": "patient"}
    memory, found = (
        XNVRegressor(random_state=0, members=[("ridge", Ridge())]).fit_table(rows, **how)
        for rows in (patients, spark.createDataFrame(patients).repartition(3))
    )
    assert_allclose(found.predict(frame[NAMES]), memory.predict(frame[NAMES]), rtol=1e-8)
    rows = spark.createDataFrame(patients).repartition(3)
    for question in ({}, {"what": "coefficients", "columns": ["a"]}):
        ask = {"target": "y", "cluster": "patient", **question}
        answers = (estimate(found, rows, **ask), estimate(memory, patients, **ask))
        ends = ([[one.estimate, one.low, one.high] for one in told] for told in answers)
        assert_allclose(*ends, rtol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_spark_suggests_the_places_that_memory_does(spark, arrow, frame, expected):
    rows = spark.createDataFrame(arrow)  # in its order, cut into partitions
    assert rows.rdd.getNumPartitions() > 1
    memory = suggest(expected, frame[NAMES], 20, y=frame["y"], random_state=3)
    found = suggest(expected, rows, 20, target="y", keep=["id"], random_state=3)
    assert_array_equal(found.places, memory.places)
    assert_allclose(found.worth, memory.worth, rtol=1e-9)
    assert found.rows["id"].to_pylist() == frame["id"][found.places].tolist()


@pytest.mark.parametrize(
    ("library", "extra", "source"),
    [("pyarrow", "files", "rows.parquet"), ("dask", "dask", None), ("pyspark", "spark", None)],
)
def test_an_engine_that_is_not_installed_is_named_with_its_extra(library, extra, source, monkeypatch):
    if source is None:
        source = type("Frame", (), {"__module__": f"{library}.frame"})()
    for name in [library, *sys.modules]:
        if name == library or name.startswith(f"{library}."):
            monkeypatch.setitem(sys.modules, name, None)
    for name in ("tables.arrow", "tables.dask", "tables.spark", "encoding.sources"):
        monkeypatch.delitem(sys.modules, f"twinviews.{name}", raising=False)
    with pytest.raises(ImportError, match=rf"not installed: pip install twinviews\[{extra}\]"):
        XNVRegressor().fit_table(source, target="y")
