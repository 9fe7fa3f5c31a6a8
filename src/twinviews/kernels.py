r"""Kernels, and the only place that says what ``sigma`` means: inputs are divided by it.

=============  ====================================  =========================================
name           k(x, x') with u = x / sigma           Fourier frequencies of u
=============  ====================================  =========================================
gaussian       exp(-|u - u'|^2 / 2)                  normal
laplace        exp(-|u - u'|)                        Student t, 1 degree of freedom (Cauchy)
matern32       (1 + r) exp(-r), r = sqrt(3)|u - u'|  Student t, 3 degrees
matern52       (1 + r + r^2/3) exp(-r), r = sqrt(5)|u - u'|   Student t, 5 degrees
linear         u . u'                                none
polynomial     (1 + u . u')^degree                   none
cosine         u . u' / (|u| |u'|)                   none
=============  ====================================  =========================================

So ``sigma`` is the width of the Gaussian kernel in its usual form, exp(-|x - x'|^2 / (2 sigma^2)). The
paper's text speaks of a width too; its appendix draws frequencies with variance "2 sigma", which would
be the other convention, exp(-sigma |x - x'|^2). Distances are Euclidean for every kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse

Rows = Any  # (rows, D) ndarray or CSR matrix


class Columns(Protocol):
    """x -> (feature_1(x), ..., feature_m(x)): a block of rows becomes a (rows, m) array."""

    def __call__(self, X: Rows) -> np.ndarray: ...


class Kernel(Protocol):
    """A kernel is known by its columns k(., y_1), ..., k(., y_m)."""

    def against(self, Y: Rows, sigma: float) -> Columns: ...

    def natural_sigma(self, X: Rows) -> float:
        """A sigma that suits these rows, to start a search from."""
        ...

    @property
    def sigma_matters(self) -> bool:
        """Whether sigma does more than multiply the kernel by a number."""
        ...


# --- profiles: in place, from the exponent q = -|u - u'|^2 / 2 or from the product u . u' ---------


def _gaussian(q: np.ndarray) -> np.ndarray:
    return np.exp(q, out=q)


def _laplace(q: np.ndarray) -> np.ndarray:
    r = _distance(q, scale=1.0)
    return np.exp(np.negative(r, out=r), out=r)


def _matern32(q: np.ndarray) -> np.ndarray:
    r = _distance(q, scale=3.0)
    return (1 + r) * np.exp(-r)


def _matern52(q: np.ndarray) -> np.ndarray:
    r = _distance(q, scale=5.0)
    return (1 + r + r * r / 3) * np.exp(-r)


def _distance(q: np.ndarray, scale: float) -> np.ndarray:
    """sqrt(scale) |u - u'|; rounding may leave q a little above zero for equal points."""
    q *= -2 * scale
    return np.sqrt(np.maximum(q, 0, out=q), out=q)


def _linear(product: np.ndarray) -> np.ndarray:
    return product


def _polynomial(product: np.ndarray, degree: int) -> np.ndarray:
    product += 1
    return np.power(product, degree, out=product)


# --- columns: one matrix product per block ---------------------------------------------------------


@dataclass(frozen=True)
class _DistanceColumns:
    """Columns of a kernel of |u - u'|: the exponent -|u - u'|^2 / 2 comes out of one product.

    Each row is extended by its squared norm and a 1, each y by the matching constants. Rows are
    centred first: far from the origin the squared norms would cancel to nothing.
    """

    profile: Callable[[np.ndarray], np.ndarray]
    exact_near_zero: bool
    sigma: float
    centre: np.ndarray  # (D,)
    U: np.ndarray  # (m, D) the centred, scaled y
    right: np.ndarray  # (D + 2, m)

    def __call__(self, X: Rows) -> np.ndarray:
        D = len(self.centre)
        if sparse.issparse(X):  # centre is zero: a shift would fill the matrix
            X = X.astype(np.float64) / self.sigma
            q = np.asarray(X @ self.right[:D])
            squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
            q -= 0.5 * squares
            q += self.right[-1]
        else:
            left = np.empty((len(X), D + 2))
            np.subtract(X, self.centre, out=left[:, :D])
            left[:, :D] /= self.sigma
            X = left[:, :D]
            squares = np.einsum("ij,ij->i", X, X, out=left[:, D])
            left[:, D + 1] = 1
            q = left @ self.right
        longest = max(float(squares.max(initial=0)), -2 * float(self.right[-1].min(initial=0)))
        if self.exact_near_zero or longest * np.finfo(float).eps > 1e-10:
            self._mend_coincident(X, q, longest)
        return self.profile(q)

    def _mend_coincident(self, X: Rows, q: np.ndarray, longest: float) -> None:
        """Recompute pairs that nearly coincide, where what squared norms leave is rounding.

        That is needed where a square root follows (it turns 1e-16 into 1e-8), and where sigma is so
        small that the rounding of u . u' alone would move the exponent.
        """
        np.minimum(q, 0, out=q)
        row, column = np.nonzero(q > -1e-9 * longest)
        if len(row):
            near = X[row].toarray() if sparse.issparse(X) else X[row]
            q[row, column] = -0.5 * np.square(near - self.U[column]).sum(axis=1)


@dataclass(frozen=True)
class _ProductColumns:
    """Columns of a kernel of u . u'."""

    profile: Callable[[np.ndarray], np.ndarray]
    sigma: float
    right: np.ndarray  # (D, m)
    unit_length: bool

    def __call__(self, X: Rows) -> np.ndarray:
        if self.unit_length:
            X = _to_unit_length(X)
        return self.profile(np.asarray(X @ self.right))


