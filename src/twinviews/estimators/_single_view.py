"""Ridge regression on one view: SSSL and RFF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from twinviews.estimators._method import Method, Problems, Settings
from twinviews.method.tuning import VIEW_RIDGES, Candidate
from twinviews.method.views import View
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table

# A ridge beside the eigenvalues of one matrix: only rounding in the eigenvalues themselves is cut off.
ROUNDING_RCOND = 1e-13


class RidgeOnView(Method):
    """Step 3 with the plain ridge as the only penalty; where the view comes from is open."""

    rcond = ROUNDING_RCOND

    def error_of(self, view_of: Callable[[float], View], problems: Problems, sigma: float) -> float:
        """The least leave-one-out error with this sigma."""
        view = view_of(sigma)
        return self.least_error(self.penalties(None, view), view, problems).error

    def penalties(self, learned: Any, view: View) -> list[Candidate]:
        return [Candidate({}, np.zeros(view.W.shape[1]))]

    def ridge_grid(self, view: View) -> np.ndarray:
        return VIEW_RIDGES * view.scale


class OneView(NamedTuple):
    """A view for any sigma, and what it is made of."""

    view_of: Callable[[float], View]
    n_components: int
    landmarks: Any  # (M, D) rows, or None if the view needs none


@dataclass(frozen=True)
class LearnedView:
    """A view of M features."""

    sigma: Annotated[float, "> 0"]
    n_components: Annotated[int, ">= 1"]
    landmarks: Annotated[Any, "l D"] | None
    view: Annotated[View, "D v=r"]

    def attributes(self) -> dict[str, Any]:
        found = {
            "sigma_": self.sigma,
            "n_components_": self.n_components,
            "_n_features_out": self.view.W.shape[1],
        }
        if self.landmarks is not None:
            found["landmarks_"] = self.landmarks
        return found


class SingleView(RidgeOnView):
    """Ridge regression on one view of random features; ``one_view_of`` says which."""

    def __init__(
        self,
        settings: Settings,
        n_components: int,
        one_view_of: Callable[[FirstPass], OneView],
        rcond: float = ROUNDING_RCOND,
    ) -> None:
        super().__init__(settings)
        self.n_components, self.one_view_of, self.rcond = n_components, one_view_of, rcond

    def sample_size(self) -> int:
        return max(self.n_components, super().sample_size())

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedView:
        view_of, M, landmarks = self.one_view_of(first_pass)
        sigma = self.choose_sigma(first_pass.sample.rows, partial(self.error_of, view_of, problems))
        return LearnedView(sigma, M, landmarks, view_of(sigma))

    def features(self, learned: LearnedView, problems: Problems) -> View:
        return learned.view
