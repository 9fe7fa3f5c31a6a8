"""RFF, section SI.4: ridge regression on one view of random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_count, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.estimators._single_view import OneView, SingleView
from twinviews.method.kernels import DistanceKernel, find_shift_invariant_kernel
from twinviews.method.views import View, fourier_columns, fourier_view
from twinviews.passes.first_pass import FirstPass


class RFF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Random Fourier features, section SI.4, for regression and classification."""

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        kernel: str = "gaussian",
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)

    def _kernel(self) -> DistanceKernel:
        return find_shift_invariant_kernel(self.kernel)

    def _method(self) -> SingleView:
        return SingleView(self._settings(), 0, self._one_view)  # the view needs no landmarks

    def _one_view(self, first_pass: FirstPass) -> OneView:
        M, D = components(self.n_components), first_pass.sample.rows.shape[1]
        columns = fourier_columns(self._kernel(), D, M, M, self._seed)

        def view_of(sigma: float) -> View:
            return fourier_view(columns, sigma)

        return OneView(view_of, M, None)

    def transform(self, X: Any) -> np.ndarray:
        """The random features z(x), whose inner products approximate the kernel.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rank), with at most ``n_components`` columns
        """
        X = self._prepared(X)
        return self._by_blocks(self._learned.view, X)


class RFFRegressor(SemiSupervisedRegressor, RFF):
    """Ridge regression on random Fourier features, for numbers: RFF_M of section SI.4.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features. "auto" is the paper's 200.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" searches around the median distance between rows.
    ridge : float or "auto", default="auto"
        The paper's gamma: penalty on the squared coefficients of the features. The loss is a mean
        over the labeled rows (scikit-learn's ``alpha``, for a sum, is n times as large).
    kernel : str, default="gaussian"
        "gaussian", "laplace", "matern32" or "matern52": only a shift-invariant kernel has Fourier
        features.
    fit_intercept : bool, default=True
        Whether to fit a constant that is not penalised.
    scale : {"standard", "robust", "rank"} or None, default=None
        How columns are brought to one scale, from the first pass over all rows: "standard" is mean 0
        and variance 1; "robust" is median 0 and interquartile range 1 (from 8,192 rows), where values
        beyond 3 are compressed smoothly; "rank" maps ranks to a normal distribution.
    missing_label : object, default=None
        A value in y that marks a row without a label, in addition to None, NaN and pandas.NA.
    n_threads : int or None, default=None
        Threads that work on blocks of rows; None means as many as BLAS may use. The model does not
        depend on it.
    progress : bool, default=True
        Whether passes of more than two seconds show a bar, if the output is a terminal.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies and phases.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components_,) or (n_targets, n_components_)
        Coefficients of the Fourier features, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    n_components_, sigma_, ridge_ : number
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import RFFRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=3000)
    >>> labels = np.where(np.arange(3000) < 100, y, np.nan)
    >>> model = RFFRegressor(random_state=0).fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.92
    """


class RFFClassifier(SemiSupervisedClassifier, RFF):
    """Ridge regression on random Fourier features, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`RFFRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_components_) for two classes, else (n_classes, n_components_)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import RFFClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = RFFClassifier(random_state=0).fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.81
    """
