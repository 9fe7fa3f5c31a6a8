"""The automatic choices: every number at once, by closed-form leave-one-out error on the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from twinviews._system.threads import map_in_order
from twinviews._system.user_warnings import warn_user
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.regression import ridge_path_errors

# Relative to the natural sigma of the kernel (the median distance between rows). Smooth targets need
# wide kernels, so there is more room above than below.
SIGMA_FACTORS = tuple(2.0**step for step in (-2, -1, 0, 1, 2, 3))
# Around the best of those.
SIGMA_REFINEMENTS = (2**-0.5, 2**0.5)
# In canonical coordinates of unit variance, a ridge of 1 shrinks every coefficient to less than half.
RIDGES = 10.0 ** np.arange(-4, 1.01, 0.5)
# In view coordinates the unit is the mean of k(x, x), and directions of small variance matter too.
# Below 1e-6 leave-one-out now and then picks a fit that is wild between the labels: on elevators, 500
# labels the error of KRR rises from 0.145 to 0.405 of the variance when 1e-9 is allowed.
VIEW_RIDGES = 10.0 ** np.arange(-6, 0.51, 0.5)
# In units of the mean of k(x, x); smaller ones cost accuracy at few labels for the same reason.
CORRELATION_RIDGES = (1e-5, 1e-4, 1e-3, 1e-2)
CANONICAL_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
# Features per view, as in the paper's experiments.
PAPER_COMPONENTS = 200
# Distinct rows that give a kernel its natural sigma and the moments their shift.
PROBE_ROWS = 512
# Rows that stand for the table while sigma is chosen, and labels that are looked at while choosing:
# enough to rank candidates, few enough that choosing costs less than a pass over a large table.
SAMPLE_ROWS = 8192
MOST_LABELS = 4096


class Candidate(NamedTuple):
    """A penalty on features that are already computed."""

    values: dict[str, float]  # the numbers it stands for, by parameter name
    penalty: np.ndarray  # (k,)


class Choice(NamedTuple):
    error: float  # leave-one-out error over the variance of the labels, mean over targets
    values: dict[str, float]
    penalty: np.ndarray  # (k,) with the ridge added


def choose_penalty(
    features: Sequence[np.ndarray],
    problems: Sequence[LabeledProblem],
    candidates: Iterable[Candidate],
    ridges: np.ndarray,
    *,
    intercept: bool,
) -> Choice:
    """The candidate and the ridge of least error; ``features`` holds one (m, k) array per problem."""
    n_targets = sum(len(problem.targets) for problem in problems)
    found = []
    for values, penalty in candidates:
        errors = np.zeros(len(ridges))
        for Z, problem in zip(features, problems, strict=True):
            path = ridge_path_errors(Z, problem.Y, problem.weight, penalty, ridges, intercept=intercept)
            errors += relative_error(path, problem) / n_targets
        errors = np.where(np.isnan(errors), np.inf, errors)
        least = int(errors.argmin())
        ridge = float(ridges[least])
        found.append(Choice(float(errors[least]), {**values, "ridge": ridge}, penalty + ridge))
    return min(found, key=attrgetter("error"))


def relative_error(errors: np.ndarray, problem: LabeledProblem) -> np.ndarray:
    """(candidates,) sum over targets of error over variance, from (candidates, targets) errors.

    A target that is constant but for rounding is predicted without error and decides nothing.
    """
    variance = problem.variance
    varies = variance > np.square(1e-12 * np.abs(problem.Y).max(axis=0))
    return ((errors + problem.spread)[:, varies] / variance[varies]).sum(axis=1)


def choose_sigma(error_of: Callable[[float], float], natural: float, n_threads: int) -> float:
    """The sigma of least error on a grid about the natural one, refined once."""

    def errors_at(sigmas: list[float]) -> dict[float, float]:
        return dict(zip(sigmas, map_in_order(error_of, sigmas, n_threads), strict=True))

    errors = errors_at([natural * factor for factor in SIGMA_FACTORS])
    if not np.isfinite(list(errors.values())).any():
        warn_user(
            f"No sigma has a leave-one-out error (too few labels, or ridge=0), so the kernel's natural "
            f'one, {natural:g}, is used. Give a sigma, more labels, or ridge="auto".'
        )
        return natural
    coarse = min(errors, key=errors.__getitem__)
    errors |= errors_at([coarse * factor for factor in SIGMA_REFINEMENTS])
    return min(errors, key=errors.__getitem__)
