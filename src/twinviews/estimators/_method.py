"""What differs between methods: where features come from, and how their coefficients are penalised.

A method ends in a solution: a ridge fit of the labels on learned features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from twinviews._system.memory import refuse_what_cannot_fit
from twinviews._system.threads import one_blas_thread
from twinviews._system.user_warnings import warn_user
from twinviews.estimators._checks import AUTO
from twinviews.method.intervals import MOST_LEFT_OUT, FitsAtRows, LeftOut
from twinviews.method.labeled_problem import LabeledProblem, labeled_blocks
from twinviews.method.landmarks import AllDistinctRows
from twinviews.method.regression import LabeledBlock, left_out_fits, solve_ridge
from twinviews.method.tuning import (
    MOST_LABELS,
    PROBE_ROWS,
    VIEW_RIDGES,
    Candidate,
    Choice,
    choose_penalty,
    choose_sigma,
)
from twinviews.method.uncertainty import PredictiveVariance
from twinviews.method.views import Readout, View
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

Problems = Sequence[LabeledProblem]
LabeledFeatures = list[Callable[[], Iterable[LabeledBlock]]]

# Distinct rows that stand for all while sigma is chosen: each trial on all would cost a whole fit.
STAND_IN_ROWS = 400
# Predictions that rounding may move by more than this share of the labels' deviation are told.
_TOLD = 1e-6


@dataclass(frozen=True)
class Solution:
    """The result of step 3; rows on the scale of the fit -> (rows, targets)."""

    view: Annotated[View, "D r"]  # the features
    penalty: Annotated[np.ndarray, "r", ">= 0"]
    problems: Annotated[tuple[Annotated[LabeledProblem, "D"], ...], ">= 1"]
    coef: Annotated[np.ndarray, "r T"]
    intercept: Annotated[np.ndarray, "T"]
    readout: Annotated[View, "D T=r"]  # features times coefficients
    values: Mapping[str, Annotated[float, ">= 0"]]  # given or chosen, by parameter name
    fit_intercept: bool
    landmarks_are_labeled: bool  # whether the last landmarks of the view are the labeled rows

    def __call__(self, X: Any) -> np.ndarray:
        """(rows, T)"""
        return self.readout(X) + self.intercept

    def problem_of(self, target: int) -> tuple[LabeledProblem, int]:
        """The problem that has this target, and its place there."""
        for problem in self.problems:
            if target in problem.targets:
                return problem, int(np.flatnonzero(problem.targets == target)[0])
        raise AssertionError("every target has a problem")

    def labeled_features(self, problem: LabeledProblem) -> np.ndarray:
        """(m, r) the features at the labeled rows of a problem."""
        if self.landmarks_are_labeled:
            return features_of_landmarks(self.view, problem)[problem.place]
        return self.view(problem.X)

    def predictive_variance(self) -> PredictiveVariance:
        """The variance of predictions, for the target that has the fewest labels."""
        problem = min(self.problems, key=lambda problem: len(problem.Y))
        Z, weight = self.labeled_features(problem), len(problem.Y) * problem.weight
        return PredictiveVariance.of(Z, weight, self.penalty, intercept=self.fit_intercept)

    def left_out(self, target: int) -> LeftOut:
        """The fits without each labeled row, in closed form."""
        problem, place = self.problem_of(target)
        Z = self.labeled_features(problem)
        fits, residual = left_out_fits(
            LabeledBlock(Z, problem.Y[:, [place]], problem.weight),
            self.penalty,
            some=min(MOST_LEFT_OUT, len(Z)),
            intercept=self.fit_intercept,
        )
        readout = Readout(View(self.view.columns, self.view.W @ fits.coef), fits.intercept)
        weight = problem.judging[: len(residual)]
        return LeftOut(
            lambda X: FitsAtRows(readout(X)), np.arange(len(residual)), residual, weight / weight.sum()
        )

    def rounding(self) -> float:
        """What rounding of the kernel values does to a prediction, over the labels' deviation."""
        worst = 0.0
        for problem in self.problems:
            varies = problem.variance > 0
            weights = np.abs(self.readout.W[:, problem.targets[varies]]).sum(axis=0)
            deviation = np.sqrt(problem.variance[varies])
            worst = max(worst, float((weights / deviation).max(initial=0)))
        return worst * self.view.scale * float(np.finfo(float).eps)


