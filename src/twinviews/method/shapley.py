r"""Shapley values: what each group of columns adds to the prediction of one row.

With S a set of groups, :math:`v(S)` is the mean prediction of rows of a background that have the row's
values in S. The value of a group is what it adds to v, averaged over all orders of the groups:

.. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|!\,(P - |S| - 1)!}{P!} \bigl(v(S \cup j) - v(S)\bigr).

All values sum to the prediction less the mean prediction of the background. Of few groups every S is
asked. Of more, each row of the background goes through one random order and its reverse, which keeps
the sum exact; how far these paths differ tells the standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np

Predict = Callable[[np.ndarray], np.ndarray]  # (rows, D) -> (rows, t)

# Rows that one explanation may predict if every set is asked.
_MOST_ROWS_OF_ALL_SETS = 30_000
_VALUES_AT_ONCE = 2_000_000


class ShapleyValues(NamedTuple):
    base: np.ndarray  # (t,) the mean prediction of the background
    values: np.ndarray  # (P, t)
    deviation: np.ndarray  # (P, t) standard errors; 0 where every set was asked


def shapley_values(
    predict: Predict,
    row: np.ndarray,
    background: np.ndarray,
    group_of: np.ndarray,
    rng: np.random.Generator,
) -> ShapleyValues:
    """Of one row (D,) against a background (B, D); ``group_of`` (D,) is the group of each column."""
    P, B = int(group_of.max()) + 1, len(background)
    if P <= 30 and 2**P * B <= _MOST_ROWS_OF_ALL_SETS:
        return _of_all_sets(predict, row, background, group_of, P)
    return _of_random_orders(predict, row, background, group_of, P, rng)


def _of_all_sets(
    predict: Predict, row: np.ndarray, background: np.ndarray, group_of: np.ndarray, P: int
) -> ShapleyValues:
    sets = np.arange(2**P)
    member = (sets[:, None] >> np.arange(P)) & 1 == 1  # (sets, P)
    v = _mean_predictions(predict, row, background, member[:, group_of])
    size = member.sum(axis=1)
    of_size = np.array([1 / (P * comb(P - 1, k)) for k in range(P)])
    values = np.empty((P, v.shape[1]))
    for j in range(P):
        without = sets[~member[:, j]]
        values[j] = of_size[size[without]] @ (v[without | 1 << j] - v[without])
    return ShapleyValues(v[0], values, np.zeros_like(values))


def _mean_predictions(
    predict: Predict, row: np.ndarray, background: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    """(sets, t) over the background, with the columns that are taken (sets, D) from the row."""
    B = len(background)

    def rows(some: np.ndarray) -> np.ndarray:
        return np.where(taken[some // B], row, background[some % B])

    found = _in_parts(predict, rows, len(taken) * B, len(row))
    return np.asarray(found.reshape(len(taken), B, -1).mean(axis=1))


def _in_parts(predict: Predict, rows: Callable[[np.ndarray], np.ndarray], n: int, D: int) -> np.ndarray:
    """(n, t) predictions of rows that are made by their numbers, some at a time."""
    at_once = max(1, _VALUES_AT_ONCE // D)
    parts = [predict(rows(np.arange(start, min(start + at_once, n)))) for start in range(0, n, at_once)]
    return np.concatenate([part.reshape(len(part), -1) for part in parts])


def _of_random_orders(
    predict: Predict,
    row: np.ndarray,
    background: np.ndarray,
    group_of: np.ndarray,
    P: int,
    rng: np.random.Generator,
) -> ShapleyValues:
    B = len(background)
    order = np.array([rng.permutation(P) for _ in range(B)])
    orders = np.stack([order, order[:, ::-1]], axis=1).reshape(2 * B, P)  # and each reversed
    rank = np.argsort(orders, axis=1)

    def rows(some: np.ndarray) -> np.ndarray:
        path, step = some // (P + 1), some % (P + 1)
        # After k steps a path has the groups of rank below k from the row.
        taken = rank[path] < step[:, None]
        return np.where(taken[:, group_of], row, background[path // 2])

    path = _in_parts(predict, rows, 2 * B * (P + 1), len(row)).reshape(2 * B, P + 1, -1)
    steps = np.diff(path, axis=1)  # in the order of the path
    by_group = np.take_along_axis(steps, rank[:, :, None], axis=1)
    each = by_group.reshape(B, 2, P, -1).mean(axis=1)
    deviation = each.std(axis=0, ddof=1) / np.sqrt(B) if B > 1 else np.full(each.shape[1:], np.inf)
    return ShapleyValues(path[::2, 0].mean(axis=0), each.mean(axis=0), deviation)
