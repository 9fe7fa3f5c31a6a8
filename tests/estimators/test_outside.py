"""What is told of rows outside what the fit has seen, the same on every engine."""

import pickle
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from twinviews import (
    KRRRegressor,
    OutsideWarning,
    XNVClassifier,
    XNVRegressor,
    load_model,
    save_model,
)
from twinviews.estimators._outside import profile_of

QUICK = {"n_components": 20, "sigma": 2.0, "ridge": 1e-2, "correlation_ridge": 1e-3, "random_state": 0}
INPUTS = ["carbon", "count", "grade", "taken"]


@pytest.fixture(scope="module")
def samples():
    """Numbers, whole numbers, words with a rare one, dates, and blanks among the numbers."""
    rng = np.random.default_rng(5)
    grade = rng.choice(list("ABC"), 300)
    grade[17] = "rare"
    rows = pd.DataFrame(
        {
            "carbon": rng.uniform(31.2, 62.0, 300),
            "count": rng.poisson(9.0, 300).astype(float),
            "grade": grade,
            "taken": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 300, 300), "D"),
        }
    )
    rows.loc[::20, "count"], rows.loc[1, "count"] = np.nan, 0
    rows["y"] = np.where(np.arange(300) < 60, rows["carbon"] + rng.normal(size=300), np.nan)
    return rows


@pytest.fixture(scope="module")
def model(samples):
    return XNVRegressor(**QUICK).fit(samples[INPUTS], samples["y"])


@pytest.fixture(scope="module")
def spoiled(samples):
    new = samples[INPUTS].copy()
    new["carbon"] *= 100
    new.loc[:39, "grade"] = "H"
    return new


def written(samples, folder, ending):
    path = folder / f"rows.{ending}"
    if ending == "csv":
        samples.to_csv(path, index=False)
    else:
        samples.to_parquet(path, row_group_size=70)
    return path


def same_profile(one, other):
    one, other = profile_of(one), profile_of(other)
    assert one.n_rows == other.n_rows
    for name in ("least", "most", "whole", "blank"):
        assert_array_equal(getattr(one.ranges, name), getattr(other.ranges, name))
    assert set(one.levels) == set(other.levels)
    for name, seen in one.levels.items():
        assert_array_equal(seen.hashes, other.levels[name].hashes)
        assert_array_equal(seen.rows, other.levels[name].rows)
        assert seen.complete == other.levels[name].complete


def sources(samples, folder):
    yield written(samples, folder, "csv")
    yield written(samples, folder, "parquet")
    yield pq.read_table(written(samples, folder, "parquet"))
    yield dd.from_pandas(samples, npartitions=3)


def test_every_engine_has_seen_the_same_and_is_silent_on_the_table_of_the_fit(samples, model, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideWarning)
        assert not model.outside(samples[INPUTS]).any()
        model.predict(samples[INPUTS].sample(frac=0.3, random_state=0))
        model.predict_interval(samples[INPUTS][:1])
        for source in sources(samples, tmp_path):
            fitted = XNVRegressor(**QUICK).fit_table(source, target="y", columns=INPUTS)
            same_profile(fitted, model)
            for table in fitted.predict_batches(source, outside=True):
                assert table.column("outside").null_count == len(table)


def test_a_wrong_unit_and_a_new_level_are_told_with_ranges_and_counts(model, spoiled):
    with pytest.warns(OutsideWarning) as caught:
        model.predict(spoiled)
    (warning,) = (one.message for one in caught)
    text = str(warning)
    assert "carbon: all 300 rows are outside the range of the fit, 31." in text
    assert "(here 3,1" in text
    assert ": another unit?" in text
    assert "grade: 40 of 300 rows hold a value that the fit has not seen: 'H'." in text
    assert warning.columns == ("carbon", "grade") == pickle.loads(pickle.dumps(warning)).columns
    assert caught[0].filename == __file__
    assert_array_equal(model.outside(spoiled).sum(axis=0), [300, 0, 40, 0])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_and_lazy_frames_name_the_columns_of_each_row(model, spoiled, tmp_path, ending):
    expected = np.where(np.arange(300) < 40, "carbon, grade", "carbon")
    path = written(spoiled, tmp_path, ending)
    with pytest.warns(OutsideWarning, match="carbon: all 300 rows .* grade: 40 of 300 rows"):
        model.predict_table(path, tmp_path / "out.parquet", outside=True)
    assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["outside"], expected)
    lazy = model.predict_table(dd.from_pandas(spoiled, npartitions=3), outside=True)
    assert_array_equal(lazy["outside"].compute().to_numpy(dtype=object), expected)


