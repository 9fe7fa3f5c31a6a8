"""KRR, section SI.2: kernel ridge regression on the labeled rows."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._labeled_kernel import KernelRidgeMethod
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import Kernel, find_kernel


class KRR(SemiSupervisedEstimator):
    """Kernel ridge regression, section SI.2: a Nystroem view whose landmarks are the labeled rows."""

    def __init__(
        self,
        *,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
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
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _kernel(self) -> Kernel:
        return find_kernel(self.kernel, self.degree)

    def _method(self) -> KernelRidgeMethod:
        return KernelRidgeMethod(self._settings())


class KRRRegressor(SemiSupervisedRegressor, KRR):
    """Kernel ridge regression on the labeled rows, for numbers: the supervised baseline of SI.2.

    Unlabeled rows are used only for the median distance around which sigma is searched. Time grows with
    the cube of the number of labels.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" searches around the median distance between rows.
    ridge : float or "auto", default="auto"
        The paper's gamma: penalty on the squared norm of the function, with the loss a mean over the
        labeled rows (``alpha`` of scikit-learn's KernelRidgeMethod is n times as large).
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
        The distinct labeled rows.
    coef_ : ndarray of shape (rank,) or (n_targets, rank)
        Coefficients of the eigenvectors of the kernel matrix, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    sigma_, ridge_ : float
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import KRRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=3000)
    >>> labels = np.where(np.arange(3000) < 100, y, np.nan)
    >>> model = KRRRegressor().fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.92
    """


class KRRClassifier(SemiSupervisedClassifier, KRR):
    """Kernel ridge regression on the labeled rows, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`KRRRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, rank) for two classes, else (n_classes, rank)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import KRRClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = KRRClassifier().fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.86
    """
