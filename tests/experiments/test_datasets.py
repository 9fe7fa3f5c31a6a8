"""Loaders on small files of the very formats in which the sets are published."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat

from twinviews_experiments.datasets import public_sources
from twinviews_experiments.datasets.downloads import Download, Files, UnobtainableError
from twinviews_experiments.datasets.file_formats import read_delimited, read_parquet
from twinviews_experiments.datasets.paper_sets import (
    PAPER_SETS,
    SETS_BY_NAME,
    choose_sets,
    load,
)
from twinviews_experiments.datasets.preparation import prepare
from twinviews_experiments.datasets.public_sources import RawTable


@pytest.fixture
def folder(tmp_path):
    return Files(tmp_path / "data", tmp_path / "cache", online=False)


@pytest.fixture(autouse=True)
def without_checksums(monkeypatch):
    """The published files have known checksums; the small ones here have others."""
    for name, value in vars(public_sources).items():
        if isinstance(value, Download):
            monkeypatch.setattr(public_sources, name, Download(value.url, value.file))


def put(folder: Files, name: str, content: bytes | dict[str, str]) -> None:
    assert folder.folder is not None
    folder.folder.mkdir(exist_ok=True)
    path: Path = folder.folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in content.items():
            archive.writestr(member, text)


def test_the_registry_is_table_1():
    assert [one.number for one in PAPER_SETS] == list(range(1, 19))
    assert sorted(one.result_row for one in PAPER_SETS) == list(range(1, 19))
    assert SETS_BY_NAME["bank8"].result_row == 5
    assert len([one for one in PAPER_SETS if one.whole]) == 9
    assert all(len(one.parquet[1]) == 64 for one in PAPER_SETS if one.parquet is not None)


def test_ct(folder):
    header = ",".join(["patientId", *(f"value{j}" for j in range(384)), "reference"])
    rows = [",".join(["7", *["0.5", "-0.25"] * 192, f"{20 + i}.5"]) for i in range(3)]
    text = "\n".join([header, *rows]) + "\n"
    put(folder, "slice_localization_data.zip", {"slice_localization_data.csv": text})
    raw = public_sources.ct(folder)
    assert len(raw.features) == SETS_BY_NAME["ct"].paper_columns == 385
    assert_allclose(raw.y, [20.5, 21.5, 22.5])
    assert_allclose(raw.features["value1"], -0.25)


def test_ibn_sina(folder):
    data = "\n".join(" ".join(str((i * j) % 5) for j in range(92)) for i in range(4))
    put(
        folder, "IBN_SINA.zip", {"IBN_SINA/ibn_sina.data": data, "IBN_SINA/ibn_sina.label": "1\n-1\n-1"}
    )
    raw = public_sources.ibn_sina(folder)
    assert len(raw.features) == 92
    assert_array_equal(raw.y, [1, -1, -1, np.nan])  # the last label was held back
    assert raw.features["x3"][2] == (2 * 2) % 5


def test_orange(folder):
    names = [f"Var{j}" for j in range(1, 231)]
    first = ["1.5", *[""] * 189, *["aa"] * 39, ""]
    second = ["", *["2"] * 189, *["b c"] * 40]
    text = "\n".join("\t".join(row) for row in (names, first, second)) + "\n"
    put(folder, "orange_small_train.data.zip", {"orange_small_train.data": text})
    put(folder, "orange_small_train_appetency.labels", b"-1\n1\n")
    raw = public_sources.orange(folder)
    assert list(raw.features) == names
    assert_array_equal(raw.features["Var1"], [1.5, np.nan])
    assert raw.features["Var191"].tolist() == ["aa", "b c"]
    assert raw.features["Var230"].tolist() == [None, "b c"]
    assert_array_equal(raw.y, [-1, 1])


def test_sarcos_takes_test_rows_out_of_the_training_rows(folder):
    rng = np.random.default_rng(0)
    train, extra = rng.normal(size=(20, 28)), rng.normal(size=(2, 28))
    test = np.vstack([train[::10], extra])  # every tenth training row is a test row too
    for name, rows in (("sarcos_inv", train), ("sarcos_inv_test", test)):
        buffer = io.BytesIO()
        savemat(buffer, {name: rows})
        put(folder, f"{name}.mat", buffer.getvalue())
    raw = public_sources.sarcos(5)(folder)
    assert raw.test.sum() == 4
    assert len(raw.y) == 18 + 4
    assert_allclose(raw.y[raw.test], test[:, 21 + 4])  # 21 inputs, then the torque of joint 5
    prepared = prepare(raw, 44484, seed=0)
    assert prepared.X.shape == (18, 21)


def test_abalone(folder):
    put(
        folder,
        "abalone.zip",
        {"abalone.data": "M,0.4,0.3,0.1,0.5,0.2,0.1,0.15,15\nI,1,2,3,4,5,6,7,8\n"},
    )
    raw = public_sources.abalone(folder)
    assert list(raw.features) == list(public_sources.ABALONE_COLUMNS[1:7])
    assert_allclose(raw.y, [0.15, 7])


def test_adult(folder):
    row = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    )
    train = f"{row}2174, 0, 40, United-States, <=50K\n{row}0, 0, 40, ?, >50K\n"
    test = f"|1x3 Cross validator\n{row}0, 0, 30, Peru, >50K.\n"
    put(folder, "adult.zip", {"adult.data": train, "adult.test": test})
    raw = public_sources.adult(folder)
    assert len(raw.features) == SETS_BY_NAME["adult"].paper_columns
    assert_array_equal(raw.y, [-1, 1, 1])
    assert raw.features["native_country"].tolist() == ["United-States", "?", "Peru"]
    assert_array_equal(raw.test, [False, False, True])


def test_openml_through_scikit_learn(folder, monkeypatch):
    from sklearn import datasets
    from sklearn.utils import Bunch

    asked = {}

    def fetch_openml(**what):
        asked.update(what)
        return Bunch(
            data=np.arange(6.0).reshape(3, 2), target=np.array(["-1", "1", "-1"], dtype=object)
        )

    monkeypatch.setattr(datasets, "fetch_openml", fetch_openml)
    online = Files(folder.folder, folder.cache, online=True)
    raw = public_sources.openml(1039, classes=True)(online)
    assert asked["data_id"] == 1039
    assert asked["data_home"] == str(folder.cache)
    assert_array_equal(raw.y, [-1, 1, -1])
    assert_array_equal(raw.features["x2"], [1, 3, 5])
    with pytest.raises(UnobtainableError, match="OpenML's data set 1039"):
        public_sources.openml(1039)(folder)


def test_another_set_is_refused_by_its_width(folder):
    put(folder, "IBN_SINA.zip", {"ibn_sina.data": "1 2 3\n4 5 6", "ibn_sina.label": "1\n-1"})
    with pytest.raises(ValueError, match="3 columns, and the paper's has 92"):
        load(SETS_BY_NAME["ibn_sina"], folder)


def test_an_archive_without_the_file_is_refused_with_what_it_holds(folder):
    put(folder, "IBN_SINA.zip", {"readme.txt": "hello"})
    with pytest.raises(ValueError, match=r"no 'ibn_sina.data', only readme.txt"):
        public_sources.ibn_sina(folder)


def test_a_parquet_file_that_is_not_the_one_is_refused(folder):
    put(folder, "cpu_act.parquet", b"something else")
    with pytest.raises(ValueError, match="SHA-256"):
        load(SETS_BY_NAME["cpu"], folder)


def test_a_missing_set_says_how_to_get_it(folder):
    with pytest.raises(UnobtainableError, match=r"slice_localization_data\.zip"):
        load(SETS_BY_NAME["ct"], folder)
    with pytest.raises(UnobtainableError, match=r"census_house_union36\.parquet"):
        load(SETS_BY_NAME["census"], folder)


def test_parquet_categories_are_words_and_flags_are_numbers(tmp_path):
    table = pa.table(
        {
            "a": [1, 2, 3],
            "b": pa.array(["x", None, "x"]).dictionary_encode(),
            "is_test": [False, True, False],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    columns = read_parquet(tmp_path / "t.parquet")
    assert_array_equal(columns["a"], [1.0, 2, 3])
    assert columns["b"].tolist() == ["x", None, "x"]
    assert_array_equal(columns["is_test"], [0, 1, 0])


def test_a_plain_file_reads_as_its_zip(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,\n")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(tmp_path / "t.csv", "inside/t.csv")
    plain = read_delimited(tmp_path / "t.csv", "t.csv")
    zipped = read_delimited(tmp_path / "t.zip", "t.csv")
    for name in plain:
        assert plain[name].tolist() == zipped[name].tolist()


# --- preparation -------------------------------------------------------------------------------------


def raw_table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    word = np.array(["red", "green", None, "blue"], dtype=object)
    features = {
        "number": rng.normal(5, 3, n),
        "gaps": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n)),
        "constant": np.full(n, 7.0),
        "word": word[rng.integers(4, size=n)],
    }
    return RawTable(features, rng.normal(size=n))


def test_training_rows_are_standardised_and_test_rows_with_them():
    raw = raw_table()
    data = prepare(raw, 200, seed=1)
    assert len(data.X) == 200
    assert len(data.X_test) == 100
    assert_allclose(data.X[:, 0].mean(), 0, atol=1e-12)
    assert_allclose(data.X[:, 0].std(), 1)
    back = np.concatenate([data.X[:, 0], data.X_test[:, 0]])
    ratio = np.ptp(back) / np.ptp(raw.features["number"])
    assert_allclose(
        np.sort(back),
        np.sort((raw.features["number"]) * ratio + back.min() - raw.features["number"].min() * ratio),
        atol=1e-9,
    )


def test_missing_numbers_are_the_mean_constants_zero_and_words_indicators():
    data = prepare(raw_table(), 200, seed=1)
    assert data.X.shape[1] == 3 + 4  # four levels, the missing word among them
    assert not np.isnan(data.X).any()
    assert_array_equal(data.X[:, 2], 0)
    assert_array_equal(data.X[:, 3:].sum(axis=1), 1)


def test_rare_levels_get_no_column_when_there_are_many():
    words = np.array([f"w{i % 150}" for i in range(290)] + ["often"] * 710, dtype=object)
    data = prepare(RawTable({"word": words}, np.zeros(1000)), 800, seed=0)
    assert data.X.shape[1] == 1


def test_the_split_is_the_papers_size_or_half_and_always_the_same():
    assert len(prepare(raw_table(), 200, seed=1).X) == 200
    assert len(prepare(raw_table(), 290, seed=1).X) == 150
    one, other = prepare(raw_table(), 200, seed=1), prepare(raw_table(), 200, seed=1)
    assert one.fingerprint() == other.fingerprint()
    assert one.fingerprint() != prepare(raw_table(), 200, seed=2).fingerprint()


def test_an_official_split_is_kept_and_test_rows_without_a_label_are_left_out():
    raw = raw_table()._replace(test=np.arange(300) >= 250)
    raw.y[260] = np.nan
    data = prepare(raw, 200, seed=0)
    assert len(data.X) == 250
    assert len(data.y_test) == 49


def test_unknown_names_are_refused_with_the_known_ones():
    assert [one.name for one in choose_sets(["cpu", "abalone"])] == ["abalone", "cpu"]
    assert len(choose_sets([])) == 18
    with pytest.raises(ValueError, match=r"no set 'cup'\. The sets are abalone"):
        choose_sets(["cup"])
