"""Laws of what a fit has seen, and of rows against it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from twinviews.passes.input_profile import (
    MOST_LEVELS_SEEN,
    ColumnRanges,
    InputProfile,
    LevelsSeen,
)
from twinviews.passes.outside_rows import bounds_of, chance, look_at_numbers


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    counts = rng.poisson(2.0, size=(200, 1)).astype(float)
    return np.hstack([rng.normal(size=(200, 2)), rng.uniform(5, 100, size=(200, 1)), counts])


def profile_of(X):
    return InputProfile(X.shape[0], ColumnRanges.of(X), {})


def same_ranges(one, other):
    for name in ("least", "most", "whole", "blank"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("size", [1, 7, 64])
def test_parts_in_any_order_merge_into_the_whole(rows, size):
    parts = [ColumnRanges.of(rows[start : start + size]) for start in range(0, len(rows), size)]
    parts = [parts[j] for j in np.random.default_rng(0).permutation(len(parts))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    same_ranges(merged, ColumnRanges.of(rows))
    same_ranges(ColumnRanges.of(sparse.csr_array(rows)), ColumnRanges.of(rows))
    assert_array_equal(merged.whole, [0, 0, 0, 1])


def test_rows_of_the_fit_are_never_outside_all_or_some_in_single_precision_too(rows):
    profile = profile_of(rows)
    order = np.argsort(rows[:, 0])
    for some in (rows, rows[order[:5]], rows[order[-1:]], rows.astype(np.float32)):
        assert look_at_numbers(profile, some).counts.n_outside == 0
        assert look_at_numbers(profile, sparse.csr_array(some)).counts.n_outside == 0


def test_bounds_are_half_a_range_away_and_on_the_side_of_zero_in_logarithms():
    ends = np.array([[0.0, 4.0, -100.0, -1.0], [10.0, 100.0, -4.0, 1.0]])
    no = np.zeros(4, np.uint8)
    low, high = bounds_of(ColumnRanges(*ends, no, no))
    np.testing.assert_allclose(low, [-5, 4 / 5, -148, -2], rtol=1e-4)
    np.testing.assert_allclose(high, [15, 148, -4 / 5, 2], rtol=1e-4)


@pytest.mark.parametrize("dense", [True, False])
def test_blocks_of_new_rows_are_counted_as_the_whole(rows, dense):
    profile = profile_of(rows)
    new = rows * [1, 100, 0.01, 1] + [0, 0, 0, 0.5]
    new[::3, 3] = 2
    new = new if dense else sparse.csr_array(new)
    whole = look_at_numbers(profile, new)
    parts = [look_at_numbers(profile, new[start : start + 33]).counts for start in range(0, 200, 33)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    for name in ("n_rows", "n_outside", "below", "above", "fractions", "least", "most"):
        assert_array_equal(getattr(merged, name), getattr(whole.counts, name))
    assert (whole.counts.below[2], whole.counts.fractions[3]) == (200, 133)
    assert whole.counts.told_columns(profile, list("abcd")) == [1, 2, 3]


def test_chance_is_the_share_of_draws_in_which_so_many_new_rows_are_beyond_all_others():
    rng = np.random.default_rng(0)
    N, n, draws = 30, 20, 20_000
    x = rng.random((draws, N + n))
    beyond = (x[:, N:] > x[:, :N].max(axis=1, keepdims=True)).sum(axis=1)
    for k in (1, 2, 4):
        share = np.mean(beyond >= k)
        assert share <= chance(k, n, N) + 0.01
        assert share >= chance(k, n, N) / 2  # and not by far too careful


def test_rare_levels_let_new_ones_be_expected():
    """New rows of a Zipf distribution hold levels that no row of the fit had: no reason to tell."""
    rng = np.random.default_rng(1)
    least = 1.0
    for _ in range(200):
        levels = rng.zipf(1.6, size=1500)
        fitted, count = np.unique(levels[:1000], return_counts=True)
        rows = dict(zip(map(str, fitted), count, strict=True))
        seen = LevelsSeen.of(rows, complete=True)
        unseen = int((~np.isin(levels[1000:], fitted)).sum())
        assert unseen > 10
        least = min(least, chance(unseen, 500, 1000, seen.rare_rows))
    assert least > 1e-4
    assert chance(400, 500, 1000, seen.rare_rows) < 1e-10


def test_levels_merge_by_their_rows():
    one = LevelsSeen.of({"a": 3, "b": 1}, complete=True)
    other = LevelsSeen.of({"b": 1, "c": 1, "7.0": 1}, complete=True)
    both = LevelsSeen.of({"a": 3, "b": 2, "c": 1, "7": 1}, complete=True)
    for merged in (one.merge(other), other.merge(one)):
        assert_array_equal(merged.hashes, both.hashes)
        assert_array_equal(merged.rows, both.rows)
    assert both.unseen(["a", "z", "7.0"]).tolist() == [False, True, False]
    assert both.rare_rows == 4


def test_nothing_is_claimed_beyond_the_cap():
    many = LevelsSeen.of({f"level {j}": 1 for j in range(MOST_LEVELS_SEEN)}, complete=True)
    assert many.complete
    more = many.merge(LevelsSeen.of({"one more": 1}, complete=True))
    assert not more.complete
    assert len(more.hashes) == 0
    assert not more.merge(many).complete
