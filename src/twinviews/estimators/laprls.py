"""LapRLS: Laplacian regularised least squares, a semi-supervised baseline."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_count, check_number
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._full_kernel import LaplacianRidge
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import Kernel, find_kernel


class LapRLS(SemiSupervisedEstimator):
    """Laplacian regularised least squares, Belkin et al. (2006), for regression and classification."""

    def __init__(
        self,
        *,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        manifold_ridge: Any = AUTO,
        n_neighbors: Any = AUTO,
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
        self.manifold_ridge = manifold_ridge
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("ridge", self.ridge, least=0, open_end=True)
        check_number("manifold_ridge", self.manifold_ridge, least=0)
        check_count("n_neighbors", self.n_neighbors)

    def _kernel(self) -> Kernel:
        return find_kernel(self.kernel, self.degree)

    def _method(self) -> LaplacianRidge:
        return LaplacianRidge(self._settings(), self.manifold_ridge, self.n_neighbors)


class LapRLSRegressor(SemiSupervisedRegressor, LapRLS):
    r"""Laplacian regularised least squares, for numbers: Belkin, Niyogi and Sindhwani (2006).

    .. math:: \frac1n \sum_{i \le n} (y_i - f(x_i))^2 + \gamma_A |f|^2_K
              + \frac{\gamma_I}{N^2} \sum_{i,j \le N} f(x_i) L_{ij} f(x_j)

    with L the normalised Laplacian of the graph of nearest neighbours of all rows. It is solved as
    kernel ridge regression with a kernel that the graph deforms (Sindhwani et al. 2005). It holds N x N
    matrices and takes time N^3; a table that does not fit in memory is refused before the fit starts.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" is chosen on a Nystroem approximation, since each trial would cost a whole fit.
    ridge : float or "auto", default="auto"
        gamma_A, above 0.
    manifold_ridge : float or "auto", default="auto"
        gamma_I. 0 is kernel ridge regression. If it is given, relabel keeps the ridge.
    n_neighbors : int or "auto", default="auto"
        Neighbours of a row in the graph, and all that are as near as the last of them. "auto" is 10, or
        all other rows if there are fewer.
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
    coef_ : ndarray of shape (rank,) or (n_targets, rank)
        Coefficients of the features of the deformed kernel, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    sigma_, ridge_, manifold_ridge_, n_neighbors_ : number
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import LapRLSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=800)
    >>> labels = np.where(np.arange(800) < 100, y, np.nan)
    >>> model = LapRLSRegressor().fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.92
    """


class LapRLSClassifier(SemiSupervisedClassifier, LapRLS):
    """Laplacian regularised least squares, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`LapRLSRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, rank) for two classes, else (n_classes, rank)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import LapRLSClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = LapRLSClassifier().fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.9
    """
