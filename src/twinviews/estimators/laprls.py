"""LapRLS: Laplacian regularised least squares, a semi-supervised baseline."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_number
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._docstrings import documented
from twinviews.estimators._full_kernel import LaplacianRidge
from twinviews.estimators._regressor import SemiSupervisedRegressor


class LapRLS(SemiSupervisedEstimator):
    r"""Laplacian regularised least squares, for regression and classification.

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

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix
        The distinct rows, on the scale of ``scale``.
    """

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

    def _method(self) -> LaplacianRidge:
        return LaplacianRidge(self)


@documented(score=0.92)
class LapRLSRegressor(SemiSupervisedRegressor, LapRLS):
    """Laplacian regularised least squares, for numbers: Belkin, Niyogi and Sindhwani (2006)."""


@documented(score=0.9)
class LapRLSClassifier(SemiSupervisedClassifier, LapRLS):
    """Laplacian regularised least squares, for classes: Belkin, Niyogi and Sindhwani (2006)."""
