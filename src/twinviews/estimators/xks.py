"""XKS, Algorithm 2: correlated kitchen sinks."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from twinviews.estimators import _correlated_methods
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, components
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._correlated_views import CorrelatedViews, PairOfViews
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.kernels import DistanceKernel, find_shift_invariant_kernel
from twinviews.method.views import TwinViews, fourier_columns, fourier_views
from twinviews.passes.first_pass import FirstPass


class XKS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Correlated kitchen sinks, Algorithm 2, for regression and classification."""

    def __init__(
        self,
        *,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        correlation_ridge: Any = AUTO,
        canonical_weight: Any = 1.0,
        kernel: str = "gaussian",
        fit_intercept: bool = True,
        scale: str | None = None,
        cca: str = "exact",
        sketch_ratio: float = 0.25,
        missing_label: Any = None,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.correlation_ridge = correlation_ridge
        self.canonical_weight = canonical_weight
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.cca = cca
        self.sketch_ratio = sketch_ratio
        self.missing_label = missing_label
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _correlated_methods.check_correlation_parameters(self)

    def _kernel(self) -> DistanceKernel:
        return find_shift_invariant_kernel(self.kernel)

    def _method(self) -> CorrelatedViews:
        M = components(self.n_components)
        correlation = _correlated_methods.correlation_settings(self)
        return CorrelatedViews(self._settings(), correlation, M, self._pair_of_views)

    def _pair_of_views(self, first_pass: FirstPass) -> PairOfViews:
        M, D = components(self.n_components), first_pass.sample.rows.shape[1]
        columns = fourier_columns(self._kernel(), D, 2 * M, M, self._seed)

        def views_of(sigma: float) -> TwinViews:
            return fourier_views(columns, sigma)

        return PairOfViews(views_of, M, None)

    views_ = property(_correlated_methods.views_)
    basis_ = property(_correlated_methods.basis_)
    transform = _correlated_methods.transform
    transform_pair = _correlated_methods.transform_pair
    partial_fit = _correlated_methods.partial_fit
    merge = _correlated_methods.merge


class XKSRegressor(SemiSupervisedRegressor, XKS):
    """Correlated kitchen sinks, for numbers: Algorithm 2 of the paper.

    Like :class:`XNVRegressor` without an ensemble, with random Fourier features in place of Nystroem
    features. These do not depend on the rows and usually have larger errors. ``correlation_ridge=0`` is
    literally the paper.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        M, the features of each view. "auto" is the paper's 200.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" searches around the median distance between rows.
    ridge : float or "auto", default="auto"
        The paper's gamma: penalty on the squared coefficients in the canonical basis. The
        loss is a mean over the labeled rows (scikit-learn's ``alpha``, for a sum, is n times as large).
    correlation_ridge : float or "auto", default="auto"
        rho, the ridge inside CCA, in units of the kernel: views are whitened with (C + rho I)^(-1/2).
        Without it, directions of tiny variance that both views happen to share go almost unpenalised.
    canonical_weight : float or "auto", default=1.0
        eta, a factor on the canonical norm; 1 in the paper.
    kernel : str, default="gaussian"
        "gaussian", "laplace", "matern32" or "matern52": only a shift-invariant kernel has Fourier
        features.
    fit_intercept : bool, default=True
        Whether to fit a constant that is not penalised (centring views and labels).
    scale : {"standard", "robust", "rank"} or None, default=None
        How columns are brought to one scale, from the first pass over all rows: "standard" is mean 0
        and variance 1; "robust" is median 0 and interquartile range 1 (from 8,192 rows), where values
        beyond 3 are compressed smoothly; "rank" maps ranks to a normal distribution.
    cca : {"exact", "randomized"}, default="exact"
        "exact" sums the second moments of both views over all rows. "randomized" sums them over a
        sketch of the rows (Avron et al. 2013), as the paper does.
    sketch_ratio : float, default=0.25
        Share of the rows that the sketch keeps, for ``cca="randomized"``.
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
    views_ : tuple of two views
        Functions x -> z(x).
    basis_ : CanonicalBasis
        ``B1``, ``B2`` (directions of the two views, one per column) and ``correlations``.
    correlations_ : ndarray of shape (k,)
        Canonical correlations, largest first.
    effective_dimension_ : float
        Sum of their squares, which bounds the variance in Theorem 1.
    coef_ : ndarray of shape (k,) or (n_targets, k)
        Coefficients of the canonical features, and their ``intercept_``.
    loo_error_ : float or ndarray of shape (n_targets,)
        Mean squared error over the labeled rows, each predicted by the fit without it.
    n_labeled_, n_unlabeled_ : int
        Labeled rows of the last solve, unlabeled rows of the last fit.
    n_components_, sigma_, ridge_, correlation_ridge_, canonical_weight_ : number
        The values used: those that were given, or those that were chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XKSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=3000)
    >>> labels = np.where(np.arange(3000) < 100, y, np.nan)
    >>> model = XKSRegressor(random_state=0).fit(X, labels)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.91
    """


class XKSClassifier(SemiSupervisedClassifier, XKS):
    """Correlated kitchen sinks, for classes.

    Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
    class against the rest, with one pass over the rows for all. Parameters and attributes are those
    of :class:`XKSRegressor`, except for these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, k) for two classes, else (n_classes, k)
    loo_error_ : float
        Share of the labeled rows that the fit without them puts in the wrong class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from twinviews import XKSClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> labels = y.astype(object)
    >>> labels[200:] = None
    >>> model = XKSClassifier(random_state=0).fit(X, labels)
    >>> round(model.score(X[200:], y[200:]), 2)
    0.83
    """
