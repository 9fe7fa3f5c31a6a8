"""Algorithms 1 and 2: two random views, what they agree on, ridge in the canonical basis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import numpy as np

from twinviews._system.user_warnings import warn_user
from twinviews.estimators._checks import AUTO, components
from twinviews.estimators._method import Method, Problems
from twinviews.method.correlation import (
    CanonicalBasis,
    canonical_correlation,
    canonical_penalty,
    whitening_factors,
)
from twinviews.method.kernel_values import Columns
from twinviews.method.moments import Moments, view_covariances
from twinviews.method.tuning import (
    CANONICAL_WEIGHTS,
    CORRELATION_RIDGES,
    MOST_LABELS,
    PROBE_ROWS,
    RIDGES,
    SAMPLE_ROWS,
    Candidate,
    choose_penalty,
)
from twinviews.method.views import TwinFeatures, TwinViews, View
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.second_pass import moments_of
from twinviews.tables import Block, Table

# The moments square the kernel values, so a direction whose eigenvalue is below the square root of the
# machine precision, relative to the largest, is noise in them.
MOMENT_RCOND = 1e-6


class PairOfViews(NamedTuple):
    """Step 1: two views for any sigma, and what they are made of."""

    views_of: Callable[[float], TwinViews]
    n_components: int  # M, features of each view
    landmarks: Any  # (2M, D) rows, or None if the views need none


@dataclass(frozen=True)
class AllRows:
    """What more rows can be added to: the views, and sums over all rows so far."""

    columns: Annotated[Columns | TwinFeatures, "D c=m"]  # what the moments are taken of
    shift: Annotated[np.ndarray, "c"]
    moments: Annotated[Moments, "c=m"]
    views: tuple[Annotated[View, "D"], Annotated[View, "D"]]
    labeled: Annotated[LabeledRows, "D"]

    @property
    def pair(self) -> TwinViews:
        return TwinViews(*self.views, self.columns)


@dataclass(frozen=True)
class LearnedCorrelation:
    """Steps 1 and 2: view 1 in its canonical basis, and the correlations."""

    sigma: Annotated[float, "> 0"]
    n_components: Annotated[int, ">= 1"]
    landmarks: Annotated[Any, "l D"] | None
    correlation_ridge: Annotated[float, ">= 0"]
    correlations: Annotated[np.ndarray, "r", ">= 0"]
    effective_dimension: Annotated[float, ">= 0"]
    view: Annotated[View, "D r"]  # canonical features
    # Their means over all rows, of both views.
    offsets: tuple[Annotated[np.ndarray, "r"], Annotated[np.ndarray, "r"]]
    # Both are None in a model from a small file.
    basis: Annotated[CanonicalBasis, "a=r1 b=r2 r=k"] | None
    all_rows: Annotated[AllRows, "D c"] | None


class _Correlated(NamedTuple):
    error: float  # leave-one-out, NaN if nothing was to be chosen
    correlation_ridge: float
    basis: CanonicalBasis


class CorrelatedViews(Method):
    """Steps 1 to 3; where the two views come from, the estimator's ``_pair_of_views`` says."""

    rcond = MOMENT_RCOND
    shown = (
        "sigma",
        "n_components",
        "landmarks",
        "correlation_ridge",
        "correlations",
        "effective_dimension",
    )

    def sample_size(self) -> int:
        least = SAMPLE_ROWS if self.model.sigma == AUTO else PROBE_ROWS
        return max(least, 2 * components(self.model.n_components))

    def learn(self, table: Table, first_pass: FirstPass, problems: Problems) -> LearnedCorrelation:
        rows = first_pass.sample.rows
        views_of, M, landmarks = self.model._pair_of_views(first_pass)  # step 1: two views

        def shift_of(views: TwinViews) -> np.ndarray:
            return views.columns(rows[:PROBE_ROWS]).mean(axis=0)

        def error_of(sigma: float) -> float:
            views = views_of(sigma)
            moments = Moments.of(views.columns(rows), shift_of(views))
            return self._correlate(views, moments, problems, judge=True).error

        sigma = self.choose_sigma(rows, error_of)
        first, second, columns = views = views_of(sigma)
        shift = shift_of(views)
        moments = table.fold(self._summarise(columns, shift))  # step 2: what all rows say
        all_rows = AllRows(columns, shift, moments, (first, second), first_pass.labeled)
        return self._agree(all_rows, problems, sigma, M, landmarks)

    def _agree(
        self, all_rows: AllRows, problems: Problems, sigma: float, n_components: int, landmarks: Any
    ) -> LearnedCorrelation:
        """Step 2 from the sums there are: canonical directions, and view 1 in their basis."""
        pair, moments = all_rows.pair, all_rows.moments
        _, rho, basis = self._correlate(
            pair, moments, problems, judge=self.model.correlation_ridge == AUTO
        )
        if len(basis.correlations) == 0:
            warn_user(
                f"With sigma={sigma:g} the two views agree on nothing above rounding, so "
                f"every prediction is the mean of the labels. Use a sigma near the usual distance "
                f'between rows, or "auto".'
            )
        W1, W2 = pair.from_columns
        m = len(W1)
        mean = moments.mean if self.model.fit_intercept else np.zeros_like(moments.mean)
        return LearnedCorrelation(
            sigma,
            n_components,
            landmarks,
            correlation_ridge=rho,
            correlations=basis.correlations,
            effective_dimension=basis.effective_dimension,
            view=View(pair.first.columns, pair.first.W @ basis.B1),
            offsets=(mean[:m] @ W1 @ basis.B1, mean[m:] @ W2 @ basis.B2),
            basis=basis,
            all_rows=all_rows,
        )

    def take_in(
        self, learned: LearnedCorrelation, more: Moments, labeled: LabeledRows, problems: Problems
    ) -> LearnedCorrelation:
        """The same with the sums of more rows added; ``labeled`` are all labeled rows."""
        assert learned.all_rows is not None, "checked by the caller"
        moments = learned.all_rows.moments.merge(more)
        all_rows = replace(learned.all_rows, moments=moments, labeled=labeled)
        return self._agree(all_rows, problems, learned.sigma, learned.n_components, learned.landmarks)

    def moments_of_table(self, all_rows: AllRows, table: Table) -> Moments:
        """The sums over the rows of a table that is on the scale of the fit."""
        return table.fold(self._summarise(all_rows.columns, all_rows.shift))

    def _summarise(self, columns: Any, shift: np.ndarray) -> Callable[[Block], Moments]:
        ratio = self.model.sketch_ratio if self.model.cca == "randomized" else None
        return partial(
            moments_of, columns=columns, shift=shift, sketch_ratio=ratio, seed=self.model._seed
        )

    def _correlate(
        self, views: TwinViews, moments: Moments, problems: Problems, *, judge: bool
    ) -> _Correlated:
        """What the views agree on, with the correlation ridge of least leave-one-out error."""
        intercept = self.model.fit_intercept
        C11, C12, C22 = view_covariances(moments.covariance(centred=intercept), *views.from_columns)
        first, second = whitening_factors(C11), whitening_factors(C22)
        if self.model.correlation_ridge == AUTO:
            rhos = [rho * views.first.scale for rho in CORRELATION_RIDGES]
        else:
            rhos = [float(self.model.correlation_ridge)]
        if not judge:
            basis = canonical_correlation(first, C12, second, correlation_ridge=rhos[0])
            return _Correlated(np.nan, rhos[0], basis)
        few = [problem.first(MOST_LABELS) for problem in problems]
        Z = [views.first(problem.X) for problem in few]
        ridges = self.ridges(views.first)
        found = []
        for rho in rhos:
            basis = canonical_correlation(first, C12, second, correlation_ridge=rho)
            features = [z @ basis.B1 for z in Z]
            candidates = self._canonical_penalties(basis.correlations)
            choice = choose_penalty(features, few, candidates, ridges, intercept=intercept)
            found.append(_Correlated(choice.error, rho, basis))
        return min(found, key=attrgetter("error"))

    def penalties(self, learned: LearnedCorrelation, view: View) -> list[Candidate]:
        return self._canonical_penalties(learned.correlations)

    def _canonical_penalties(self, correlations: np.ndarray) -> list[Candidate]:
        weights: tuple[float, ...] = CANONICAL_WEIGHTS
        if self.model.canonical_weight != AUTO:
            weights = (float(self.model.canonical_weight),)
        return [
            Candidate({"canonical_weight": eta}, canonical_penalty(correlations, eta))
            for eta in weights
        ]

    def ridge_grid(self, view: View) -> np.ndarray:
        return RIDGES
