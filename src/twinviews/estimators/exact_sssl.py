"""Exact SSSL, section 2.4: least squares on eigenfunctions of the full kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._method import STAND_IN_ROWS, Method, Problems, Solution
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.regression import nested_leave_one_out
from twinviews.method.tuning import MOST_LABELS, Choice, relative_error
from twinviews.method.views import View, eigenfunctions
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# Eigenfunctions that are computed when their number is to be chosen.
_MOST_EIGENFUNCTIONS = 1000


@dataclass(frozen=True)
class LearnedEigenfunctions:
    """Eigenfunctions of the kernel over all rows."""

    sigma: Annotated[float, "> 0"]
    landmarks: Annotated[Any, "N D"]  # all distinct rows
    view: Annotated[View, "D e=r"]
    eigenvalues: Annotated[np.ndarray, "e"]


class EigenfunctionRegression(Method):
    """Least squares on the first s eigenfunctions of the full kernel matrix, section 2.4."""

    large_matrices = True
    shown = ("sigma", "landmarks", "eigenvalues")

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedEigenfunctions:
        rows, share = self.all_rows(table, n_matrices=4)
        some = first_pass.sample.rows[:STAND_IN_ROWS]
        equal = np.full(some.shape[0], 1 / some.shape[0])
        s = self.model.n_eigenfunctions
        most = _MOST_EIGENFUNCTIONS if s == AUTO else int(s)

        def error_of(sigma: float) -> float:
            view, _ = eigenfunctions(self.kernel, some, equal, sigma, most)
            return float(self._errors(view, problems).min())

        sigma = self.choose_sigma(first_pass.sample.rows, error_of)
        view, eigenvalues = eigenfunctions(self.kernel, rows, share, sigma, most)
        available = len(eigenvalues)
        if s != AUTO and available < s:
            raise ValueError(
                f"n_eigenfunctions={s}, but the kernel matrix of the {len(share)} distinct rows has "
                f"{available} eigenvalues above rounding with sigma={sigma:g}. Use "
                f"n_eigenfunctions={available} or fewer, or a smaller sigma."
            )
        return LearnedEigenfunctions(sigma, rows, view, eigenvalues)

    def _errors(self, view: View, problems: Problems) -> np.ndarray:
        """(s,) leave-one-out error over the variance of the labels, on the first 1, 2, ... features."""
        few = [problem.first(MOST_LABELS) for problem in problems]
        intercept = self.model.fit_intercept
        # With one label left out, there must be more labels than coefficients.
        most = min(len(problem.Y) for problem in few) - 1 - intercept
        most = max(1, min(most, view.W.shape[1]))
        errors = np.zeros(most)
        for problem in few:
            Z = view(problem.X)[:, :most]
            path = nested_leave_one_out(Z, problem.Y, problem.weight, intercept=intercept)
            errors += relative_error(path, problem)
        return np.where(np.isnan(errors), np.inf, errors)

    def choose(self, learned: Any, view: View, problems: Problems) -> tuple[View, Choice]:
        """The first s eigenfunctions without a penalty, s by leave-one-out: all s at once."""
        s = self.model.n_eigenfunctions
        if s == AUTO:
            s = int(self._errors(view, problems).argmin()) + 1
        first = View(view.columns, view.W[:, :s], view.scale)
        return first, Choice(np.nan, {}, np.zeros(s))

    def attributes(self, learned: LearnedEigenfunctions, solution: Solution) -> dict[str, Any]:
        found = super().attributes(learned, solution)
        return {**found, "n_eigenfunctions_": solution.view.W.shape[1]}


class ExactSSSL(SemiSupervisedEstimator):
    """Simple semi-supervised learning as in Ji et al. (2012), for regression and classification.

    Least squares of the labels on the first s eigenfunctions of the kernel's integral operator over all
    rows. It holds N x N matrices and takes time N^3; a table that does not fit in memory is refused
    before the fit starts. SSSL is its fast approximation.

    Parameters
    ----------
    n_eigenfunctions : int or "auto", default="auto"
        s. "auto" compares every s up to the number of labels, and up to 1,000, by leave-one-out error.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" is chosen on 400 rows, since each trial on all rows would cost a whole fit.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct rows, on the scale of ``scale``.
    eigenvalues_ : ndarray
        Of the integral operator, largest first.
    """

    ridge = AUTO  # there is none; this is for the choice that all methods share

    def __init__(
        self,
        *,
        n_eigenfunctions: Any = AUTO,
        sigma: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
    ) -> None:
        self.n_eigenfunctions = n_eigenfunctions
        self.sigma = sigma
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _method(self) -> EigenfunctionRegression:
        return EigenfunctionRegression(self)


@documented(score=0.92)
class ExactSSSLRegressor(SemiSupervisedRegressor, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for numbers: Ji et al. (2012)."""


@documented(score=0.95)
class ExactSSSLClassifier(SemiSupervisedClassifier, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for classes."""
