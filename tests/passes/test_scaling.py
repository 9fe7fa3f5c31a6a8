from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import kstest, norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from conftest import REGRESSORS, make
from twinviews import XNVRegressor
from twinviews.method.landmarks import AllDistinctRows
from twinviews.passes.scaling import (
    ColumnMoments,
    RankScaling,
    rank_scaling,
    robust_scaling,
    standard_scaling,
    without_last_digits,
)
from twinviews.tables import ArrayTable, Block
from twinviews.tables.base import MappedTable

GIVEN = {"n_components": 40, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}


@pytest.fixture
def far(table):
    return table.X * [1, 10, 0.1, 1000] + [0, 5, -3, 1e4]


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 99), max_size=5))
@settings(max_examples=20, deadline=None)
def test_column_moments_merge_into_those_of_the_whole(seed, cuts):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(100, 3)) * [1, 100, 1e-3] + 1e3, rng.uniform(0.5, 2, 100)
    at = sorted(set(cuts))
    parts = zip(np.split(X, at), np.split(weight, at), strict=True)
    merged = None
    for x, w in parts:
        part = ColumnMoments.of(x, w)
        merged = part if merged is None else merged.merge(part)
    theirs = StandardScaler().fit(X, sample_weight=weight)
    scaling = standard_scaling(merged)
    assert_allclose(scaling.centre, theirs.mean_, rtol=1e-12)
    assert_allclose(scaling.spread, theirs.scale_, rtol=1e-8)


def test_robust_scaling_is_the_formula():
    X = np.random.default_rng(0).standard_cauchy(size=(500, 3))
    Z = RobustScaler().fit_transform(X)
    assert_allclose(robust_scaling(X)(X), Z / np.sqrt(1 + (Z / 3) ** 2), rtol=1e-10)
    assert np.abs(robust_scaling(X)(X)).max() < 3


def test_columns_without_spread_stay_finite():
    X = np.column_stack([np.full(100, 7.0), np.arange(100) < 5, np.arange(100)]).astype(float)
    for scaling in (robust_scaling(X), standard_scaling(ColumnMoments.of(X, None))):
        assert np.isfinite(scaling(X)).all()
        assert (scaling.spread > 0).all()


