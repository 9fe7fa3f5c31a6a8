"""The frame of every estimator: read the table, learn features from all rows, solve on the labeled."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from twinviews.estimators._checks import (
    AUTO,
    check_count,
    check_labeled_part,
    check_number,
    check_rows,
    check_same_kind,
)
from twinviews.kernels import Kernel
from twinviews.labels import LabeledProblem, LabeledRows
from twinviews.regression import labeled_factor, leave_one_out, penalised_ridge
from twinviews.survey import Survey, survey_of
from twinviews.tables import ArrayTable, Block, Table
from twinviews.tables.arrays import rows_per_block
from twinviews.threads import map_in_order, one_blas_thread
from twinviews.tuning import (
    MOST_LABELS,
    PROBE_ROWS,
    Candidate,
    Choice,
    choose_penalty,
    choose_sigma,
)
from twinviews.views import View


class SemiSupervised(BaseEstimator):
    """Learn features from all rows, then a penalised regression on the labeled ones.

    An algorithm provides two steps: ``_learn`` (features, from all rows) and ``_penalties`` (how their
    coefficients may be penalised). What a label is, regressors and classifiers say.
    """

    sigma: Any
    ridge: Any
    fit_intercept: bool
    missing_label: Any
    n_threads: int | None
    # Small matrices are slower on a BLAS with several threads; methods on N x N matrices want it.
    _large_matrices = False

    # --- what an algorithm provides -----------------------------------------------------------------

    @abstractmethod
    def _learn(self, table: Table, survey: Survey, problems: Sequence[LabeledProblem]) -> View:
        """Features, from all rows; sets the learned attributes that belong to them."""

    @abstractmethod
    def _penalties(self, view: View) -> list[Candidate]:
        """Penalties on the coefficients of the features, one for each choice there is."""

    @abstractmethod
    def _ridges(self, view: View) -> np.ndarray:
        """Values of the ridge to choose from when it is "auto"."""

    def _sample_size(self) -> int:
        """How many distinct rows the first pass must bring home."""
        return PROBE_ROWS

    def _seed(self) -> int:
        """One number from ``random_state``, from which everything random in this fit follows."""
        random = check_random_state(getattr(self, "random_state", 0))
        return int(random.randint(np.iinfo(np.int32).max))

    def _check_parameters(self) -> None:
        check_number("sigma", self.sigma, least=0, open_end=True)
        check_number("ridge", self.ridge, least=0)
        check_count("n_threads", self.n_threads, or_else=None)

    # --- what regressors and classifiers provide ----------------------------------------------------

    @abstractmethod
    def _read_targets(self, y: Any) -> np.ndarray:
        """(rows, targets) numbers to regress on, NaN where there is no label."""

    @abstractmethod
    def _judge(self, problems: Sequence[LabeledProblem], left_out: Sequence[np.ndarray]) -> None:
        """Set ``loo_error_`` from the prediction of each labeled row by the fit without it."""

    # --- the frame ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, X_unlabeled: Any = None, sample_weight: Any = None) -> Self:
        """Fit on all rows of X, with or without a label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            All rows, or the labeled ones with the others in ``X_unlabeled``.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
            Labels. None, NaN, pandas.NA or the estimator's ``missing_label`` mark a row without one.
        X_unlabeled : same kind as X, of shape (n_unlabeled, n_features), optional
            More rows without labels, as if stacked under X. Each has weight 1.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows of X: a row of weight 2 is a row given twice, and a row of weight 0
            is absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        parts = self._read_parts(X, y, X_unlabeled, sample_weight)
        return self._fit_table(ArrayTable(*parts, n_threads=self.n_threads))

    def _read_parts(self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any) -> list[Block]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Mark rows "
                f"without a label by NaN or None in y."
            )
        X = check_rows(self, X, reset=True)
        parts = [check_labeled_part(X, self._read_targets(y), sample_weight)]
        if X_unlabeled is not None:
            X_unlabeled = check_same_kind(X, check_rows(self, X_unlabeled, reset=False))
            weight = None if parts[0].weight is None else np.ones(X_unlabeled.shape[0])
            parts.append(Block(X_unlabeled, None, weight))
        return parts

    def _fit_table(self, table: Table) -> Self:
        with nullcontext() if self._large_matrices else one_blas_thread():
            self._fit_seed = self._seed()
            survey = table.fold(
                partial(survey_of, sample_size=self._sample_size(), seed=self._fit_seed)
            )
            problems = check_problems(survey.labeled)
            self.n_unlabeled_ = survey.n_rows - survey.labeled.count
            self._view = self._learn(table, survey, problems)
            return self._solve(survey.labeled.count, problems)

    def relabel(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Solve again for another set of labeled rows, with everything learned from all rows kept.

        The unlabeled rows are not needed: it takes milliseconds whatever their number. Numbers that
        were "auto" and belong to the solve (the ridge, the canonical weight) are chosen again.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The labeled rows, all of them: rows of the fit, new rows, or both.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels. A row without a label is passed over.
        sample_weight : array-like of shape (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        labeled = LabeledRows.of(*check_labeled_part(X, self._read_targets(y), sample_weight))
        with nullcontext() if self._large_matrices else one_blas_thread():
            return self._solve(labeled.count, check_problems(labeled))

    def _sigma(self, kernel: Kernel, rows: Any, error_of: Callable[[float], float]) -> float:
        """The given sigma, or the one of least error about the kernel's natural one."""
        if self.sigma != AUTO:
            return float(self.sigma)
        natural = kernel.natural_sigma(rows[:PROBE_ROWS])
        if not kernel.sigma_matters:
            return natural
        with one_blas_thread() as allowed:
            return choose_sigma(error_of, natural, self.n_threads or allowed)

    def _solve(self, n_labeled: int, problems: Sequence[LabeledProblem]) -> Self:
        """Step 3: the labels. Choose what is left to choose, then one ridge regression."""
        view, choice = self._choose(self._view, problems)
        for name, value in choice.values.items():
            setattr(self, f"{name}_", value)
        n_targets = sum(len(problem.targets) for problem in problems)
        coef, intercept = np.zeros((view.W.shape[1], n_targets)), np.zeros(n_targets)
        left_out = []
        for problem in problems:
            factor = labeled_factor(problem.blocks(view), intercept=self.fit_intercept)
            coef[:, problem.targets], intercept[problem.targets] = penalised_ridge(
                factor, choice.penalty
            )
            left_out.append(
                leave_one_out(
                    factor,
                    choice.penalty,
                    problem.blocks(view),
                    n=len(problem.Y),
                    intercept=self.fit_intercept,
                )
            )
        self.n_labeled_ = n_labeled
        self._coef, self._intercept = coef, intercept
        self._readout = View(view.columns, view.W @ coef)
        self._judge(problems, left_out)
        return self

    def _choose(self, view: View, problems: Sequence[LabeledProblem]) -> tuple[View, Choice]:
        """The features to regress on and the penalty, chosen by leave-one-out where "auto"."""
        candidates = self._penalties(view)
        ridges = self._ridges(view) if self.ridge == AUTO else np.array([float(self.ridge)])
        if len(candidates) == 1 and len(ridges) == 1:
            values, penalty = candidates[0]
            return view, Choice(np.nan, {**values, "ridge": float(ridges[0])}, penalty + ridges[0])
        few = [problem.first(MOST_LABELS) for problem in problems]
        features = [view(problem.X) for problem in few]
        return view, choose_penalty(features, few, candidates, ridges, intercept=self.fit_intercept)

    def _decide(self, X: Any) -> np.ndarray:
        """(rows, targets) the regression function, block by block."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return self._by_blocks(self._readout, X) + self._intercept

    def _by_blocks(self, view: View, X: Any) -> np.ndarray:
        size = rows_per_block(X.shape[1])
        blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
        with one_blas_thread() as allowed:
            return np.concatenate(list(map_in_order(view, blocks, self.n_threads or allowed)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def check_problems(labeled: LabeledRows) -> list[LabeledProblem]:
    """The labeled rows as problems to solve; two rows that differ are the least one can learn from."""
    problems = labeled.problems()
    if not problems:
        raise ValueError("y has no label at all: every entry is missing. Give at least 2 rows a label.")
    for problem in problems:
        m = len(problem.Y)
        if m < 2:
            raise ValueError(
                f"Found n_samples={m} labeled row that differs from the others, for target "
                f"{int(problem.targets[0])}, and at least 2 are needed. Label more rows."
            )
    return problems
