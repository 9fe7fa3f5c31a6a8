"""Ridge regression on one view: SSSL and RFF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from twinviews.estimators._checks import components
from twinviews.estimators._method import Method, Problems
from twinviews.method.views import View
from twinviews.passes.first_pass import FirstPass
from twinviews.tables import Table


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


class SingleView(Method):
    """Ridge regression on one view of random features; the estimator's ``_one_view`` says which."""

    shown = ("sigma", "n_components", "landmarks")

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedView:
        view_of, M, landmarks = self.model._one_view(first_pass)
        sigma = self.choose_sigma(first_pass.sample.rows, partial(self.error_of, view_of, problems))
        return LearnedView(sigma, M, landmarks, view_of(sigma))


class NystroemView(SingleView):
    """The same on a view whose landmarks are rows that the first pass samples."""

    # Rows between landmarks that nearly coincide are told apart by the inverse of the landmarks' kernel
    # matrix, which makes the rounding of its entries as many times larger: down to this share of the
    # largest eigenvalue, predictions keep eight digits.
    rcond = 1e-8

    def sample_size(self) -> int:
        return max(components(self.model.n_components), super().sample_size())


def transform(self: Any, X: Any) -> np.ndarray:
    """The random features z(x), whose inner products approximate the kernel.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, rank), with at most ``n_components`` columns
    """
    features: np.ndarray = self._by_blocks(self._learned.view, self._prepared(X))
    return features
