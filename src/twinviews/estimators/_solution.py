"""A ridge fit of the labels on learned features, and how certain it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.regression import LabeledBlock, left_out_fits
from twinviews.method.uncertainty import MOST_LEFT_OUT, LeftOut, PredictiveVariance
from twinviews.method.views import Readout, View


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
        readout = View(self.view.columns, self.view.W @ fits.coef)
        weight = problem.weight[: len(residual)]
        return LeftOut(
            Readout(readout, fits.intercept), np.arange(len(residual)), residual, weight / weight.sum()
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