def test_standard_is_a_standard_scaler_in_front(far, table):
    given = {"sigma": 1.5, "ridge": 1e-2}
    inside = make("KRRRegressor", **given, scale="standard").fit(far, table.few)
    front = make_pipeline(StandardScaler(), make("KRRRegressor", **given)).fit(far, table.few)
    assert_allclose(inside.predict(far), front.predict(far), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_units_do_not_matter_to_a_scaled_model(name, scale, table, far):
    X, units, few = table.X[:400], far[:400], table.few[:400]
    truth = table.y[400:]
    if name.startswith(("XNV", "SSSL")):  # landmarks go by content, so other units choose others
        scores = [
            make(name, scale=scale).fit(A, few).score(B, truth)
            for A, B in ((X, table.X[400:]), (units, far[400:]))
        ]
        assert min(scores) > 0.7
        return
    here, there = make(name, scale=scale).fit(X, few), make(name, scale=scale).fit(units, few)
    assert_allclose(there.predict(far), here.predict(table.X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_scaled_fits_agree_across_memory_files_and_relabel(scale, far, table, tmp_path):
    names = ["a", "b", "c", "d"]
    columns = dict(zip(names, far.T, strict=True)) | {"y": pa.array(table.few, from_pandas=True)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=130)
    memory = XNVRegressor(**GIVEN, scale=scale, random_state=0).fit(far, table.few)
    filed = XNVRegressor(**GIVEN, scale=scale, random_state=0)
    filed.fit_table(tmp_path / "rows.parquet", target="y")
    assert_allclose(filed.landmarks_, memory.landmarks_, rtol=1e-12, atol=1e-12)
    assert_allclose(filed.coef_, memory.coef_, rtol=1e-6, atol=1e-9)
    out = filed.predict_table(tmp_path / "rows.parquet", tmp_path / "out.parquet")
    expected = memory.predict(far)
    assert_allclose(pq.read_table(out)["prediction"].to_numpy(), expected, rtol=1e-8, atol=1e-9)
    labeled = ~np.isnan(table.few)
    again = memory.relabel(far[labeled], table.few[labeled]).predict(far)
    assert_array_equal(again, expected)


def test_sparse_rows_are_not_filled_in_silence(table):
    with pytest.raises(ValueError, match="scale='robust' would fill a sparse X"):
        make("XNVRegressor", scale="robust").fit(csr_array(table.X), table.few)
    with pytest.raises(ValueError, match="scale='minmax' must be one of 'standard', 'robust'"):
        make("XNVRegressor", scale="minmax").fit(table.X, table.few)


def test_rank_scaling_makes_columns_normal_and_keeps_their_order():
    X = np.random.default_rng(0).lognormal(sigma=3, size=(2000, 2))
    scaling = rank_scaling(X)
    Z = scaling(X)
    assert kstest(Z[:, 0], "norm").statistic < 0.02
    order = X[:, 1].argsort()
    assert (np.diff(Z[order, 1]) >= 0).all()
    beyond = scaling(np.array([[1e30, -1e30]]))
    assert_allclose(beyond, [[Z[:, 0].max(), Z[:, 1].min()]])


def test_rank_scaling_of_a_few_values_is_the_middle_of_their_ranks():
    column = np.repeat([0.0, 1.0, 5.0], [50, 30, 20])
    X = np.column_stack([column, np.full(100, 3.0)])
    Z = rank_scaling(X)(np.array([[0.0, 3.0], [1.0, 9.0], [5.0, -9.0]]))
    assert_allclose(Z[:, 0], norm.ppf(np.array([25.5, 65.5, 90.5]) / 101))
    assert_allclose(Z[:, 1], norm.ppf(50.5 / 101), atol=1e-12)  # a constant column says nothing


def test_rank_scaling_does_not_depend_on_units_or_any_rising_function(table):
    given = {"sigma": 1.5, "ridge": 1e-2}
    bent = np.sinh(table.X) * [1, 1e3, 1e-3, 7] + 5
    straight = make("KRRRegressor", **given, scale="rank").fit(table.X, table.few)
    other = make("KRRRegressor", **given, scale="rank").fit(bent, table.few)
    # Linear between knots, so not exact there: another 950 values lie between 256 knots.
    assert_allclose(other.predict(bent), straight.predict(table.X), atol=0.1)


@pytest.mark.parametrize("far", [0, 1e3, 1e6, 1e8, 1e12])
def test_scaled_rows_are_the_same_bits_for_any_order(far, table):
    X = table.X + far
    turn = np.random.default_rng(0).permutation(len(X))
    one = standard_scaling(ColumnMoments.of(X, None))
    parts = [ColumnMoments.of(rows, None) for rows in np.split(X[turn], 4)]
    other = standard_scaling(parts[3].merge(parts[1]).merge(parts[0]).merge(parts[2]))
    assert one.same_as(other)
    assert_allclose(one.spread, (X - far).std(axis=0), rtol=1e-11)  # a difference without rounding


def test_scalings_are_the_same_only_if_all_their_numbers_are():
    X = np.random.default_rng(0).normal(size=(40, 2))
    standard, robust, rank = (
        standard_scaling(ColumnMoments.of(X, None)),
        robust_scaling(X),
        rank_scaling(X),
    )
    moved = X + np.array([0.0, 1.0])
    others = [
        standard_scaling(ColumnMoments.of(moved, None)),
        standard_scaling(ColumnMoments.of(2 * X, None)),
        replace(standard, clip=3.0),
        robust_scaling(moved),
        rank_scaling(moved),
        RankScaling(rank.knots, tuple(2 * values for values in rank.values)),
        None,
    ]
    for one in (standard, robust, rank):
        assert one.same_as(replace(one))
        assert not any(one.same_as(other) for other in others)
    assert not standard.same_as(rank)
    assert not rank.same_as(standard)


def test_a_value_between_two_ranks_lies_between_their_quantiles():
    scaling = rank_scaling(np.array([[1.0], [2.0], [4.0]]))
    quantiles = norm.ppf([0.25, 0.5, 0.75])
    assert_allclose(
        scaling(np.array([[1.0], [3.0], [4.0]]))[:, 0], [quantiles[0], quantiles[2] / 2, quantiles[2]]
    )


def test_ranks_of_many_values_end_at_one_in_a_thousand():
    scaling = rank_scaling(np.arange(10_000.0)[:, None])
    assert len(scaling.knots[0]) == 256
    assert scaling.knots[0][0] == 0
    assert scaling.knots[0][-1] == 9999
    Z = scaling(np.array([[0.0], [9999.0]]))[:, 0]
    assert_allclose(Z, norm.ppf([1e-3, 1 - 1e-3]))


def test_without_last_digits_is_within_half_a_digit_and_stays():
    values, spread = np.array([1 / 3, -1e6 / 7, 12345.678]), np.array([1.0, 3.0, 1e-3])
    rounded = without_last_digits(values, spread)
    assert (np.abs(rounded - values) <= 1e-12 * spread).all()
    assert (rounded != values).any()
    assert_array_equal(without_last_digits(rounded, spread), rounded)
    nudged = values + 1e-15 * spread
    assert_array_equal(without_last_digits(nudged, spread), rounded)


def test_a_column_whose_quartiles_coincide_is_divided_by_its_deviation():
    X = np.column_stack([(np.arange(100) < 5).astype(float), np.arange(100.0)])
    scaling = robust_scaling(X)
    assert_allclose(scaling.spread, [X[:, 0].std(), np.subtract(*np.quantile(X[:, 1], [0.75, 0.25]))])
    assert_allclose(scaling.centre, np.median(X, axis=0))


def test_a_scaled_table_gives_scaled_blocks():
    X = np.random.default_rng(0).normal(size=(30, 2)) + 4
    scaling = standard_scaling(ColumnMoments.of(X, None))
    table = ArrayTable(Block(X, None, None))
    table.block_rows = 7
    seen = MappedTable(table, scaling).fold(lambda block: AllDistinctRows.of(block.X, None))
    assert_array_equal(np.vstack(seen.parts), scaling(X))
