"""Shapley values against their definition, for every set and for random orders."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.method import shapley
from twinviews.method.shapley import shapley_values


def predict(X):
    """Two outputs, with interactions."""
    return np.column_stack([np.sin(X[:, 0]) * X[:, 1] + X[:, -1] ** 2, X.prod(axis=1) + X[:, 0]])


def by_definition(row, background, group_of):
    """What each group adds, over all orders and rows of the background."""
    P = group_of.max() + 1
    found, orders = np.zeros((P, 2)), list(permutations(range(P)))
    for order in orders:
        rows = background.copy()
        for group in order:
            before = predict(rows).mean(axis=0)
            rows[:, group_of == group] = row[group_of == group]
            found[group] += predict(rows).mean(axis=0) - before
    return found / len(orders)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=5), rng.normal(size=(12, 5))


@pytest.mark.parametrize("group_of", [[0, 1, 2, 3, 4], [0, 0, 1, 2, 1]])
def test_of_few_groups_they_are_those_of_the_definition(rows, group_of):
    row, background = rows
    group_of = np.array(group_of)
    found = shapley_values(predict, row, background, group_of, np.random.default_rng(1))
    assert_allclose(found.values, by_definition(row, background, group_of), atol=1e-12)
    assert_allclose(found.base, predict(background).mean(axis=0))
    assert not found.deviation.any()


def of_random_orders(monkeypatch, *arguments):
    monkeypatch.setattr(shapley, "_MOST_ROWS_OF_ALL_SETS", 0)
    return shapley_values(*arguments)


def test_of_random_orders_they_sum_to_the_prediction(rows, monkeypatch):
    row, background = rows
    ask = (predict, row, background, np.arange(5), np.random.default_rng(1))
    found = of_random_orders(monkeypatch, *ask)
    assert_allclose(found.base + found.values.sum(axis=0), predict(row[None])[0], atol=1e-12)
    for at_once in (1, 17, 10_000):
        monkeypatch.setattr(shapley, "_VALUES_AT_ONCE", at_once)
        again = of_random_orders(monkeypatch, *ask[:-1], np.random.default_rng(1))
        assert_allclose(again.values, found.values, atol=1e-12)


def test_the_standard_error_of_random_orders_is_as_large_as_it_says(rows, monkeypatch):
    """The background is a sample of 400 rows, all of which give the truth."""
    row, rng = rows[0], np.random.default_rng(2)
    everything = rng.normal(size=(400, 5))
    truth = by_definition(row, everything, np.arange(5))
    off = []
    for _ in range(150):
        some = everything[rng.choice(400, 40, replace=False)]
        found = of_random_orders(monkeypatch, predict, row, some, np.arange(5), rng)
        # Of the output that depends on every column: of the other some are exactly 0.
        off.append(((found.values - truth) / found.deviation.clip(1e-300))[:, 1])
    inside = np.mean(np.abs(off) < 1.96, axis=0)
    assert (inside > 0.85).all()
    assert 0.92 < inside.mean() < 0.98


def test_of_a_plane_each_column_adds_its_slope_times_its_distance_from_the_mean(rows, monkeypatch):
    row, background = rows
    slope = np.array([[1.0], [-2.0], [0.0], [3.0], [0.5]])
    plane = lambda X: X @ slope + 7  # noqa: E731
    expected = slope[:, 0] * (row - background.mean(axis=0))
    ask = (plane, row, background, np.arange(5), np.random.default_rng(3))
    assert_allclose(shapley_values(*ask).values[:, 0], expected, atol=1e-12)
    assert_allclose(of_random_orders(monkeypatch, *ask).values[:, 0], expected, atol=1e-12)


def test_many_columns_are_asked_in_random_orders():
    rng = np.random.default_rng(4)
    row, background = rng.normal(size=60), rng.normal(size=(20, 60))
    seen = []

    def counted(X):
        seen.append(len(X))
        return X[:, :1]

    found = shapley_values(counted, row, background, np.arange(60), rng)
    assert sum(seen) == 2 * 20 * 61
    assert_allclose(found.values[0, 0], row[0] - background[:, 0].mean())
    assert not found.values[1:].any()
