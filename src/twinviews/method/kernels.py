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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from twinviews.method.kernel_values import (
    CallableColumns,
    Columns,
    Rows,
    distance_columns,
    product_columns,
    row_squares,
)


class Kernel(ABC):
    """A kernel is known by its columns k(., y_1), ..., k(., y_m)."""

    # Whether its matrix of distinct rows is never singular, so that a zero in it is rounding.
    full_rank = False

    @abstractmethod
    def against(self, Y: Rows, sigma: float) -> Columns: ...

    @property
    def sigma_matters(self) -> bool:
        """Whether sigma does more than multiply the kernel by a number."""
        return True

    def natural_sigma(self, X: Rows) -> float:
        """A sigma that suits these rows, to start a search from.

        It is the median of the distances between them; 1 if they are all equal.
        """
        unit = _unit(X)
        q = distance_columns(X, unit, _exponent, always_mend=True)(X)
        apart = _distance(q[~np.tri(len(q), dtype=bool)], scale=1.0)  # of each pair of rows once
        apart = apart[apart > 0]
        return float(np.median(apart)) * unit if len(apart) else 1.0

    def drowned_column(self, X: Rows, rcond: float) -> int | None:
        """A column whose variation is below ``rcond`` of the kernel, for no reason but its mean."""
        return None


def _unit(X: Rows) -> float:
    """A power of two near the largest number: in units of it, squares do not vanish."""
    return float(np.ldexp(0.5, np.frexp(abs(X).max())[1]))


# --- profiles: in place, from the exponent q = -|u - u'|^2 / 2 or from the product u . u' ---------


def _exponent(q: np.ndarray) -> np.ndarray:
    return q


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


# --- kernels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """A shift-invariant kernel, a function of |u - u'|."""

    profile: Callable[[np.ndarray], np.ndarray]
    degrees_of_freedom: float  # of the Student t distribution of its Fourier frequencies
    singular_at_zero: bool = False  # has a kink there, so that rounding of a distance shows

    full_rank = True

    def against(self, Y: Rows, sigma: float) -> Columns:
        return distance_columns(Y, sigma, self.profile, always_mend=self.singular_at_zero)

    def frequencies(self, D: int, m: int, rng: np.random.RandomState) -> np.ndarray:
        """(D, m) draws from the kernel's Fourier transform, for inputs divided by sigma."""
        normal = rng.standard_normal((D, m))
        if np.isinf(self.degrees_of_freedom):
            return normal
        chi_squared = rng.chisquare(self.degrees_of_freedom, m)
        return normal * np.sqrt(self.degrees_of_freedom / chi_squared)


@dataclass(frozen=True)
class ProductKernel(Kernel):
    """A kernel of the inner product u . u'."""

    profile: Callable[[np.ndarray], np.ndarray]
    unit_length: bool = False
    homogeneous: bool = True  # k(a u, a u') = a^p k(u, u')

    def against(self, Y: Rows, sigma: float) -> Columns:
        return product_columns(Y, sigma, self.profile, unit_length=self.unit_length)

    @property
    def sigma_matters(self) -> bool:
        return not self.homogeneous

    def natural_sigma(self, X: Rows) -> float:
        """The root mean square length of a row: k(x, x) is then near one."""
        unit = _unit(X)
        return float(np.sqrt(row_squares(X / unit).mean())) * unit or 1.0

    def drowned_column(self, X: Rows, rcond: float) -> int | None:
        """Products square the mean of a column; of a sparse one it is small beside what varies."""
        if sparse.issparse(X):
            return None
        variance = np.var(X, axis=0, dtype=np.float64)
        drowned = (variance > rcond * variance.sum()) & (variance <= rcond * row_squares(X).mean())
        return int(drowned.argmax()) if drowned.any() else None


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A kernel that the user wrote: ``kernel(U, V) -> (len(U), len(V))`` on inputs over sigma."""

    kernel: Callable[[Rows, Rows], np.ndarray]

    def against(self, Y: Rows, sigma: float) -> Columns:
        return CallableColumns(self.kernel, sigma, Y / sigma)


SHIFT_INVARIANT = {
    "gaussian": DistanceKernel(_gaussian, np.inf),
    "laplace": DistanceKernel(_laplace, 1, singular_at_zero=True),
    "matern32": DistanceKernel(_matern32, 3),
    "matern52": DistanceKernel(_matern52, 5),
}
PRODUCT = {
    "linear": ProductKernel(_linear),
    "cosine": ProductKernel(_linear, unit_length=True),
}


def register_kernel(name: str, kernel: DistanceKernel | ProductKernel) -> None:
    """Make ``kernel=name`` stand for a kernel, in every estimator and in model files.

    Parameters
    ----------
    name : str
    kernel : DistanceKernel or ProductKernel
        Its profile takes an array of -|u - u'|^2 / 2, or of products u . u', and returns kernel values.
        A model file stores the name; whoever loads it registers the kernel first.
    """
    if name in known_kernels():
        raise ValueError(f"There is a kernel {name!r} already. Choose another name.")
    if isinstance(kernel, DistanceKernel):
        SHIFT_INVARIANT[name] = kernel
    elif isinstance(kernel, ProductKernel):
        PRODUCT[name] = kernel
    else:
        raise TypeError(
            f"{kernel!r:.60} is not a DistanceKernel or ProductKernel. A function of two arrays "
            f"of rows needs no name: give it as kernel=."
        )


def known_kernels(degree: int = 3) -> dict[str, Kernel]:
    """Every kernel that has a name; the polynomial one has a degree."""
    polynomial = ProductKernel(partial(_polynomial, degree=degree), homogeneous=False)
    return {**SHIFT_INVARIANT, **PRODUCT, "polynomial": polynomial}


def find_kernel(kernel: object, degree: int = 3) -> Kernel:
    """The kernel of that name, or a callable as a kernel."""
    if callable(kernel):
        return CallableKernel(kernel)
    known = known_kernels(degree)
    if isinstance(kernel, str) and kernel in known:
        return known[kernel]
    raise ValueError(f"kernel={kernel!r} is not known. Use one of {', '.join(known)}, or a callable.")


def find_shift_invariant_kernel(kernel: object) -> DistanceKernel:
    """The kernel of that name, which must have a Fourier transform to draw frequencies from."""
    found = SHIFT_INVARIANT.get(kernel) if isinstance(kernel, str) else None
    if found is None:
        raise ValueError(
            f"kernel={kernel!r} has no Fourier features. Use one of {', '.join(SHIFT_INVARIANT)}, or "
            f"a Nystroem estimator (XNV, SSSL), which takes any kernel."
        )
    return found
