"""Exact SSSL, section 2.4: least squares on eigenfunctions of the full kernel matrix."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._full_kernel import EigenfunctionRegression
from twinviews.estimators._regressor import SemiSupervisedRegressor


class ExactSSSL(SemiSupervisedEstimator):
    """Simple semi-supervised learning as in Ji et al. (2012), for regression and classification.

    Least squares of the labels on the first s eigenfunctions of the kernel's integral operator over all
    rows. It holds N x N matrices and takes time N^3; a table that does not fit in memory is refused
    before the fit starts. SSSL is its fast approximation.

    Parameters
    ----------
    n_eigenfunctions : int or "auto", default="auto"
        s. "auto" compares every s up to the number of labels, and up to 1,000, by leave-one-out error.
    sigma : float or "auto", default="auto"
        Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
        "auto" is chosen on 400 rows, since each trial on all rows would cost a whole fit.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct rows, on the scale of ``scale``.
    eigenvalues_ : ndarray
        Of the integral operator, largest first.
    """

    ridge = AUTO  # there is none; this is for the choice that all methods share

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

    def _method(self) -> EigenfunctionRegression:
        return EigenfunctionRegression(self)


@documented(score=0.92)
class ExactSSSLRegressor(SemiSupervisedRegressor, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for numbers: Ji et al. (2012)."""


@documented(score=0.77)
class ExactSSSLClassifier(SemiSupervisedClassifier, ExactSSSL):
    """Simple semi-supervised learning on the full kernel matrix, for classes."""