def test_dates_fractions_and_blanks_are_told(model, samples):
    new = samples[INPUTS].copy()
    new["taken"] += pd.Timedelta(days=2000)
    new["count"] /= 100
    new.loc[:29, "carbon"] = np.nan
    with pytest.warns(OutsideWarning) as caught:
        model.predict(new)
    text = str(caught[0].message)
    assert "taken: all 300 rows are outside the range of the fit, 2021-01-0" in text
    assert "(here 2026-06-" in text
    assert "rows have a fraction, and all numbers of the fit were whole: another unit?" in text
    assert "carbon: 30 of 300 rows are blank, and no row of the fit was." in text


def test_single_rows_are_told_by_row_and_raise_no_warning(model, samples):
    new = samples[INPUTS].copy()
    new.loc[[3], "carbon"] = 9000.0
    new.loc[[4], "grade"] = "H"
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideWarning)
        model.predict(new)
        model.predict(new[3:4])
    rows, columns = np.nonzero(model.outside(new))
    assert (rows.tolist(), columns.tolist()) == ([3, 4], [0, 2])


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # of rows times two
def test_more_rows_and_merged_fits_have_seen_what_one_fit_on_all_rows_has(samples):
    X, y = samples[INPUTS].copy(), samples["y"]
    X.loc[200, "grade"] = "late"
    whole = XNVRegressor(**QUICK).fit(X, y)
    parts = XNVRegressor(**QUICK).partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    for name in ("least", "most", "blank", "whole"):
        assert_array_equal(
            getattr(profile_of(parts).ranges, name), getattr(profile_of(whole).ranges, name)
        )
    assert_array_equal(profile_of(parts).levels["grade"].rows, profile_of(whole).levels["grade"].rows)
    assert not parts.outside(X).any()
    numbers = X[["carbon"]].to_numpy()
    given = {**QUICK, "landmarks": numbers[:40]}
    one, other, both = (
        XNVRegressor(**given).fit(numbers[rows], y[rows])
        for rows in (slice(0, 30), slice(30, 300), slice(0, 300))
    )
    same_profile(one.merge(other), both)
    before = profile_of(both)
    assert profile_of(both.relabel(2 * numbers[:50], y[:50])) is before


def test_a_saved_model_has_seen_the_same(model, samples, spoiled, tmp_path):
    numbers = KRRRegressor().fit(samples[["carbon"]].to_numpy(), samples["y"])
    for one, new in ((model, spoiled), (numbers, 100 * samples[["carbon"]].to_numpy())):
        save_model(one, tmp_path / "model")
        again = load_model(tmp_path / "model")
        same_profile(again, one)
        assert_array_equal(again.outside(new), one.outside(new))
    with pytest.warns(OutsideWarning, match="column 0: all 300 rows"):
        again.predict(new)


def test_a_model_without_a_profile_claims_nothing(model, samples, spoiled, tmp_path):
    old = pickle.loads(pickle.dumps(model))
    object.__setattr__(old._encoder, "profile", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideWarning)
        old.predict(spoiled)
        save_model(old, tmp_path / "old")
        (table,) = load_model(tmp_path / "old").predict_batches(spoiled)
    assert table.column_names == ["prediction"]
    with pytest.raises(ValueError, match=r"earlier version.*Fit it again"):
        old.outside(spoiled)


def test_classes_sparse_rows_and_several_targets(samples):
    X = sparse.random_array((200, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = X.toarray() @ [[1, 2], [0, 1], [1, 0], [0, 0], [1, 1], [2, 0]]
    for fitted in (
        KRRRegressor().fit(X, y),
        XNVClassifier(**QUICK).fit(X, (y[:, 0] > 1).astype(int)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", OutsideWarning)
            fitted.predict(X)
        new = X.toarray() * [1, 1, 1, 50, 1, 1]
        expected = fitted.outside(new)
        assert_array_equal(np.flatnonzero(expected.any(axis=0)), [3])
        assert_array_equal(fitted.outside(sparse.csr_array(new)), expected)
        with pytest.warns(OutsideWarning, match="column 3: "):
            fitted.predict(sparse.csr_array(new))


@pytest.mark.parametrize("n_levels", [9_000, 11_000])
def test_rare_levels_of_a_column_with_many_were_seen(n_levels, tmp_path):
    """Beyond 10,000 levels nothing is claimed; below, a new one is told from a rare one."""
    n = n_levels + 2000
    words = np.array([f"remark {j}" for j in range(n_levels)] + ["none"] * 2000)
    words = np.random.default_rng(0).permutation(words)
    X = np.random.default_rng(1).normal(size=n)
    rows = pd.DataFrame({"x": X, "remark": words, "y": np.where(np.arange(n) < 50, X, np.nan)})
    rows.to_parquet(tmp_path / "t.parquet", row_group_size=3000)
    model = XNVRegressor(**QUICK).fit_table(
        tmp_path / "t.parquet", target="y", kinds={"remark": "category"}
    )
    assert not model.outside(rows).any()
    new = rows.assign(remark=["new"] * 5 + list(words[5:]))
    assert model.outside(new).sum() == (5 if n_levels <= 10_000 else 0)
