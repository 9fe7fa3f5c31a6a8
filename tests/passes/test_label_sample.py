"""More labeled rows than a fit holds: a sample that nobody can choose, the same however rows come."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews.method.landmarks import row_priorities
from twinviews.passes.label_sample import label_hashes, most_labels, unforeseen_order
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.tables.base import merge_all

LIMIT = 40


def block(X, Y, weight=None, limit=LIMIT, draw=0):
    return LabeledRows.of(X, Y, weight, max_labels=limit, draw=draw)


def in_blocks(X, Y, cuts, **how):
    return [block(x, y, **how) for x, y in zip(np.split(X, cuts), np.split(Y, cuts), strict=True)]


def as_sets(labeled):
    """Rows, labels, weights and copies, sorted."""
    parts = labeled.X_parts, labeled.Y_parts, [w[:, None] for w in labeled.weight_parts]
    columns = [np.concatenate(part) for part in parts]
    rows = np.column_stack([*columns, np.concatenate(labeled.copies)])
    return rows[np.lexsort(rows.T)]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.integers(0, 6, size=(500, 3)).astype(float), rng.integers(0, 3, size=(500, 1)) * 1.0


@pytest.mark.parametrize("seed", range(8))
def test_any_order_any_blocks_and_any_tree_of_merges_give_the_same_rows(table, seed):
    X, Y = table
    rng = np.random.default_rng(seed)
    turn = rng.permutation(len(X))
    parts = in_blocks(X[turn], Y[turn], np.sort(rng.integers(0, len(X), size=12)))
    while len(parts) > 1:  # a random tree
        at = int(rng.integers(len(parts) - 1))
        parts[at : at + 2] = [parts[at].merge(parts[at + 1])]
    whole = block(X, Y).settled()
    assert_allclose(as_sets(parts[0].settled()), as_sets(whole))
    assert parts[0].settled().count == LIMIT
    assert parts[0].n_labels == whole.n_labels == len(X)
    assert parts[0].redrawn(3).draw == whole.redrawn(3).draw


def test_what_is_held_never_exceeds_the_limit_by_more_than_a_block_and_a_quarter(table):
    X, Y = table
    X = np.random.default_rng(1).normal(size=X.shape)
    parts = in_blocks(X, Y, np.arange(25, len(X), 25))
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
        assert merged.count <= 1.25 * LIMIT


def test_up_to_the_limit_all_labels_are_there_in_their_order(table):
    X, Y = table
    parts = in_blocks(X, Y, [100, 300], limit=len(X))
    merged = merge_all(parts).settled()
    assert_array_equal(np.concatenate(merged.X_parts), X)
    assert_array_equal(merged.labels, Y)
    assert not merged.is_sample
    assert merged.n_dropped == 0


def test_equal_rows_with_equal_labels_are_one_with_their_weight_and_none_is_dropped():
    X, Y = np.tile([[1.0, 2.0], [3.0, 4.0]], (300, 1)), np.tile([["a"], ["b"], ["b"]], (200, 1))
    labeled = block(X, Y.astype(object), np.full(600, 0.5)).settled()
    assert labeled.count == 4
    assert labeled.n_labels == 600
    assert labeled.n_dropped == 0
    assert_allclose(np.concatenate(labeled.weight_parts).sum(), 300)
    (problem,) = labeled.problems(np.where(labeled.labels == "a", 1.0, -1.0))
    assert_allclose(problem.Y[:, 0], -1 / 3)


def test_a_row_of_weight_two_is_a_row_given_twice(table):
    X, Y = table
    twice = block(np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)).redrawn(0).settled()
    double = block(X, Y, np.full(len(X), 2.0)).redrawn(0).settled()
    assert_allclose(as_sets(twice)[:, :-1], as_sets(double)[:, :-1])


def test_the_sample_is_as_good_as_random(table):
    """Means over draws are those of all labels: no row is likelier than another."""
    X, Y = table
    X = np.random.default_rng(1).normal(size=X.shape)
    Y = X[:, :1] + 3 * (X[:, :1] > 1)
    means = [block(X, Y, draw=draw).settled().labels.mean() for draw in range(300)]
    assert abs(np.mean(means) - Y.mean()) < 4 * np.std(means) / np.sqrt(len(means))
    expected = Y.std() * np.sqrt((1 - LIMIT / len(Y)) / LIMIT)
    assert_allclose(np.std(means), expected, rtol=0.2)


def test_whoever_writes_rows_of_small_hash_gets_no_more_than_their_share():
    rng = np.random.default_rng(0)
    honest, tried = rng.normal(size=(2000, 2)), rng.normal(size=(100_000, 2))
    smallest = tried[np.argsort(row_priorities(tried, seed=0))[:200]]
    X = np.vstack([honest, smallest])
    Y = np.repeat([[0.0], [1.0]], [2000, 200], axis=0)
    # Those who know the hash, and the draw of seed 0 for an empty table, would fill a sample.
    assert Y[np.argsort(row_priorities(X, seed=0))[:200]].mean() > 0.5
    for seed in range(3):
        sample = block(X, Y, limit=220).redrawn(seed).settled()
        assert sample.labels.mean() < 2.5 * Y.mean()
        (problem,) = block(X, Y, limit=5000).problems(Y, seed)
        assert problem.Y[:220].mean() < 2.5 * Y.mean()


def test_one_more_row_changes_the_draw():
    X = np.random.default_rng(0).normal(size=(1500, 2))
    keys = row_priorities(X, seed=0)
    first, more = unforeseen_order(keys[1:], 0), unforeseen_order(keys, 0)
    together = np.intersect1d(first[:100] + 1, more[:100])
    assert len(together) < 30
    assert unforeseen_order(keys[:1000], 0) is None


def test_labels_are_equal_by_what_they_say():
    numbers = label_hashes(np.array([1.0, 0.0, np.nan]))
    assert_array_equal(numbers, label_hashes(np.array([1, 0, None], dtype=object)))
    assert_array_equal(numbers[:2], label_hashes(np.array([True, False])))
    words = label_hashes(np.array(["a", "b", None, "a"], dtype=object))
    assert words[0] == words[3] != words[1]
    assert words[2] == 0


def test_samples_of_two_draws_do_not_make_one(table):
    X, Y = table
    one, other = block(X, Y, draw=1).settled(), block(X, Y, draw=2).settled()
    with pytest.raises(ValueError, match="max_labels that holds all"):
        one.merge(other)
    whole = replace(block(X, Y, limit=len(X), draw=2), limit=LIMIT)  # can be sampled by any draw
    assert one.merge(whole).settled().n_labels == 2 * len(X)


def test_wide_tables_hold_fewer_rows_unless_told():
    assert most_labels(np.zeros((1, 5))) == 1_000_000
    assert most_labels(np.zeros((1, 1000))) == 50_000
    assert most_labels(np.zeros((1, 1000)), 80_000) == 80_000
