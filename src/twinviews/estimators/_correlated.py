"""XNV and XKS, Algorithms 1 and 2: two random views, what they agree on, ridge on the labels."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.estimators._all_or_nothing import all_or_nothing, fitting
from twinviews.estimators._checks import (
    AUTO,
    check_choice,
    check_count,
    check_number,
    components,
)
from twinviews.estimators._frame import SemiSupervised
from twinviews.estimators._inputs import check_present_rows
from twinviews.method.correlation import CanonicalBasis, canonical_penalty, whitening_factors
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.moments import Moments, view_covariances
from twinviews.method.tuning import (
    CANONICAL_WEIGHTS,
    CORRELATION_RIDGES,
    MOST_LABELS,
    PROBE_ROWS,
    RIDGES,
    SAMPLE_ROWS,
    Candidate,
    canonical_bases,
    choose_penalty,
)
from twinviews.method.views import TwinViews, View
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import ScaledTable
from twinviews.passes.second_pass import moments_of
from twinviews.tables import Block, Table

# The moments square the kernel values, so a direction whose eigenvalue is below the square root of the
# machine precision, relative to the largest, is noise in them.
MOMENT_RCOND = 1e-6


class _Correlated(NamedTuple):
    error: float  # leave-one-out, NaN if nobody asked
    correlation_ridge: float
    basis: CanonicalBasis


class CorrelatedViews(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervised):
    """Steps 1 to 3 of Algorithms 1 and 2, but for where the two views come from."""

    n_components: Any
    correlation_ridge: Any
    canonical_weight: Any
    cca: str
    sketch_ratio: float
    _rcond = MOMENT_RCOND
    # What more rows would be added to. Nothing else needs it, so a small model file leaves it out.
    _of_all_rows = ("_columns", "_labeled", "_moments", "_shift", "basis_", "views_")
    _without_all_rows = False

    @abstractmethod
    def _twin_views(self, first_pass: FirstPass) -> Callable[[float], TwinViews]:
        """The two views for any sigma; sets what they are made of."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)
        check_number("correlation_ridge", self.correlation_ridge, least=0)
        check_number("canonical_weight", self.canonical_weight, least=0)
        check_choice("cca", self.cca, ("exact", "randomized"))
        if not isinstance(self.sketch_ratio, Real) or not 0 < self.sketch_ratio <= 1:
            raise ValueError(f"sketch_ratio={self.sketch_ratio!r} must be above 0 and at most 1.")

    def _sample_size(self) -> int:
        rows = SAMPLE_ROWS if self.sigma == AUTO else 2 * components(self.n_components)
        return max(rows, 2 * components(self.n_components), super()._sample_size())

    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        rows = first_pass.sample.rows
        few = [problem.first(MOST_LABELS) for problem in problems]
        views_of = self._twin_views(first_pass)  # step 1: features

        def shift_of(views: TwinViews) -> np.ndarray:
            return views.columns(rows[:PROBE_ROWS]).mean(axis=0)

        def error_of(sigma: float) -> float:
            views = views_of(sigma)
            moments = Moments.of(views.columns(rows), shift_of(views))
            return self._correlate(views, moments, few, judge=True).error

        self.sigma_ = self._choose_sigma(rows, error_of)
        views = views_of(self.sigma_)
        self._columns, self._shift = views.columns, shift_of(views)
        self._moments = table.fold(self._moments_of())  # step 2: all rows
        self.views_ = (views.first, views.second)
        self._agree(few)

    def _agree(self, problems: Sequence[LabeledProblem]) -> None:
        """What the views agree on, from the moments there are."""
        first, second = self.views_
        views = TwinViews(first, second, self._columns)
        _, self.correlation_ridge_, self.basis_ = self._correlate(
            views, self._moments, problems, judge=self.correlation_ridge == AUTO
        )
        self.correlations_ = self.basis_.correlations
        self.effective_dimension_ = self.basis_.effective_dimension
        self._n_features_out = len(self.correlations_)
        self._warn_if_nothing_is_shared()
        W1, W2 = views.from_columns
        m = len(W1)
        mean = self._moments.mean if self.fit_intercept else np.zeros_like(self._moments.mean)
        self._offsets = (mean[:m] @ W1 @ self.basis_.B1, mean[m:] @ W2 @ self.basis_.B2)
        self._view = View(first.columns, first.W @ self.basis_.B1)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, *, sample_weight: Any = None
    ) -> Self:
        """Take in more rows, with landmarks, sigma and all rows so far kept.

        The first call is a ``fit``, which fixes the landmarks: its rows should be typical of all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Their labels, missing ones marked as in ``fit``; None if none is known.
        classes : array-like, optional
            For classifiers, classes to expect besides those seen. Not needed: a class may come later.
        sample_weight : array-like of shape (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        self._check_all_rows("partial_fit")
        with all_or_nothing(self):
            self._expect(classes)
            if hasattr(self, "_moments"):
                return self._take_in_rows(X, y, sample_weight)
            self._check_parameters()
            parts = self._read_parts(X, y, None, sample_weight)
            return self._fit_table(self._in_memory(*parts))

    def _take_in_rows(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X = self._check_rows(X)
        if y is None:
            y = np.full(X.shape[0], None)
        X, y, weight = check_present_rows(X, y, sample_weight)
        block = Block(X, y.reshape(len(y), -1), weight)
        table: Table = self._in_memory(block)
        if self._scaling is not None:
            table = ScaledTable(table, self._scaling)
        with fitting(self), one_blas_thread():
            moments = table.fold(self._moments_of())
        labeled = LabeledRows.of(*block, self.missing_label).scaled(self._scaling)
        return self._take_in(moments, labeled, X.shape[0] - labeled.count)

    def merge(self, other: Self) -> Self:
        """Take in the rows of another fit that has the same landmarks and sigma.

        Two fits on parts of a table, merged, are one fit on the whole.

        Parameters
        ----------
        other : estimator of the same class, fitted
            It is not changed.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_is_fitted(other)
        for model in (self, other):
            model._check_all_rows("merge")
        if type(other) is not type(self) or not self._same_views(other):
            raise ValueError(
                f"These two cannot be merged: their views differ (sigma {self.sigma_:g} and "
                f"{other.sigma_:g}). Give both the same landmarks (or random_state) and sigma."
            )
        with all_or_nothing(self):
            return self._take_in(other._moments, other._labeled, other.n_unlabeled_)

    def _check_all_rows(self, what: str) -> None:
        if self._without_all_rows:
            raise ValueError(_left_out_of_file(what))

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in self._of_all_rows and self._without_all_rows:
                raise AttributeError(_left_out_of_file(name))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _same_views(self, other: Self) -> bool:
        if self._encoder != other._encoder:
            return False
        probe = np.linspace(-1, 1, 5 * self._width).reshape(5, -1)
        if self._scaling is not None and not self._scaling.same_as(other._scaling):
            return False
        ours, theirs = self._columns(probe), other._columns(probe)
        return ours.shape == theirs.shape and bool(np.array_equal(ours, theirs))

    def _take_in(self, moments: Moments, labeled: LabeledRows, n_unlabeled: int) -> Self:
        labeled = self._labeled.merge(labeled)
        problems, remember = self._read_problems(labeled, self._one_column)
        self.__dict__.update(remember)
        self._labeled = labeled
        self._moments = self._moments.merge(moments)
        self.n_unlabeled_ += n_unlabeled
        with fitting(self), one_blas_thread():
            self._agree([problem.first(MOST_LABELS) for problem in problems])
            return self._solve(labeled.count, problems)

    def _moments_of(self) -> Callable[[Block], Moments]:
        return partial(
            moments_of,
            columns=self._columns,
            shift=self._shift,
            sketch_ratio=self.sketch_ratio if self.cca == "randomized" else None,
            seed=self._seed,
        )

    def _correlate(
        self, views: TwinViews, moments: Moments, problems: Sequence[LabeledProblem], *, judge: bool
    ) -> _Correlated:
        """What the views agree on, with the correlation ridge of least leave-one-out error."""
        C11, C12, C22 = view_covariances(
            moments.covariance(centred=self.fit_intercept), *views.from_columns
        )
        first, second = whitening_factors(C11), whitening_factors(C22)
        if self.correlation_ridge == AUTO:
            rhos = [rho * views.first.scale for rho in CORRELATION_RIDGES]
        else:
            rhos = [float(self.correlation_ridge)]
        bases = canonical_bases(first, C12, second, rhos)
        if not judge:
            return _Correlated(np.nan, *next(bases))
        Z = [views.first(problem.X) for problem in problems]
        ridges = self._ridges(views.first)
        found = []
        for rho, basis in bases:
            features = [z @ basis.B1 for z in Z]
            candidates = self._canonical_penalties(basis.correlations)
            choice = choose_penalty(
                features, problems, candidates, ridges, intercept=self.fit_intercept
            )
            found.append(_Correlated(choice.error, rho, basis))
        return min(found, key=attrgetter("error"))

    def _canonical_penalties(self, correlations: np.ndarray) -> list[Candidate]:
        weights: tuple[float, ...] = CANONICAL_WEIGHTS
        if self.canonical_weight != AUTO:
            weights = (float(self.canonical_weight),)
        return [
            Candidate({"canonical_weight": eta}, canonical_penalty(correlations, eta))
            for eta in weights
        ]

    def _penalties(self, view: View) -> list[Candidate]:
        return self._canonical_penalties(self.correlations_)

    def _ridge_grid(self, view: View) -> np.ndarray:
        return RIDGES

    def _warn_if_nothing_is_shared(self) -> None:
        if len(self.correlations_) == 0:
            warnings.warn(
                f"With sigma={self.sigma_:g} the two views agree on nothing above rounding, so every "
                f"prediction is the mean of the labels. Use a sigma near the usual distance between "
                f'rows, or "auto".',
                stacklevel=5,
            )

    def transform(self, X: Any) -> np.ndarray:
        """Canonical features: view 1 in its canonical basis, the most correlated direction first.

        Over the rows of the fit each has mean 0 and variance 1 (without an intercept: mean square 1);
        without a correlation ridge they are uncorrelated too.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, len(correlations_))
        """
        check_is_fitted(self)
        X = self._check_scaled_rows(X)
        return self._by_blocks(self._view, X) - self._offsets[0]

    def transform_pair(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Canonical features of both views; column j of one correlates with column j of the other."""
        check_is_fitted(self)
        self._check_all_rows("transform_pair")
        X = self._check_scaled_rows(X)
        second = View(self.views_[1].columns, self.views_[1].W @ self.basis_.B2)
        return (
            self._by_blocks(self._view, X) - self._offsets[0],
            self._by_blocks(second, X) - self._offsets[1],
        )


def _left_out_of_file(what: str) -> str:
    return (
        f"{what} needs both views and the sums over all rows, which the file of this model left out "
        f"to be small. Save the model of the fit with save_model(model, path, whole=True)."
    )
