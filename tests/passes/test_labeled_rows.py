import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import twinviews.method.labeled_problem
from twinviews.method.labeled_problem import all_labeled, labeled_blocks
from twinviews.passes.labeled_rows import LabeledRows


def rows(X, Y, weight=None):
    return LabeledRows.of(np.asarray(X, float), None if Y is None else np.asarray(Y, float), weight)


def problems_of(labeled):
    return labeled.problems(labeled.labels)


def test_a_block_without_labels_merges_too():
    empty = rows([[1], [2]], None)
    some = rows([[1], [2]], [[np.nan], [5]])
    assert empty.merge(empty).count == 0
    assert empty.merge(some).count == some.merge(empty).count == 1


def test_equal_rows_become_one_with_their_mean_and_their_spread():
    (problem,) = problems_of(rows([[1], [2], [1]], [[4], [7], [6]]))
    assert len(problem.X) == 2
    one = int(np.flatnonzero(problem.X[:, 0] == 1)[0])
    assert_allclose(problem.Y[one], 5)
    assert_allclose(problem.weight[one], 2 / 3)
    assert_allclose(problem.spread, 2 / 3)  # (1 + 0 + 1) / 3
    assert_allclose(problem.variance, np.var([4, 7, 6]))


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, Y, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), rng.uniform(1, 2, 30)
    turn = rng.permutation(30)
    (one,) = problems_of(rows(X, Y, weight))
    (other,) = problems_of(rows(X[turn], Y[turn], weight[turn]))
    assert_array_equal(one.X, other.X)
    assert_array_equal(one.Y, other.Y)


def test_targets_known_on_other_rows_are_problems_of_their_own():
    Y = [[1, np.nan, 3], [2, np.nan, 4], [np.nan, 5, np.nan], [0, 6, 1]]
    problems = problems_of(rows([[0], [1], [2], [3]], Y))
    by_targets = {tuple(problem.targets): len(problem.Y) for problem in problems}
    assert by_targets == {(0, 2): 3, (1,): 2}


def test_labels_travel_as_they_are_and_a_named_one_is_missing():
    Y = np.array([["a"], ["?"], [None], ["b"]], dtype=object)
    labeled = LabeledRows.of(np.zeros((4, 1)), Y, missing_label="?")
    assert labeled.labels[:, 0].tolist() == ["a", "b"]


def test_first_is_a_problem_of_its_own():
    (problem,) = problems_of(rows(np.arange(10).reshape(-1, 1), np.arange(10).reshape(-1, 1)))
    few = problem.first(4)
    assert len(few.X) == 4
    assert_allclose(few.weight.sum(), 1)


def test_problems_that_share_rows_compute_their_features_once():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    Y[:5, 0] = Y[15:, 1] = np.nan
    problems = problems_of(rows(X, Y))
    calls = []

    def features(rows):
        calls.append(len(rows))
        return np.sin(rows)

    for problem, blocks in zip(problems, labeled_blocks(problems, features), strict=True):
        (block,) = blocks()
        assert_array_equal(block.Z, np.sin(problem.X))
        assert_array_equal(block.Y, problem.Y)
    assert calls == [20]


def test_rows_without_a_label_leave_nothing():
    nothing = rows([[1.0]], None)
    unlabeled = rows([[1.0], [2.0]], [[np.nan], [np.nan]])
    assert unlabeled == nothing
    assert unlabeled.merge(rows([[3.0]], [[4.0]])).count == 1


def test_rows_are_scaled_and_keep_their_order_and_their_labels():
    plain = rows([[3.0], [1.0], [2.0]], [[30.0], [10.0], [20.0]])
    assert plain.scaled(None) is plain
    (before,), (after,) = problems_of(plain), problems_of(plain.scaled(lambda X: -X))
    assert_array_equal(after.X, -before.X)
    assert_array_equal(after.Y, before.Y)


def test_a_row_with_some_label_is_kept_and_its_weight():
    labeled = rows([[1], [2], [3]], [[np.nan, 1], [np.nan, np.nan], [5, 6]], np.array([1.0, 7.0, 3.0]))
    assert labeled.count == 2
    first, second = sorted(problems_of(labeled), key=lambda problem: tuple(problem.targets))
    assert_array_equal(first.targets, [0])
    assert_array_equal(first.X, [[3]])
    assert_array_equal(second.targets, [1])
    assert_allclose(second.weight[np.argsort(second.X[:, 0])], [0.25, 0.75])
    assert_allclose(np.sort(all_labeled([first, second])[:, 0]), [1, 3])


def test_variance_is_that_of_all_labels_with_their_weights():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 4, size=(20, 1)), rng.normal(size=(20, 2))
    weight = rng.uniform(1, 2, 20)
    (problem,) = problems_of(rows(X, Y, weight))
    mean = np.average(Y, axis=0, weights=weight)
    assert_allclose(problem.variance, np.average((Y - mean) ** 2, axis=0, weights=weight))


def test_the_first_rows_are_those_of_the_problem():
    rng = np.random.default_rng(0)
    (problem,) = problems_of(
        rows(rng.normal(size=(10, 2)), rng.normal(size=(10, 1)), rng.uniform(1, 2, 10))
    )
    few = problem.first(4)
    assert_array_equal(few.X, problem.X[:4])
    assert_array_equal(few.Y, problem.Y[:4])
    assert_allclose(few.weight, problem.weight[:4] / problem.weight[:4].sum())


@pytest.mark.parametrize("blanks", [False, True])
def test_many_labels_come_in_blocks(monkeypatch, blanks):
    monkeypatch.setattr(twinviews.method.labeled_problem, "_BLOCK_ROWS", 4)
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(10, 2))
    Y[:3, 1] = np.nan if blanks else 0
    problems = problems_of(rows(rng.normal(size=(10, 3)), Y))
    assert len(problems) == 1 + blanks
    for problem, blocks in zip(problems, labeled_blocks(problems, np.sin), strict=True):
        parts = list(blocks())
        assert max(len(part.Y) for part in parts) == 4
        assert_array_equal(np.vstack([part.Z for part in parts]), np.sin(problem.X))
        assert_array_equal(np.vstack([part.Y for part in parts]), problem.Y)
        assert_array_equal(np.concatenate([part.weight for part in parts]), problem.weight)
