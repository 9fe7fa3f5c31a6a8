"""What every estimator does: check the input, make the passes over the rows, solve on the labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from twinviews._system.progress_bar import progress_bar
from twinviews._system.threads import map_in_order, one_blas_thread
from twinviews.data_checks import Finding
from twinviews.estimators import _table_methods
from twinviews.estimators._all_or_nothing import all_or_nothing, fitting, predicting
from twinviews.estimators._checks import check_choice, check_parameter, seed_from
from twinviews.estimators._compared_labels import (
    COMPARED_ROWS,
    RowsToCompare,
    compare_labels,
    numbers_of_columns,
)
from twinviews.estimators._ensemble import EnsembleFit, dense
from twinviews.estimators._held_labels import held_labels, warn_of_unused_labels
from twinviews.estimators._inputs import as_numbers, open_arrays, open_dask
from twinviews.estimators._labeled_rows_alone import fit_labeled_rows_alone
from twinviews.estimators._method import Method, Problems, Solution
from twinviews.estimators._outside import outside, remember_ranges, warn_if_outside
from twinviews.estimators._questions import (
    RowNumbers,
    ask_about_data,
    ask_about_design,
    ask_after_fit,
    labels_as_given,
)
from twinviews.estimators._relabel import relabel
from twinviews.method.kernels import Kernel, find_kernel
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.tuning import SAMPLE_ROWS
from twinviews.passes.first_pass import FirstPass, first_pass_of
from twinviews.passes.input_profile import InputProfile
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import SCALES, Scale
from twinviews.passes.targets import check_missing_label, no_label_at_all
from twinviews.shift.covariate_shift import CovariateShift
from twinviews.shift.importance import RowImportance
from twinviews.shift.table_columns import level_places
from twinviews.tables import Block, Table
from twinviews.tables.base import MappedTable, rows_per_block
from twinviews.tables.engines import engine_of

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


class SemiSupervisedEstimator(BaseEstimator):
    """Features from all rows, then a penalised regression on the labeled ones.

    An algorithm provides its :class:`Method` (steps 1 to 3) and may provide an ensemble (step 4).
    What a label is, and what a prediction looks like, regressors and classifiers say.
    """

    # Of a task: its name, what its error is called, whether members of its ensemble are classifiers.
    _task: ClassVar[str]
    _measure: ClassVar[str]
    _members_are_classifiers: ClassVar[bool] = False

    # Parameters that are read here.
    kernel: Any
    degree: int
    scale: str | None
    missing_label: Any
    n_threads: int | None
    progress: bool
    _scales: tuple[str, ...] = SCALES

    # What the last fit has learned.
    n_labeled_: int
    n_labels_unused_: int
    n_unlabeled_: int
    n_left_out_: int  # rows without a label that the fit was told to leave out
    _encoder: Encoder | None = None  # of tables that hold more than numbers
    _profile: InputProfile | None = None  # what a fit on numbers has seen; None in older files
    _scaling: Scale | None
    _rows_are_sparse = False
    _one_column: bool  # whether y was a column or a table of them
    _seed: int
    _learned: Any
    _solution: Solution
    _unlabeled_sample: Any = None  # rows, dense or sparse, that members of an ensemble are fitted with
    _ensembles: list[Any] | None = None
    _error_ends: tuple[float, ...] | None = None  # low and high of each target; None in older files
    _shift: CovariateShift | None = None
    _importance: RowImportance | None = None  # of rows, where labels are not like all of them
    _rows_to_compare: RowsToCompare | None = None  # with new labels; no file has it

    # --- what an algorithm provides -----------------------------------------------------------------

    def _kernel(self) -> Kernel:
        """The kernel, or an error that says which there are."""
        return find_kernel(self.kernel, self.degree)

    @abstractmethod
    def _method(self) -> Method:
        """Steps 1 to 3, with the parameters of this estimator."""

    def _ensemble_fit(self) -> EnsembleFit | None:
        """Step 4: how an ensemble is to be fitted; None for the method alone."""
        return None

    def _sample_for_ensemble(self, first_pass: FirstPass) -> Any:
        """Unlabeled rows that an ensemble needs, also when labels change later."""
        return None

    def _scale_kind(self) -> str | None:
        """How columns are scaled: as the user said, unless an algorithm has its own way."""
        return self.scale

    def _find_scaling(self, first_pass: FirstPass) -> Scale | None:
        """How columns are brought to one scale, of that kind."""
        return first_pass.scaling(self._scale_kind())

    def _check_parameters(self) -> None:
        for name, value in self.get_params(deep=False).items():
            check_parameter(name, value)
        check_missing_label(self.missing_label)
        if self.scale is not None:
            check_choice("scale", self.scale, self._scales)
        self._kernel()

    # --- what regressors and classifiers provide ----------------------------------------------------

    @abstractmethod
    def _read_targets(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """(rows, targets) numbers to regress on, NaN where missing, and what to remember of them."""

    def _notice(self, y: Any) -> None:
        """Remember what a column of labels says beside its values, such as an order of classes."""

    def _questions_of_task(self) -> list[Finding]:
        """What is strange about the labels, for this task alone."""
        return []

    @abstractmethod
    def _expect_classes(self, classes: Any) -> None:
        """Remember classes that may come later."""

    @abstractmethod
    def _fit_ensembles(self, fit: EnsembleFit) -> list[Any] | None:
        """Step 4: the ensemble of each target; None if labels are too few."""

    @abstractmethod
    def _judge(self, problems: Problems, held_out: Sequence[np.ndarray]) -> None:
        """Set the error from predictions of labeled rows by fits that have not seen them."""

    @abstractmethod
    def _show_coefficients(self) -> None:
        """Set ``coef_`` and ``intercept_`` in the shape that the task gives them."""

    @abstractmethod
    def _judge_ensembles(self) -> None:
        """The same for ensembles."""

    @abstractmethod
    def _row_uncertainty(self, X: Any) -> np.ndarray:
        """(rows,) how uncertain predictions are, for rows on the scale of the fit."""

    @abstractmethod
    def _prediction_columns(
        self, X: np.ndarray, coverage: float | None = None, by: str | int | None = None
    ) -> dict[str, np.ndarray]:
        """Columns of predictions by name, from numbers; with ``coverage``, intervals too."""

    # --- fit ----------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_unlabeled: Any = None,
        sample_weight: Any = None,
        label_probability: Any = None,
        cluster: Any = None,
    ) -> Self:
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
        label_probability : array-like of shape (n_samples,), optional
            Where labels are no random sample and it is known how rows were chosen: for each labeled
            row the probability with which it was given a label, above 0 and at most 1. A label of
            probability 0.01 stands for 99 rows without one, and one of probability 1 for none. So
            labels count where members of the ensemble are weighted, errors are told and intervals
            made, not in the fits themselves. Of rows without a label it is not read.
        cluster : array-like of shape (n_samples,), optional
            For rows that depend on each other, such as several of one patient: the same value for all
            of them. The ensemble then leaves clusters out as a whole, so that the errors that it tells
            are of rows in new clusters. Of rows without a label it is not read.

        Returns
        -------
        self
        """
        self._check_parameters()
        with all_or_nothing(self):
            self.__dict__.pop("_expected", None)  # classes that an earlier partial_fit was told of
            self._notice(y)
            if engine_of(X) == "dask":
                apart = {
                    "sample_weight": sample_weight,
                    "label_probability": label_probability,
                    "cluster": cluster,
                }
                return self._fit_blocks(open_dask(self, X, y, X_unlabeled, apart))
            given = (sample_weight, label_probability, cluster)
            table = open_arrays(self, X, y, X_unlabeled, *given)
            return self._fit_blocks(table, labels_as_given(y, sample_weight))

    def _fit_blocks(
        self, table: Table, y: np.ndarray | None = None, rows: RowNumbers | None = None
    ) -> Self:
        """The algorithm: two passes over the rows, then the labels; ``y`` or ``rows`` name rows."""
        self.__dict__.pop("about_", None)  # of a file that the model came from
        # One number from random_state, from which everything random in this fit follows.
        self._seed = seed_from(getattr(self, "random_state", 0))
        method = self._method()
        with fitting(self):
            first_pass = table.fold(self._summarise_first_pass(method))
            first_pass = first_pass.with_labels_drawn(table, self._seed, **held_labels(self))
            first_pass = first_pass.with_label_probabilities()
            unscaled = first_pass.labeled
            remember_ranges(self, first_pass.ranges, first_pass.n_rows)
            self._rows_to_compare = RowsToCompare.of(first_pass)
            self._scaling = self._find_scaling(first_pass)
            if self._scaling is not None:
                table, first_pass = MappedTable(table, self._scaling), first_pass.scaled(self._scaling)
            problems = self._read_problems(first_pass.labeled, self._one_column)
            self.n_unlabeled_ = first_pass.n_rows - first_pass.labeled.n_labels
            self.n_left_out_ = 0
            ask_about_data(self, unscaled, y, rows)
            ask_about_design(first_pass)
            problems = compare_labels(self, unscaled, problems)
            method.warn_if_a_column_is_lost(first_pass.sample.rows)
            self._learned = method.learn(table, first_pass, problems)  # steps 1 and 2: all rows
            self._unlabeled_sample = self._sample_for_ensemble(first_pass)
            self._solve(problems, first_pass.labeled)  # steps 3 and 4: the labels
            ask_after_fit(self, unscaled, y, rows)
            return self

    def _solve(self, problems: Problems, labeled: LabeledRows) -> Self:
        """Steps 3 and 4: a ridge regression of the labels, and an ensemble around it."""
        method = self._method()
        self._solution, left_out = method.solve(self._learned, problems)
        self._show()
        self.n_labeled_, self.n_labels_unused_ = labeled.n_labels, labeled.n_dropped
        self._judge(problems, left_out)
        warn_of_unused_labels(self)
        method.warn_if_rounding_decides(self._learned.sigma, self._solution)
        ensemble = self._ensemble_fit()
        self._ensembles = None if ensemble is None else self._fit_ensembles(ensemble)
        if self._ensembles is not None:
            self._judge_ensembles()
        return self

    def _show(self) -> None:
        """Set the attributes that a user can look at, from what was learned."""
        self.__dict__.update(self._method().attributes(self._learned, self._solution))
        self._show_coefficients()

    def _summarise_first_pass(self, method: Method) -> Callable[[Block], FirstPass]:
        kind = self._scale_kind()
        least = SAMPLE_ROWS if kind in ("robust", "rank") else COMPARED_ROWS
        return partial(
            first_pass_of,
            sample_size=max(method.sample_size(), least),
            seed=self._seed,
            **held_labels(self),
            column_moments=kind == "standard",
            column_ranges=self._encoder is None,
            levels=level_places(numbers_of_columns(self)),
        )

    relabel = relabel

    def _read_problems(self, labeled: LabeledRows, one_column: bool) -> list[LabeledProblem]:
        """The labeled rows as least-squares problems; classes are remembered on the way."""
        if labeled.count == 0:
            raise no_label_at_all()
        labels = labeled.labels
        Y, remember = self._read_targets(labels[:, 0] if one_column else labels)
        problems = labeled.problems(Y, self._seed)
        for problem in problems:
            m = len(problem.Y)
            if m < 2:  # two labeled rows that differ are the least one can learn from
                raise ValueError(
                    f"Found n_samples={m} labeled row that differs from the others, for target "
                    f"{int(problem.targets[0])}, and at least 2 are needed. Label more rows."
                )
        self.__dict__.update(remember)
        return problems

    # --- rows that a user gives ---------------------------------------------------------------------

    @property
    def cv_error_interval_(self) -> np.ndarray | None:
        """90% confidence interval of ``cv_error_`` on rows without a label."""
        ends = self._error_ends
        several = not (self._one_column or hasattr(self, "classes_"))
        return None if ends is None else np.reshape(ends, (-1, 2) if several else 2)

    @property
    def shift_(self) -> CovariateShift | None:
        """How the labeled rows differ from all rows of the fit; None where that is unknown."""
        check_is_fitted(self)
        return self._shift

    @property
    def columns_(self) -> list[Any]:
        """What became of each column, as of :class:`TableEncoder`; empty if all were numbers."""
        check_is_fitted(self)
        return [] if self._encoder is None else list(self._encoder.codes)

    @property
    def _n_features_out(self) -> int:
        """Features of ``transform``; scikit-learn names them."""
        return self._learned.view.W.shape[1]

    @property
    def _width(self) -> int:
        """D: how many numbers a row has."""
        return self.n_features_in_ if self._encoder is None else len(self._encoder.outputs)

    def _input_names(self) -> list[str]:
        if self._encoder is not None:
            return self._encoder.names
        if not hasattr(self, "feature_names_in_"):
            raise ValueError(
                "This model was fitted on rows without column names, so it cannot tell which columns "
                "of a table are its inputs. Fit it on a data frame or with fit_table."
            )
        return [str(name) for name in self.feature_names_in_]

    def _as_numbers(self, X: Any, look: Callable[[Any], None] | None = None) -> Any:
        """Rows like those of the fit, as numbers, and dense where they are to be scaled."""
        X = as_numbers(self, X, look)
        return X.toarray() if self._scaling is not None and sparse.issparse(X) else X

    def _scaled(self, X: Any) -> Any:
        """Numbers, on the scale of the fit."""
        if self._scaling is None:
            return X
        with predicting(self):
            return self._scaling(X)

    def _prepared(self, X: Any) -> Any:
        """Rows of a user, checked, as numbers on the scale of the fit; with a warning of columns
        that are outside what the fit has seen."""
        check_is_fitted(self)
        return self._scaled(self._as_numbers(X, partial(warn_if_outside, self)))

    outside = outside

    # --- tables that need not fit in memory ---------------------------------------------------------

    fit_table = _table_methods.fit_table
    _fit_labeled_rows_alone = fit_labeled_rows_alone
    predict_table = _table_methods.predict_table
    predict_batches = _table_methods.predict_batches

    # --- predictions, for rows on the scale of the fit ----------------------------------------------

    def _decision(self, X: Any) -> np.ndarray:
        """(rows, targets) the regression function."""
        if self._ensembles is None:
            return self._by_blocks(self._solution, X)
        X = X if self._rows_are_sparse else dense(X)
        return np.hstack([self._by_blocks(ensemble, X) for ensemble in self._ensembles])

    def _predictive_variance(self, X: Any) -> np.ndarray:
        """(rows,) variance of the prediction in units of the noise."""
        return self._by_blocks(self._method().variance(self._learned, self._solution), X)

    def _uncertain_directions(self, X: Any) -> np.ndarray:
        """(rows, q) directions of some rows, whose squared lengths are the predictive variances."""
        return self._method().directions(self._learned, self._solution, X)

    def _by_blocks(self, function: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
        """The function of all rows, block by block, on as many threads as BLAS would take."""
        size = rows_per_block(X)
        with predicting(self):
            if X.shape[0] <= size:
                return function(X)
            blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
            found = []
            with (
                one_blas_thread(look=False) as allowed,
                progress_bar(X.shape[0], self.progress) as bar,
            ):
                for part in map_in_order(function, blocks, self.n_threads or allowed):
                    found.append(part)
                    bar.update(len(part))
            return np.concatenate(found)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
