"""SSSL, section 2.4: ridge regression on one Nystroem view."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_count, check_landmarks, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.estimators._single_view import OneView, SingleView
from twinviews.method.kernels import Kernel, find_kernel
from twinviews.method.views import View, nystroem_view
from twinviews.passes.first_pass import FirstPass

# Rows between landmarks that nearly coincide are told apart by the inverse of the landmarks' kernel
# matrix, which makes the rounding of its entries as many times larger: down to this share of the
# largest eigenvalue, predictions keep eight digits.
LANDMARK_RCOND = 1e-8


class SSSL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Simple semi-supervised learning on a Nystroem view, section 2.4, for both tasks."""

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        kernel: Any = "gaussian",
        degree: int = 3,
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
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)

    def _kernel(self) -> Kernel:
        return find_kernel(self.kernel, self.degree)

    def _method(self) -> SingleView:
        M = components(self.n_components)
        return SingleView(self._settings(), M, self._one_view, rcond=LANDMARK_RCOND)

    def _one_view(self, first_pass: FirstPass) -> OneView:
        M = check_landmarks(first_pass.sample, self.n_components, n_views=1)
        landmarks = first_pass.sample.rows[:M]

        def view_of(sigma: float) -> View:
            return nystroem_view(self._kernel(), landmarks, sigma, rcond=LANDMARK_RCOND)

        return OneView(view_of, M, landmarks)

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


class SSSLRegressor(SemiSupervisedRegressor, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for numbers: SSSL_M of section 2.4.

    Ridge regression of the labels on one view of ``n_components`` Nystroem features, whose landmarks
    come from all rows. With 2M features it is the paper's SSSL_2M.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Features and landmarks. "auto" is the paper's 200, or all distinct rows if there are fewer.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" searches around the median distance between rows.
    ridge : float or "auto", default="auto"
        The paper's gamma: penalty on the squared coefficients of the features. The loss is a mean
        over the labeled rows (scikit-learn's ``alpha``, for a sum, is n times as large).
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
    random_state : int, RandomState or None, default=None
        Seed of the choice of landmarks.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix of shape (n_components_, n_features_in_)
    coef_ : ndarray of shape (rank,) or (n_targets, rank)
        Coefficients of the Nystroem features, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    n_components_, sigma_, ridge_ : number
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import SSSLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=3000)
    >>> labels = np.where(np.arange(3000) < 100, y, np.nan)
    >>> model = SSSLRegressor(random_state=0).fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.92
    """


class SSSLClassifier(SemiSupervisedClassifier, SSSL):
    """Simple semi-supervised learning with the Nystroem method, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`SSSLRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, rank) for two classes, else (n_classes, rank)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import SSSLClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = SSSLClassifier(random_state=0).fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.84
    """
