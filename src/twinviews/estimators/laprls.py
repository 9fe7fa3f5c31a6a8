"""LapRLS: Laplacian regularised least squares, a semi-supervised baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_number
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._method import STAND_IN_ROWS, Method, Problems
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernel_values import Columns
from twinviews.method.labeled_problem import all_labeled
from twinviews.method.landmarks import stack_rows
from twinviews.method.neighbor_graph import graph_laplacian, kernel_deformation
from twinviews.method.tuning import VIEW_RIDGES, Choice, choose_penalty
from twinviews.method.views import View, inverse_root, nystroem_view
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# How strongly the graph may deform the kernel, relative to the kernel's own norm.
_DEFORMATIONS = (0.0, 0.1, 1.0, 10.0, 100.0)
_NEIGHBORS = 10


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
        rows, share = self.all_rows(table, n_matrices=7)
        some = first_pass.sample.rows[:STAND_IN_ROWS]
        view_of = partial(nystroem_view, self.kernel, some, rcond=self.rcond)
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
            sigma, rows, n_neighbors, self.kernel.against(rows, sigma), 0.0, np.empty((0, 0)), None
        )
        return self._best_deformation(undeformed, laplacian, problems)

    def _best_deformation(
        self, undeformed: LearnedDeformation, laplacian: Any, problems: Problems
    ) -> LearnedDeformation:
        """How far to deform the kernel, by leave-one-out where there is a choice."""
        K = undeformed.kernel_of_rows(undeformed.landmarks)
        candidates = self._strengths(np.trace(K) / len(K), len(K))
        best, least = undeformed, np.inf
        for strength, ridge in candidates:
            deformation = kernel_deformation(K, strength * laplacian)
            deformed = replace(undeformed, strength=strength, deformation=deformation, ridge=ridge)
            if len(candidates) == 1:
                return deformed
            view = self._deformed_view(deformed, all_labeled(problems))
            error = choose_penalty(
                [view(problem.X) for problem in problems],
                problems,
                self.penalties(None, view),
                self.ridges(view) if ridge is None else np.array([ridge]),
                intercept=self.model.fit_intercept,
            ).error
            if best is undeformed or error < least:
                best, least = deformed, error
        return best

    def _strengths(self, scale: float, N: int) -> list[tuple[float, float | None]]:
        """(manifold_ridge / (ridge N^2), the ridge that goes with it, None if any may)"""
        if self.model.manifold_ridge == AUTO:
            return [(strength, None) for strength in _DEFORMATIONS]
        given = self.model.ridge
        ridges = VIEW_RIDGES[::3] * scale if given == AUTO else [float(given)]
        return [(self.model.manifold_ridge / (ridge * N**2), float(ridge)) for ridge in ridges]

    def _deformed_view(self, learned: LearnedDeformation, labeled: Any) -> View:
        """The view whose landmarks are the labeled rows, for the deformed kernel."""
        kernel = self.kernel
        K_rows = learned.kernel_of_rows(labeled).T  # (N, n)
        correction = learned.deformation @ K_rows
        K = kernel.against(labeled, learned.sigma)(labeled) - K_rows.T @ correction
        W = np.concatenate([-correction, np.eye(len(K))]) @ inverse_root(K, rcond=self.rcond)
        columns = kernel.against(stack_rows([learned.landmarks, labeled]), learned.sigma)
        return View(columns, W, float(np.trace(K)) / len(K))

    def features(self, learned: LearnedDeformation, problems: Problems) -> View:
        return self._deformed_view(learned, problems[0].distinct)

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


class LapRLS(SemiSupervisedEstimator):
    r"""Laplacian regularised least squares, for regression and classification.

    .. math:: \frac1n \sum_{i \le n} (y_i - f(x_i))^2 + \gamma_A |f|^2_K
              + \frac{\gamma_I}{N^2} \sum_{i,j \le N} f(x_i) L_{ij} f(x_j)

    with L the normalised Laplacian of the graph of nearest neighbours of all rows. It is solved as
    kernel ridge regression with a kernel that the graph deforms (Sindhwani et al. 2005). It holds N x N
    matrices and takes time N^3; a table that does not fit in memory is refused before the fit starts.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" is chosen on a Nystroem approximation, since each trial would cost a whole fit.
    ridge : float or "auto", default="auto"
        gamma_A, above 0.
    manifold_ridge : float or "auto", default="auto"
        gamma_I. 0 is kernel ridge regression. If it is given, relabel keeps the ridge.
    n_neighbors : int or "auto", default="auto"
        Neighbours of a row in the graph, and all that are as near as the last of them. "auto" is 10, or
        all other rows if there are fewer.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct rows, on the scale of ``scale``.
    """

    def __init__(
        self,
        *,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        manifold_ridge: Any = AUTO,
        n_neighbors: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
    ) -> None:
        self.sigma = sigma
        self.ridge = ridge
        self.manifold_ridge = manifold_ridge
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("ridge", self.ridge, least=0, open_end=True)

    def _method(self) -> LaplacianRidge:
        return LaplacianRidge(self)


@documented(score=0.92)
class LapRLSRegressor(SemiSupervisedRegressor, LapRLS):
    """Laplacian regularised least squares, for numbers: Belkin, Niyogi and Sindhwani (2006)."""


@documented(score=0.98)
class LapRLSClassifier(SemiSupervisedClassifier, LapRLS):
    """Laplacian regularised least squares, for classes: Belkin, Niyogi and Sindhwani (2006)."""
