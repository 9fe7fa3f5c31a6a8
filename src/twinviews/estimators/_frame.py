"""The frame of every estimator: read the table, learn features from all rows, solve on the labeled."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from twinviews._system.random_seed import seed_from
from twinviews._system.threads import one_blas_thread
from twinviews.estimators._all_or_nothing import all_or_nothing, asking, fitting
from twinviews.estimators._checks import check_choice, check_count, check_flag, check_number
from twinviews.estimators._inputs import check_present_rows, check_rows, check_same_kind
from twinviews.estimators._raw_rows import (
    check_frame,
    check_numbers_only,
    column_names,
    encode,
    learn_encoder,
)
from twinviews.estimators._solving import LabeledSolve
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.tuning import PROBE_ROWS, SAMPLE_ROWS
from twinviews.passes.first_pass import FirstPass, first_pass_of
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import (
    SCALES,
    Scale,
    ScaledTable,
    rank_scaling,
    refuse_vanishing_columns,
    robust_scaling,
    standard_scaling,
)
from twinviews.passes.targets import check_missing_label
from twinviews.tables import ArrayTable, Block, Table
from twinviews.tables.engines import engine_of, missing_engine

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


class SemiSupervised(LabeledSolve):
    """Learn features from all rows, then a penalised regression on the labeled ones.

    An algorithm provides two steps: ``_learn`` (features, from all rows) and ``_penalties`` (how their
    coefficients may be penalised). What a label is, regressors and classifiers say.
    """

    scale: str | None
    missing_label: Any
    kernel: Any
    _scaling: Scale | None
    _one_column: bool  # whether y was a column or a table of them
    # Small matrices are slower on a BLAS with several threads; methods on N x N matrices want it.
    _large_matrices = False
    _rcond: float  # eigenvalues of a kernel matrix up to this share of the largest are taken as zero
    _scales: tuple[str, ...] = SCALES
    _rows_are_sparse = False
    _encoder: Encoder | None = None  # of tables that hold more than numbers

    # --- what an algorithm provides -----------------------------------------------------------------

    @abstractmethod
    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        """Features, from all rows: sets ``_view`` and the learned attributes that belong to it."""

    def _sample_size(self) -> int:
        """How many distinct rows the first pass must bring home."""
        return SAMPLE_ROWS if self._scale_kind() in ("robust", "rank") else PROBE_ROWS

    def _scale_kind(self) -> str | None:
        """How columns are scaled: as the user said, unless an algorithm has its own way."""
        return self.scale

    def _check_parameters(self) -> None:
        check_number("sigma", self.sigma, least=0, open_end=True)
        check_number("ridge", self.ridge, least=0)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("progress", self.progress)
        check_count("n_threads", self.n_threads, or_else=None)
        check_count("degree", getattr(self, "degree", 3))
        check_missing_label(self.missing_label)
        if self.scale is not None:
            check_choice("scale", self.scale, self._scales)
        self._kernel()

    # --- what regressors and classifiers provide ----------------------------------------------------

    @abstractmethod
    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """(rows, targets) numbers to regress on, NaN where missing, and what to remember of them."""

    @abstractmethod
    def _expect(self, classes: Any) -> None:
        """Remember classes that may come later."""

    @abstractmethod
    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None
    ) -> dict[str, np.ndarray]:
        """What a table of predictions holds, by name; with ``coverage``, intervals of numbers too."""

    # --- the frame ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, X_unlabeled: Any = None, sample_weight: Any = None) -> Self:
        """Fit on all rows of X, with or without a label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            All rows, or the labeled ones with the others in ``X_unlabeled``. Of a data frame, columns
            of words, dates and blanks are turned into numbers as by :class:`TableEncoder`.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
            Labels. None, NaN, pandas.NA or the estimator's ``missing_label`` mark a row without one.
        X_unlabeled : same kind as X, of shape (n_unlabeled, n_features), optional
            More rows without labels, as if stacked under X. Each has weight 1. Mind that a pipeline
            hands it on as it is, not through its scaler (unless ``transform_input`` says so), and
            that GridSearchCV cuts it up if it is as long as X: one X with missing labels is safer.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows of X: a row of weight 2 is a row given twice, and a row of weight 0
            is absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        with all_or_nothing(self):
            self.__dict__.pop("_expected", None)  # classes that an earlier partial_fit was told of
            if engine_of(X) == "dask":
                return self._fit_table(self._read_dask(X, y, X_unlabeled, sample_weight))
            parts = self._read_parts(X, y, X_unlabeled, sample_weight)
            return self._fit_table(self._in_memory(*parts))

    def _in_memory(self, *parts: Block) -> ArrayTable:
        return ArrayTable(*parts, n_threads=self.n_threads, progress=self.progress)

    def _read_parts(self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any) -> list[Block]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Mark rows "
                f"without a label by NaN or None in y."
            )
        self._encoder = learn_encoder(X, X_unlabeled, sample_weight)
        if self._encoder is None:
            X = check_rows(self, X, reset=True)
        else:
            self._remember_columns(column_names(X), X.shape[1])
            X = encode(self._encoder, X)
        self._rows_are_sparse = bool(sparse.issparse(X))
        if self._scale_kind() is not None and self._rows_are_sparse:
            raise ValueError(
                f"scale={self.scale!r} would fill a sparse X. Use scale=None, with a scaler that keeps "
                f"zeros such as MaxAbsScaler in front."
            )
        X, y, weight = check_present_rows(X, y, sample_weight)
        self._one_column = y.ndim == 1
        parts = [Block(X, y.reshape(len(y), -1), weight)]
        if X_unlabeled is not None:
            X_unlabeled = check_same_kind(X, self._numbers_of(X_unlabeled))
            ones = None if weight is None else np.ones(X_unlabeled.shape[0])
            parts.append(Block(X_unlabeled, None, ones))
        return parts

    def _read_dask(self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any) -> Table:
        if sample_weight is not None:
            raise ValueError(
                "sample_weight does not go with Dask input to fit. Make the weights a column of a Dask "
                "data frame and use fit_table(frame, target=..., weight=...)."
            )
        try:
            from twinviews.encoding.dask_rows import open_dask_rows
        except ImportError as error:
            raise missing_engine("dask") from error
        found = open_dask_rows(X, y, X_unlabeled)
        self._encoder, self._one_column = found.encoder, y.ndim == 1
        names = None if found.names is None else np.array(found.names, dtype=object)
        self._remember_columns(names, found.width)
        return found.table

    def _remember_columns(self, names: np.ndarray | None, width: int) -> None:
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names

    @property
    def columns_(self) -> list[Any]:
        """What became of each column, as of :class:`TableEncoder`; empty if all were numbers."""
        check_is_fitted(self)
        return [] if self._encoder is None else list(self._encoder.codes)

    def _fit_table(self, table: Table) -> Self:
        for of_a_file in ("about_", "_without_all_rows"):
            self.__dict__.pop(of_a_file, None)
        with fitting(self), nullcontext() if self._large_matrices else one_blas_thread():
            # One number from random_state, from which everything random in this fit follows.
            self._seed = seed_from(getattr(self, "random_state", 0))
            first_pass = table.fold(
                partial(
                    first_pass_of,
                    sample_size=self._sample_size(),
                    seed=self._seed,
                    missing_label=self.missing_label,
                    column_moments=self._scale_kind() == "standard",
                )
            )
            self._scaling = self._scaling_of(first_pass)
            if self._scaling is not None:
                table, first_pass = ScaledTable(table, self._scaling), first_pass.scaled(self._scaling)
            problems, remember = self._read_problems(first_pass.labeled, self._one_column)
            self.__dict__.update(remember)
            self.n_unlabeled_ = first_pass.n_rows - first_pass.labeled.count
            self._labeled = first_pass.labeled
            self._warn_if_a_column_drowns(first_pass.sample.rows)
            self._learn(table, first_pass, problems)
            return self._solve(first_pass.labeled.count, problems)

    def _warn_if_a_column_drowns(self, rows: Any) -> None:
        column = self._kernel().drowned_column(rows, self._rcond)
        if column is not None:
            values = rows[:, column]
            warnings.warn(
                f"Column {column} varies by {values.std():.2g} around {values.mean():.2g}, which "
                f"kernel={self.kernel!r} cannot tell from a constant: it has no effect. Use "
                f'scale="standard", or take the means of the columns off.',
                stacklevel=4,
            )

    def _scaling_of(self, first_pass: FirstPass) -> Scale | None:
        kind = self._scale_kind()
        if kind is None:
            return None
        if kind == "rank":
            return rank_scaling(first_pass.sample.rows)
        refuse_vanishing_columns(first_pass.sample.rows)
        if kind == "robust":
            return robust_scaling(first_pass.sample.rows)
        assert first_pass.columns is not None, "the first_pass was asked for them"
        return standard_scaling(first_pass.columns)

    def _check_scaled_rows(self, X: Any) -> Any:
        """Rows to predict or to solve on, on the scale of the fit."""
        X = self._check_rows(X)
        return self._scale_checked(X)

    def _check_rows(self, X: Any) -> Any:
        """Rows as wide as those of the fit, and dense where they are to be scaled."""
        X = self._numbers_of(X)
        return X.toarray() if self._scaling is not None and sparse.issparse(X) else X

    def _numbers_of(self, X: Any) -> Any:
        """Rows like those of the fit, as numbers."""
        check_frame(X)
        if self._encoder is None:
            check_numbers_only(X)
            return check_rows(self, X, reset=False)
        return encode(self._encoder, X)

    @property
    def _width(self) -> int:
        """D: how many numbers a row has."""
        return self.n_features_in_ if self._encoder is None else len(self._encoder.outputs)

    def relabel(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Solve again for another set of labeled rows, with what was learned from all rows kept.

        The unlabeled rows are not needed: it takes milliseconds whatever their number (with XNV's
        committee, which is fitted and weighed again, seconds). Landmarks,
        views and correlations stay, and so do sigma and the correlation ridge that made them, even
        where labels of the fit chose them; the ridge and the canonical weight, where "auto", are chosen
        again. If an error is raised, the model is as it was.

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
        X, y, weight = check_present_rows(self._check_rows(X), y, sample_weight)
        labeled = LabeledRows.of(X, y.reshape(len(y), -1), weight, self.missing_label)
        labeled = labeled.scaled(self._scaling)
        problems, remember = self._read_problems(labeled, y.ndim == 1)
        blas = nullcontext() if self._large_matrices else one_blas_thread(look=False)
        with all_or_nothing(self), fitting(self), blas:
            self.__dict__.update(remember, _one_column=y.ndim == 1)
            return self._solve(labeled.count, problems)

    def _read_problems(
        self, labeled: LabeledRows, one_column: bool
    ) -> tuple[list[LabeledProblem], dict[str, Any]]:
        """The labeled rows as problems to solve, and what to remember of their labels."""
        if labeled.count == 0:
            raise ValueError(
                "y has no label at all: every entry is missing. Give at least 2 rows a label."
            )
        labels = labeled.labels
        Y, remember = self._read_targets(labels[:, 0] if one_column else labels)
        problems = labeled.problems(Y)
        for problem in problems:
            m = len(problem.Y)
            if m < 2:  # two labeled rows that differ are the least one can learn from
                raise ValueError(
                    f"Found n_samples={m} labeled row that differs from the others, for target "
                    f"{int(problem.targets[0])}, and at least 2 are needed. Label more rows."
                )
        return problems, remember

    def _decide(self, X: Any) -> np.ndarray:
        """(rows, targets) the regression function, block by block."""
        check_is_fitted(self)
        return self._decision(self._check_scaled_rows(X))

    def _decide_checked(self, X: np.ndarray) -> np.ndarray:
        """The same for rows of a table, which are numbers of the right width."""
        return self._decision(self._scale_checked(X))

    def _scale_checked(self, X: np.ndarray) -> np.ndarray:
        if self._scaling is None:
            return X
        with asking(self):
            return self._scaling(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
