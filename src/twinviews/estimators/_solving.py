"""Step 3: features and labels to a ridge fit, and what that fit leaves open."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews.estimators._all_or_nothing import asking
from twinviews.estimators._checks import AUTO
from twinviews.method.intervals import MOST_LEFT_OUT, LeftOut
from twinviews.method.kernels import Kernel
from twinviews.method.labeled_problem import LabeledProblem, labeled_blocks
from twinviews.method.predictive_variance import PredictiveVariance
from twinviews.method.regression import LabeledBlock, left_out_fits, solve_ridge
from twinviews.method.tuning import (
    MOST_LABELS,
    PROBE_ROWS,
    Candidate,
    Choice,
    choose_penalty,
    choose_sigma,
)
from twinviews.method.views import Readout, View
from twinviews.tables.arrays import rows_per_block

# Predictions that rounding may move by more than this share of the labels' deviation are told.
_TOLD = 1e-6


class LabeledSolve(BaseEstimator):
    """A penalised regression of the labels on features that are learned already."""

    sigma: Any
    ridge: Any
    fit_intercept: bool
    n_threads: int | None
    progress: bool
    _view: View

    # --- what an algorithm provides -----------------------------------------------------------------

    @abstractmethod
    def _kernel(self) -> Kernel:
        """The kernel, or an error that says which there are."""

    @abstractmethod
    def _penalties(self, view: View) -> list[Candidate]:
        """Penalties on the coefficients of the features, one for each choice there is."""

    @abstractmethod
    def _ridge_grid(self, view: View) -> np.ndarray:
        """Values of the ridge to choose from when it is "auto"."""

    def _features_for(self, problems: Sequence[LabeledProblem]) -> View:
        """The features to regress on; some methods make them of the labeled rows."""
        return self._view

    def _labeled_features(self, view: View, problem: LabeledProblem) -> np.ndarray:
        """(m, r) what those features are at the labeled rows of a problem."""
        return view(problem.X)

    def _labeled_blocks(
        self, view: View, problems: Sequence[LabeledProblem]
    ) -> list[Callable[[], Iterable[LabeledBlock]]]:
        """The same of all problems, some rows at a time."""
        return labeled_blocks(problems, view)

    # --- what regressors and classifiers provide ----------------------------------------------------

    @abstractmethod
    def _judge(self, problems: Sequence[LabeledProblem], left_out: Sequence[np.ndarray]) -> None:
        """Set ``loo_error_`` from the prediction of each labeled row by the fit without it."""

    @abstractmethod
    def _doubt(self, X: Any) -> np.ndarray:
        """(rows,) how unsure the model is of each row, for rows on the scale of the fit."""

    # --- choose, solve, look back -------------------------------------------------------------------

    def _choose_sigma(self, rows: Any, error_of: Callable[[float], float]) -> float:
        """The given sigma, or the one of least error about the kernel's natural one."""
        if self.sigma != AUTO:
            return float(self.sigma)
        kernel = self._kernel()
        natural = kernel.natural_sigma(rows[:PROBE_ROWS])
        if not kernel.sigma_matters:
            return natural
        with one_blas_thread() as allowed:
            return choose_sigma(error_of, natural, self.n_threads or allowed)

    def _ridges(self, view: View) -> np.ndarray:
        """The given ridge, or those to choose from."""
        return self._ridge_grid(view) if self.ridge == AUTO else np.array([float(self.ridge)])

    def _choose_penalty(self, view: View, problems: Sequence[LabeledProblem]) -> Choice:
        """The penalty of least leave-one-out error on these features."""
        few = [problem.first(MOST_LABELS) for problem in problems]
        return choose_penalty(
            [view(problem.X) for problem in few],
            few,
            self._penalties(view),
            self._ridges(view),
            intercept=self.fit_intercept,
        )

    def _choose(self, view: View, problems: Sequence[LabeledProblem]) -> tuple[View, Choice]:
        """The features to regress on and the penalty, chosen by leave-one-out where "auto"."""
        candidates, ridges = self._penalties(view), self._ridges(view)
        if len(candidates) > 1 or len(ridges) > 1:
            return view, self._choose_penalty(view, problems)
        values, penalty = candidates[0]
        return view, Choice(np.nan, {**values, "ridge": float(ridges[0])}, penalty + ridges[0])

    def _solve(self, n_labeled: int, problems: Sequence[LabeledProblem]) -> Self:
        """Step 3: the labels. Choose what is left to choose, then one ridge regression."""
        view, choice = self._choose(self._features_for(problems), problems)
        for name, value in choice.values.items():
            setattr(self, f"{name}_", value)
        n_targets = sum(len(problem.targets) for problem in problems)
        coef, intercept = np.zeros((view.W.shape[1], n_targets)), np.zeros(n_targets)
        left_out = []
        for problem, blocks in zip(problems, self._labeled_blocks(view, problems), strict=True):
            fit, predicted = solve_ridge(
                blocks, choice.penalty, n=len(problem.Y), intercept=self.fit_intercept
            )
            coef[:, problem.targets], intercept[problem.targets] = fit
            left_out.append(predicted)
        self.n_labeled_ = n_labeled
        self._features, self._penalty, self._problems = view, choice.penalty, problems
        self._coef, self._intercept = coef, intercept
        self._readout = View(view.columns, view.W @ coef)
        self._judge(problems, left_out)
        self._warn_if_rounding_decides()
        return self

    def _warn_if_rounding_decides(self) -> None:
        doubt = max(self._rounding(), self._ignored())
        if doubt > _TOLD:
            warnings.warn(
                f"Rounding may move predictions by {min(doubt, 1):.0e} of the labels' deviation, and "
                f"far from the labels by more: with sigma={self.sigma_:g} rows are so alike that so "
                f"small a ridge does not settle them. Give a larger ridge, or a smaller sigma.",
                stacklevel=5,
            )

    def _rounding(self) -> float:
        """What rounding of the kernel values does to a prediction, over the labels' deviation."""
        worst = 0.0
        for problem in self._problems:
            varies = problem.variance > 0
            weights = np.abs(self._readout.W[:, problem.targets[varies]]).sum(axis=0)
            deviation = np.sqrt(problem.variance[varies])
            worst = max(worst, float((weights / deviation).max(initial=0)))
        return worst * self._features.scale * float(np.finfo(float).eps)

    def _ignored(self) -> float:
        """How much of a direction that is taken as zero the ridge would have let in."""
        return 0.0

    def _problem_of(self, target: int) -> tuple[LabeledProblem, int]:
        """The problem that has this target, and its place there."""
        for problem in self._problems:
            if target in problem.targets:
                return problem, int(np.flatnonzero(problem.targets == target)[0])
        raise AssertionError("every target has a problem")

    def _openness(self) -> PredictiveVariance:
        """What the labels leave open, of the target that has the fewest."""
        problem = min(self._problems, key=lambda problem: len(problem.Y))
        Z, count = self._labeled_features(self._features, problem), len(problem.Y)
        return PredictiveVariance.of(
            Z, count * problem.weight, self._penalty, intercept=self.fit_intercept
        )

    def _open_directions(self, X: Any) -> np.ndarray:
        """(rows, q) directions of some rows, by what the labels leave open."""
        return self._openness().directions(self._features(X))

    def _uncertainty(self, X: Any) -> np.ndarray:
        """(rows,) variance of the prediction in units of the noise; rows are on the fit's scale."""
        openness = self._openness()
        return self._by_blocks(lambda rows: openness.variance(self._features(rows)), X)

    def _left_out_fits(self, target: int) -> LeftOut:
        """The fits without each labeled row, in closed form."""
        problem, place = self._problem_of(target)
        view = self._features
        Z = self._labeled_features(view, problem)
        fits = left_out_fits(
            LabeledBlock(Z, problem.Y[:, [place]], problem.weight),
            self._penalty,
            some=min(MOST_LEFT_OUT, len(Z)),
            intercept=self.fit_intercept,
        )
        readout = View(view.columns, view.W @ fits.coef)
        weight = problem.weight[: len(fits.residual)]
        return LeftOut(
            Readout(readout, fits.intercept),
            np.arange(len(fits.residual)),
            fits.residual,
            weight / weight.sum(),
        )

    def _decision(self, X: Any) -> np.ndarray:
        """The same for rows on the scale of the fit."""
        return self._by_blocks(self._readout, X) + self._intercept

    def _by_blocks(self, view: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
        size = rows_per_block(X)
        blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
        if X.shape[0] <= size:
            with asking(self):
                return view(X)
        found = []
        with (
            asking(self),
            one_blas_thread(look=False) as allowed,
            progress_bar(X.shape[0], self.progress) as bar,
        ):
            for part in map_in_order(view, blocks, self.n_threads or allowed):
                found.append(part)
                bar.update(len(part))
        return np.concatenate(found)