def features_of_landmarks(view: View, problem: LabeledProblem) -> np.ndarray:
    """(., r) the features of all distinct labeled rows, which are the last landmarks of the view.

    With W = V D^(-1/2) they are V D^(1/2). In the product of kernel values and W, what an eigenvector
    of a small eigenvalue has left would be lost to rounding.
    """
    W = view.W[-problem.distinct.shape[0] :]
    return W / np.square(W).sum(axis=0)


class Solved(NamedTuple):
    """Step 3, done."""

    solution: Solution
    left_out: list[np.ndarray]  # of each problem: predictions of its rows by the fits without them


class Method(ABC):
    """Features from all rows (steps 1 and 2), then ridge regression on the labels (step 3)."""

    # Eigenvalues of a kernel matrix up to this share of the largest are zero: beside a ridge only
    # rounding in the eigenvalues themselves.
    rcond = 1e-13
    # Small matrices are slower on a BLAS with several threads; methods on N x N matrices want it.
    large_matrices: ClassVar[bool] = False
    # Whether the last landmarks of the view are all distinct labeled rows: their features are exact.
    landmarks_are_labeled: ClassVar[bool] = False
    # What a user can look at of what was learned, by name.
    shown: ClassVar[tuple[str, ...]] = ("sigma", "landmarks")

    def __init__(self, model: Any) -> None:
        self.model, self.kernel = model, model._kernel()

    @abstractmethod
    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> Any:
        """Steps 1 and 2: what the features are made of, from all rows."""

    # --- what a method may do differently -----------------------------------------------------------

    def sample_size(self) -> int:
        """Distinct rows that the first pass must sample."""
        return PROBE_ROWS

    def features(self, learned: Any, problems: Problems) -> View:
        """The features to regress on; some methods make them of the labeled rows."""
        return learned.view

    def penalties(self, learned: Any, view: View) -> list[Candidate]:
        """Penalties on the coefficients beside the ridge, one for each choice there is."""
        return [Candidate({}, np.zeros(view.W.shape[1]))]

    def ridge_grid(self, view: View) -> np.ndarray:
        """Values of the ridge to choose from when it is "auto"."""
        return VIEW_RIDGES * view.scale

    def choose(self, learned: Any, view: View, problems: Problems) -> tuple[View, Choice]:
        """The features to regress on and their penalty, by leave-one-out error where "auto"."""
        candidates, ridges = self.penalties(learned, view), self.ridges(view)
        if len(candidates) > 1 or len(ridges) > 1:
            return view, self.least_error(candidates, view, problems)
        values, penalty = candidates[0]
        return view, Choice(np.nan, {**values, "ridge": float(ridges[0])}, penalty + ridges[0])

    def ignored(self, solution: Solution) -> float:
        """Share of a direction, taken as zero in the features, that the ridge would have let in."""
        return 0.0

    def variance(self, learned: Any, solution: Solution) -> Callable[[Any], np.ndarray]:
        """Rows -> (rows,) variance of their predictions, in units of the noise."""
        predictive = solution.predictive_variance()
        return lambda X: predictive.variance(solution.view(X))

    def directions(self, learned: Any, solution: Solution, X: Any) -> np.ndarray:
        """(rows, q) directions whose squared lengths are the predictive variances."""
        return solution.predictive_variance().directions(solution.view(X))

    def attributes(self, learned: Any, solution: Solution) -> dict[str, Any]:
        """What a user can look at, by name."""
        found = {name: getattr(learned, name) for name in self.shown} | dict(solution.values)
        return {f"{name}_": value for name, value in found.items() if value is not None}

    # --- what all methods share ---------------------------------------------------------------------

    def solve(self, learned: Any, problems: Problems) -> Solved:
        """Step 3: choose what is left to choose, then one ridge regression of the labels."""
        view, choice = self.choose(learned, self.features(learned, problems), problems)
        n_targets = sum(len(problem.targets) for problem in problems)
        coef, intercept = np.zeros((view.W.shape[1], n_targets)), np.zeros(n_targets)
        left_out = []
        for problem, blocks in zip(problems, self._labeled_features(view, problems), strict=True):
            fit, predicted = solve_ridge(
                blocks, choice.penalty, n=len(problem.Y), intercept=self.model.fit_intercept
            )
            coef[:, problem.targets], intercept[problem.targets] = fit
            left_out.append(predicted)
        solution = Solution(
            view,
            choice.penalty,
            tuple(problems),
            coef,
            intercept,
            View(view.columns, view.W @ coef),
            choice.values,
            self.model.fit_intercept,
            self.landmarks_are_labeled,
        )
        return Solved(solution, left_out)

    def _labeled_features(self, view: View, problems: Problems) -> LabeledFeatures:
        """The features of the labeled rows of each problem, some rows at a time."""
        if not self.landmarks_are_labeled:
            return labeled_blocks(problems, view)
        Z = features_of_landmarks(view, problems[0])
        return [partial(problem.blocks, Z.__getitem__) for problem in problems]

    def all_rows(self, table: Table, n_matrices: int) -> tuple[Any, np.ndarray]:
        """The distinct rows and the share of the weight on each, if that many N x N matrices fit."""
        rows, share = table.fold(lambda block: AllDistinctRows.of(block.X, block.weight)).distinct()
        self.check_memory(rows.shape[0], n_matrices)
        return rows, share

    def check_memory(self, n_rows: int, n_matrices: int) -> None:
        """An error if that many matrices of rows by rows do not fit in memory."""
        who = type(self.model).__name__
        refuse_what_cannot_fit(who, n_rows, n_matrices, instead="SSSL or XNV")

    def ridges(self, view: View) -> np.ndarray:
        """The given ridge, or those to choose from."""
        ridge = self.model.ridge
        return self.ridge_grid(view) if ridge == AUTO else np.array([float(ridge)])

    def least_error(self, candidates: Sequence[Candidate], view: View, problems: Problems) -> Choice:
        """The penalty of least leave-one-out error on these features."""
        few = [problem.first(MOST_LABELS) for problem in problems]
        return choose_penalty(
            [view(problem.X) for problem in few],
            few,
            candidates,
            self.ridges(view),
            intercept=self.model.fit_intercept,
        )

    def error_of(self, view_of: Callable[[float], View], problems: Problems, sigma: float) -> float:
        """The least leave-one-out error with this sigma."""
        view = view_of(sigma)
        return self.least_error(self.penalties(None, view), view, problems).error

    def choose_sigma(self, rows: Any, error_of: Callable[[float], float]) -> float:
        """The given sigma, or the one of least error about the kernel's natural one."""
        if self.model.sigma != AUTO:
            return float(self.model.sigma)
        natural = self.kernel.natural_sigma(rows[:PROBE_ROWS])
        if not self.kernel.sigma_matters:
            return natural
        with one_blas_thread() as allowed:
            return choose_sigma(error_of, natural, self.model.n_threads or allowed)

    # --- what is told -------------------------------------------------------------------------------

    def warn_if_a_column_is_lost(self, rows: Any) -> None:
        column = self.kernel.drowned_column(rows, self.rcond)
        if column is not None:
            values = rows[:, column]
            warn_user(
                f"Column {column} varies by {values.std():.2g} around {values.mean():.2g}, which "
                f"kernel={self.model.kernel!r} cannot tell from a constant: it has no effect. Use "
                f'scale="standard", or take the means of the columns off.'
            )

    def warn_if_rounding_decides(self, sigma: float, solution: Solution) -> None:
        share = max(solution.rounding(), self.ignored(solution))
        if share > _TOLD:
            warn_user(
                f"Rounding may move predictions by {min(share, 1):.0e} of the labels' deviation, and "
                f"far from the labels by more: with sigma={sigma:g} rows are so alike "
                f"that so small a ridge does not settle them. Give a larger ridge, or a smaller sigma."
            )