@dataclass(frozen=True)
class _CallableColumns:
    kernel: Callable[[Rows, Rows], np.ndarray]
    sigma: float
    U: Rows

    def __call__(self, X: Rows) -> np.ndarray:
        K = np.asarray(self.kernel(X / self.sigma, self.U), dtype=np.float64)
        if K.shape != (X.shape[0], self.U.shape[0]):
            raise ValueError(
                f"kernel={self.kernel!r} returned shape {K.shape} for {X.shape[0]} rows against "
                f"{self.U.shape[0]}. It must return one row and one column for each of them."
            )
        return K


def _dense(Y: Rows) -> np.ndarray:
    return np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=np.float64)


def _to_unit_length(X: Rows) -> Rows:
    """Rows of length one; a zero row stays zero."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sparse.diags_array(1 / np.where(norms > 0, norms, 1)) @ X
    X = np.asarray(X, dtype=np.float64)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1)


# --- kernels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistanceKernel:
    """A shift-invariant kernel, a function of |u - u'|."""

    profile: Callable[[np.ndarray], np.ndarray]
    degrees_of_freedom: float  # of the Student t distribution of its Fourier frequencies
    exact_near_zero: bool = False

    def against(self, Y: Rows, sigma: float) -> Columns:
        U = _dense(Y)
        centre = np.zeros(U.shape[1]) if sparse.issparse(Y) else U.mean(axis=0)
        U = (U - centre) / sigma
        right = np.empty((U.shape[1] + 2, len(U)))
        right[:-2] = U.T
        right[-2] = -0.5
        right[-1] = -0.5 * np.einsum("ij,ij->i", U, U)
        return _DistanceColumns(self.profile, self.exact_near_zero, sigma, centre, U, right)

    def natural_sigma(self, X: Rows) -> float:
        return _median_distance(X)

    @property
    def sigma_matters(self) -> bool:
        return True

    def frequencies(self, D: int, m: int, rng: np.random.RandomState) -> np.ndarray:
        """(D, m) draws from the kernel's Fourier transform, for inputs divided by sigma."""
        normal = rng.standard_normal((D, m))
        if np.isinf(self.degrees_of_freedom):
            return normal
        chi_squared = rng.chisquare(self.degrees_of_freedom, m)
        return normal * np.sqrt(self.degrees_of_freedom / chi_squared)


@dataclass(frozen=True)
class ProductKernel:
    """A kernel of the inner product u . u'."""

    profile: Callable[[np.ndarray], np.ndarray]
    unit_length: bool = False
    homogeneous: bool = True  # k(a u, a u') = a^p k(u, u')

    def natural_sigma(self, X: Rows) -> float:
        """The root mean square length of a row: k(x, x) is then near one."""
        return float(np.sqrt(np.square(_dense(X)).sum(axis=1).mean())) or 1.0

    @property
    def sigma_matters(self) -> bool:
        return not self.homogeneous

    def against(self, Y: Rows, sigma: float) -> Columns:
        U = _dense(Y)
        if self.unit_length:  # the angle does not depend on sigma
            return _ProductColumns(self.profile, sigma, _to_unit_length(U).T.copy(), True)
        return _ProductColumns(self.profile, sigma, U.T / sigma**2, False)


@dataclass(frozen=True)
class CallableKernel:
    """A kernel that the user wrote: ``kernel(U, V) -> (len(U), len(V))`` on inputs over sigma."""

    kernel: Callable[[Rows, Rows], np.ndarray]

    def natural_sigma(self, X: Rows) -> float:
        return _median_distance(X)

    @property
    def sigma_matters(self) -> bool:
        return True

    def against(self, Y: Rows, sigma: float) -> Columns:
        return _CallableColumns(self.kernel, sigma, Y / sigma)


def _median_distance(X: Rows) -> float:
    """Median of the distances between the rows; 1 if they are all equal."""
    r = DistanceKernel(partial(_distance, scale=1.0), np.inf).against(X, 1.0)(X)
    apart = r[np.triu_indices(len(r), 1)]
    apart = apart[apart > 0]
    return float(np.median(apart)) if len(apart) else 1.0


SHIFT_INVARIANT = {
    "gaussian": DistanceKernel(_gaussian, np.inf),
    "laplace": DistanceKernel(_laplace, 1, exact_near_zero=True),
    "matern32": DistanceKernel(_matern32, 3),
    "matern52": DistanceKernel(_matern52, 5),
}
PRODUCT = {
    "linear": ProductKernel(_linear),
    "cosine": ProductKernel(_linear, unit_length=True),
}
KERNELS = [*SHIFT_INVARIANT, *PRODUCT, "polynomial"]


def find_kernel(kernel: str | Callable[..., Any], degree: int = 3) -> Kernel:
    """The kernel of that name, or a callable as a kernel."""
    if callable(kernel):
        return CallableKernel(kernel)
    if kernel == "polynomial":
        return ProductKernel(partial(_polynomial, degree=degree), homogeneous=False)
    found: Kernel | None = SHIFT_INVARIANT.get(kernel) or PRODUCT.get(kernel)
    if found is None:
        raise ValueError(
            f"kernel={kernel!r} is not known. Use one of {', '.join(KERNELS)}, or a callable."
        )
    return found


def find_shift_invariant_kernel(kernel: object) -> DistanceKernel:
    """The kernel of that name, which must have a Fourier transform to draw frequencies from."""
    found = SHIFT_INVARIANT.get(kernel) if isinstance(kernel, str) else None
    if found is None:
        raise ValueError(
            f"kernel={kernel!r} has no Fourier features. Use one of {', '.join(SHIFT_INVARIANT)}, or "
            f"a Nystroem estimator (XNV, SSSL), which takes any kernel."
        )
    return found
