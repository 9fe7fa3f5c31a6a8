"""Exact SSSL, section 2.4: least squares on eigenfunctions of the full kernel matrix."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_count
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._full_kernel import EigenfunctionRegression
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import Kernel, find_kernel


class ExactSSSL(SemiSupervisedEstimator):
    """Simple semi-supervised learning as in Ji et al. (2012), for regression and classification."""

    ridge = AUTO  # there is none; this is for the settings that all methods share

    def __init__(
        self,
        *,
        n_eigenfunctions: Any = AUTO,
        sigma: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = None,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
    ) -> None:
        self.n_eigenfunctions = n_eigenfunctions
        self.sigma = sigma
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_eigenfunctions", self.n_eigenfunctions)

    def _kernel(self) -> Kernel:
        return find_kernel(self.kernel, self.degree)

    def _method(self) -> EigenfunctionRegression:
        return EigenfunctionRegression(self._settings(), self.n_eigenfunctions)


class ExactSSSLRegressor(SemiSupervisedRegressor, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for numbers: Ji et al. (2012).

    Least squares of the labels on the first s eigenfunctions of the kernel's integral operator over all
    rows. It holds N x N matrices and takes time N^3; a table that does not fit in memory is refused
    before the fit starts. :class:`SSSLRegressor` is its fast approximation.

    Parameters
    ----------
    n_eigenfunctions : int or "auto", default="auto"
        s. "auto" compares every s up to the number of labels, and up to 1,000, by leave-one-out error.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" is chosen on 400 rows, since each trial on all rows would cost a whole fit.
    kernel : str or callable, default="gaussian"
        "gaussian", "laplace", "matern32", "matern52", "linear", "polynomial", "cosine", or a function
        of two arrays of rows (divided by sigma) that returns their kernel matrix.
    degree : int, default=3
        Degree of the polynomial kernel; the others ignore it.
    fit_intercept : bool, default=True
        Whether to fit a constant that is not penalised.
    scale : {"standard", "robust", "rank"} or None, default=None
        How columns are brought to one scale, from the first pass over all rows: "standard" is mean 0
        and variance 1; "robust" is median 0 and interquartile range 1 (from 8,192 rows), where values
        beyond 3 are compressed smoothly; "rank" maps ranks to a normal distribution.
        ``landmarks_`` are then on that scale.
    missing_label : object, default=None
        A value in y that marks a row without a label, in addition to None, NaN and pandas.NA.
    n_threads : int or None, default=None
        Threads that work on blocks of rows; None means as many as BLAS may use. The model does not
        depend on it.
    progress : bool, default=True
        Whether passes of more than two seconds show a bar, if the output is a terminal.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct rows.
    eigenvalues_ : ndarray
        Of the integral operator, largest first.
    coef_ : ndarray of shape (n_eigenfunctions_,) or (n_targets, n_eigenfunctions_)
        Coefficients of the eigenfunctions, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    n_eigenfunctions_, sigma_ : number
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import ExactSSSLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=800)
    >>> labels = np.where(np.arange(800) < 100, y, np.nan)
    >>> model = ExactSSSLRegressor().fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.92
    """


class ExactSSSLClassifier(SemiSupervisedClassifier, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`ExactSSSLRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_eigenfunctions_) for two classes, else (n_classes, n_eigenfunctions_)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import ExactSSSLClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = ExactSSSLClassifier().fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.77
    """
