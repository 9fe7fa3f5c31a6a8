"""Methods on the full N x N kernel matrix: exact SSSL and LapRLS. They need all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from twinviews._system.memory import refuse_what_cannot_fit
from twinviews.estimators._checks import AUTO
from twinviews.estimators._method import Method, Problems
from twinviews.estimators._solution import Solution
from twinviews.method.kernel_values import Columns
from twinviews.method.labeled_problem import all_labeled
from twinviews.method.landmarks import AllDistinctRows, stack_rows
from twinviews.method.neighbor_graph import graph_laplacian, kernel_deformation
from twinviews.method.regression import nested_leave_one_out
from twinviews.method.tuning import MOST_LABELS, VIEW_RIDGES, Choice, choose_penalty, relative_error
from twinviews.method.views import View, eigenfunctions, inverse_root, nystroem_view
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# Distinct rows that stand for all while sigma is chosen: each trial on all would cost a whole fit.
_STAND_IN_ROWS = 400
# Eigenfunctions that are computed when their number is to be chosen.
_MOST_EIGENFUNCTIONS = 1000
# How strongly the graph may deform the kernel, relative to the kernel's own norm.
_DEFORMATIONS = (0.0, 0.1, 1.0, 10.0, 100.0)
_NEIGHBORS = 10


def _all_rows(table: Table, model: Any, n_matrices: int) -> tuple[Any, np.ndarray]:
    """The distinct rows and the share of the weight on each; refused if they cannot fit in memory."""
    rows, share = table.fold(lambda block: AllDistinctRows.of(block.X, block.weight)).distinct()
    refuse_what_cannot_fit(type(model).__name__, rows.shape[0], n_matrices, instead="SSSL or XNV")
    return rows, share


# --- exact SSSL ------------------------------------------------------------------------------------


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
        rows, share = _all_rows(table, self.model, n_matrices=4)
        some = first_pass.sample.rows[:_STAND_IN_ROWS]
        equal = np.full(some.shape[0], 1 / some.shape[0])
        s = self.model.n_eigenfunctions
        most = _MOST_EIGENFUNCTIONS if s == AUTO else int(s)

        def error_of(sigma: float) -> float:
            view = eigenfunctions(self.kernel, some, equal, sigma, most).view
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


# --- LapRLS ----------------------------------------------------------------------------------------


class _Deformed(NamedTuple):
    strength: float  # manifold_ridge / (ridge N^2)
    deformation: np.ndarray  # (N, N)
    ridge: float | None  # the ridge that goes with it, None if any may


@dataclass(frozen=True)
class LearnedDeformation:
    """The kernel, deformed by the graph of all rows."""

    sigma: Annotated[float, "> 0"]
    landmarks: Annotated[Any, "N D"]  # all distinct rows
    n_neighbors: Annotated[int, ">= 1"]
    kernel_of_rows: Annotated[Columns, "D N=m"]
    strength: Annotated[float, ">= 0"]  # manifold_ridge / (ridge N^2)
    deformation: Annotated[np.ndarray, "N N"]
    ridge: Annotated[float, "> 0"] | None  # the ridge that goes with a given manifold ridge


class LaplacianRidge(Method):
    """Kernel ridge regression with a kernel deformed by the neighbor graph (Sindhwani et al. 2005)."""

    large_matrices = True
    landmarks_are_labeled = True
    shown = ("sigma", "landmarks", "n_neighbors")

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedDeformation:
        rows, share = _all_rows(table, self.model, n_matrices=7)
        some = first_pass.sample.rows[:_STAND_IN_ROWS]
        kernel = self.kernel

        def view_of(sigma: float) -> View:
            return nystroem_view(kernel, some, sigma, rcond=self.rcond)

        error_of = partial(self.error_of, view_of, problems)
        sigma = self.choose_sigma(first_pass.sample.rows, error_of)
        N = len(share)
        n_neighbors = self.model.n_neighbors
        if n_neighbors == AUTO:
            n_neighbors = min(_NEIGHBORS, N - 1)
        if n_neighbors >= N:
            raise ValueError(
                f"n_neighbors={n_neighbors}, but the table has n_samples={N} distinct rows. Use "
                f"n_neighbors={N - 1} or fewer."
            )
        # With f^T L f / N^2, weights that sum to N make a row of weight 1 count as in the paper.
        laplacian = graph_laplacian(rows, n_neighbors, N * share)
        undeformed = LearnedDeformation(
            sigma, rows, n_neighbors, kernel.against(rows, sigma), 0.0, np.empty((0, 0)), None
        )
        strength, deformation, ridge = self._best_deformation(undeformed, laplacian, problems)
        return LearnedDeformation(
            sigma, rows, n_neighbors, undeformed.kernel_of_rows, strength, deformation, ridge
        )

    def _best_deformation(
        self, undeformed: LearnedDeformation, laplacian: Any, problems: Problems
    ) -> _Deformed:
        """How far to deform the kernel, by leave-one-out where there is a choice."""
        K = undeformed.kernel_of_rows(undeformed.landmarks)
        candidates = self._strengths(np.trace(K) / len(K), len(K))
        best, least = None, np.inf
        for strength, ridge in candidates:
            deformed = _Deformed(strength, kernel_deformation(K, strength * laplacian), ridge)
            if len(candidates) == 1:
                return deformed
            view = self._deformed_view(undeformed, deformed.deformation, all_labeled(problems))
            error = choose_penalty(
                [view(problem.X) for problem in problems],
                problems,
                self.penalties(None, view),
                self.ridges(view) if ridge is None else np.array([ridge]),
                intercept=self.model.fit_intercept,
            ).error
            if best is None or error < least:
                best, least = deformed, error
        assert best is not None, "there is always a candidate"
        return best

    def _strengths(self, scale: float, N: int) -> list[tuple[float, float | None]]:
        """(manifold_ridge / (ridge N^2), the ridge that goes with it, None if any may)"""
        if self.model.manifold_ridge == AUTO:
            return [(strength, None) for strength in _DEFORMATIONS]
        given = self.model.ridge
        ridges = VIEW_RIDGES[::3] * scale if given == AUTO else [float(given)]
        return [(self.model.manifold_ridge / (ridge * N**2), float(ridge)) for ridge in ridges]

    def _deformed_view(
        self, learned: LearnedDeformation, deformation: np.ndarray, labeled: Any
    ) -> View:
        """The view whose landmarks are the labeled rows, for the deformed kernel."""
        kernel = self.kernel
        K_rows = learned.kernel_of_rows(labeled).T  # (N, n)
        correction = deformation @ K_rows
        K = kernel.against(labeled, learned.sigma)(labeled) - K_rows.T @ correction
        W = np.concatenate([-correction, np.eye(len(K))]) @ inverse_root(K, rcond=self.rcond)
        columns = kernel.against(stack_rows([learned.landmarks, labeled]), learned.sigma)
        return View(columns, W, float(np.trace(K)) / len(K))

    def features(self, learned: LearnedDeformation, problems: Problems) -> View:
        return self._deformed_view(learned, learned.deformation, problems[0].distinct)

    def choose(
        self, learned: LearnedDeformation, view: View, problems: Problems
    ) -> tuple[View, Choice]:
        if learned.ridge is None:
            view, choice = super().choose(learned, view, problems)
        else:  # a given manifold ridge has deformed the kernel for this ridge and no other
            penalty = np.full(view.W.shape[1], learned.ridge)
            choice = Choice(np.nan, {"ridge": learned.ridge}, penalty)
        N = learned.landmarks.shape[0]
        manifold_ridge = learned.strength * choice.values["ridge"] * N**2
        return view, choice._replace(values={**choice.values, "manifold_ridge": manifold_ridge})
