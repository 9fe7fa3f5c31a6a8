import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.method.regression import labeled_factor, leave_one_out
from twinviews.method.tuning import (
    SIGMA_FACTORS,
    SIGMA_REFINEMENTS,
    Candidate,
    choose_penalty,
    choose_sigma,
    relative_error,
)
from twinviews.passes.labeled_rows import LabeledRows

RIDGES = 10.0 ** np.arange(-3, 1)


def problems(seed=0, n=30, t=2, blanks=False):
    """Labels of rows of three columns, one of which matters, and their least-squares problems."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([X[:, 0] + 0.5 * rng.normal(size=n) for _ in range(t)]) * np.arange(1, t + 1)
    if blanks:
        Y[: n // 3, 1] = np.nan
    labeled = LabeledRows.of(X, Y)
    return labeled.problems(labeled.labels)


def left_out_error(problem, penalty, intercept):
    """Sum over targets of the error over the variance, by leave-one-out of each fit itself."""
    block = (problem.X, problem.Y, problem.weight)
    factor = labeled_factor([block], intercept=intercept)
    predicted = leave_one_out(factor, penalty, [block])
    errors = problem.weight @ np.square(problem.Y - predicted)
    return (errors / np.var(problem.Y, axis=0)).sum()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("blanks", [True, False])
def test_the_choice_is_the_least_error_of_all_numbers(blanks, intercept):
    given = problems(blanks=blanks)
    candidates = [
        Candidate({"weight": 1.0}, np.array([5.0, 0.1, 0.1])),  # holds back what matters
        Candidate({"weight": 2.0}, np.array([0.0, 2.0, 2.0])),
        Candidate({"weight": 3.0}, np.array([1.0, 1.0, 0.0])),
    ]
    choice = choose_penalty([p.X for p in given], given, candidates, RIDGES, intercept=intercept)
    errors = {
        (values["weight"], ridge): sum(left_out_error(p, penalty + ridge, intercept) for p in given) / 2
        for values, penalty in candidates
        for ridge in RIDGES
    }
    best = min(errors, key=errors.get)
    assert (choice.values["weight"], choice.values["ridge"]) == best
    assert_allclose(choice.error, errors[best], rtol=1e-9)
    penalty = next(c.penalty for c in candidates if c.values["weight"] == best[0])
    assert_allclose(choice.penalty, penalty + best[1])
    assert best[0] == 2.0


def test_of_equal_candidates_the_first_is_taken_and_none_without_an_error():
    (problem,) = problems(n=3, t=1)
    same = [Candidate({"number": float(i)}, np.zeros(3)) for i in range(3)]
    choice = choose_penalty([problem.X], [problem], same, RIDGES, intercept=True)
    assert choice.values["number"] == 0
    # Without a ridge three features reproduce three labels: no row can be left out.
    none = choose_penalty([problem.X], [problem], same, np.array([0.0]), intercept=True)
    assert none.error == np.inf
    some = choose_penalty([problem.X], [problem], same, np.array([0.0, 1.0]), intercept=True)
    assert some.values["ridge"] == 1.0


def test_an_error_is_in_units_of_the_variance_and_includes_the_spread_of_copies():
    X, Y = np.array([[1.0], [2.0], [2.0], [5.0]]), np.array([[1.0], [2.0], [4.0], [3.0]])
    labeled = LabeledRows.of(X, Y)
    (problem,) = labeled.problems(labeled.labels)
    # (1 + 1) / 4 of spread, and a variance of 1.25
    assert_allclose(relative_error(np.array([[0.0], [2.0]]), problem), [0.4, 2.0])


def test_a_constant_target_decides_nothing():
    X = np.arange(4.0)[:, None]
    Y = np.column_stack([X[:, 0], np.full(4, 0.1), 1e9 + 1e-6 * X[:, 0]])
    labeled = LabeledRows.of(X, Y)
    (problem,) = labeled.problems(labeled.labels)
    assert_allclose(relative_error(np.array([[1.25, 7.0, 7.0]]), problem), [1.0])


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("truth", [0.3, 0.9, 1.1, 3.3, 5.2])
def test_sigma_is_the_best_of_the_grid_and_of_two_more_beside_it(truth, n_threads):
    asked = []

    def error_of(sigma):
        asked.append(sigma)
        return abs(np.log(sigma / truth))

    natural = 1.3
    found = choose_sigma(error_of, natural, n_threads)
    coarse = min((natural * factor for factor in SIGMA_FACTORS), key=lambda s: abs(np.log(s / truth)))
    finer = [coarse * factor for factor in SIGMA_REFINEMENTS]
    assert found == min([coarse, *finer], key=lambda sigma: abs(np.log(sigma / truth)))
    assert sorted(asked) == sorted([*(natural * factor for factor in SIGMA_FACTORS), *finer])


def test_a_sigma_without_an_error_is_not_chosen_and_with_none_the_natural_one_is():
    assert choose_sigma(lambda sigma: np.inf if sigma < 3 else sigma, 2.0, 1) == pytest.approx(4.0)
    with pytest.warns(
        UserWarning, match="No sigma has a leave-one-out error .* natural one, 2, is used"
    ):
        assert choose_sigma(lambda sigma: np.inf, 2.0, 1) == 2.0
