"""x -> (k(x, y_1), ..., k(x, y_m)), a block of rows at a time: one matrix product each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
from scipy import sparse

Rows = Any  # (rows, D) ndarray or CSR matrix
Profile = Callable[[np.ndarray], np.ndarray]

# Rounding error of a squared distance, relative to the squares whose difference it is.
_NEAR = 1e-9
# Rounding errors of an exponent up to this are not corrected.
_HARMLESS = 1e-11
# Below this exponent a kernel value is zero, and rounding cannot change it.
_FAR = -40.0
_VALUES_AT_ONCE = 2_000_000


class Columns(Protocol):
    """x -> (feature_1(x), ..., feature_m(x)): a block of rows becomes a (rows, m) array."""

    def __call__(self, X: Rows) -> np.ndarray: ...


def row_squares(X: Rows) -> np.ndarray:
    """(rows,) squared lengths."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def distance_columns(Y: Rows, sigma: float, profile: Profile, *, always_mend: bool) -> Columns:
    """Columns of a kernel of |u - u'|, u = x / sigma; ``profile`` takes q = -|u - u'|^2 / 2, in place.

    ``always_mend`` is for profiles that have a square root in them, where rounding shows.
    """
    if sparse.issparse(Y):
        U = Y.astype(np.float64) / sigma
        return SparseDistanceColumns(profile, always_mend, sigma, U, row_squares(U))
    centre = np.asarray(np.mean(Y, axis=0, dtype=np.float64))
    U = (Y - centre) / sigma
    right = np.vstack([U.T, np.full(len(U), -0.5), -0.5 * row_squares(U)])
    return DistanceColumns(profile, always_mend, sigma, centre, right)


@dataclass(frozen=True)
class DistanceColumns:
    """The exponent -|u - u'|^2 / 2 comes out of one product.

    Each row is extended by its squared norm and a 1, each y by the matching constants. Rows are
    centred first: far from the origin the squared norms would cancel to nothing.
    """

    profile: Annotated[Profile, "kernel of distance"]
    always_mend: bool
    sigma: Annotated[float, "> 0"]
    centre: Annotated[np.ndarray, "D"]
    right: Annotated[np.ndarray, "D+2 m"]

    def __call__(self, X: Rows) -> np.ndarray:
        D = len(self.centre)
        if sparse.issparse(X):  # a model of dense rows; centring fills the matrix anyway
            X = X.toarray()
        left = np.empty((len(X), D + 2))
        U = np.subtract(X, self.centre, out=left[:, :D])
        U /= self.sigma
        squares = np.einsum("ij,ij->i", U, U, out=left[:, D])
        left[:, D + 1] = 1
        q = left @ self.right
        V, y_squares = self.right[:D].T, -2 * self.right[-1]
        mend_close(q, U, squares, V, y_squares, always=self.always_mend)
        return self.profile(q)


@dataclass(frozen=True)
class SparseDistanceColumns:
    """The same for sparse landmarks, which stay sparse: a centre would fill them."""

    profile: Annotated[Profile, "kernel of distance"]
    always_mend: bool
    sigma: Annotated[float, "> 0"]
    U: Annotated[Rows, "m D"]
    y_squares: Annotated[np.ndarray, "m", ">= 0"]

    def __call__(self, X: Rows) -> np.ndarray:
        V = (X.astype(np.float64) if sparse.issparse(X) else sparse.csr_array(X)) / self.sigma
        squares = row_squares(V)
        q = (V @ self.U.T).toarray()
        q -= 0.5 * squares[:, None]
        q -= 0.5 * self.y_squares
        mend_close(q, V, squares, self.U, self.y_squares, always=self.always_mend)
        return self.profile(q)


def mend_close(
    q: np.ndarray, U: Rows, squares: np.ndarray, V: Rows, y_squares: np.ndarray, *, always: bool
) -> None:
    """Recompute, in place, the pairs whose distance is the small difference of large squares.

    That is needed where a square root follows (it turns 1e-16 into 1e-8) and rows nearly coincide; and
    where rows are so many sigmas from the centre that the rounding of u . u' alone would move the
    exponent of rows that are close enough to count.
    """
    eps = np.finfo(float).eps
    far_out = eps * max(squares.max(initial=0), y_squares.max(initial=0)) > _HARMLESS
    if not (always or far_out):
        return
    np.minimum(q, 0, out=q)
    size = squares[:, None] + y_squares
    close = np.zeros(q.shape, dtype=bool)
    if far_out:
        close |= (q > _FAR - eps * size) & (eps * size > _HARMLESS)
    size *= -_NEAR  # in place: for small tables, fresh memory would cost more than the arithmetic
    close |= q > size
    row, column = np.divmod(np.flatnonzero(close), q.shape[1])  # far quicker than nonzero
    q[row, column] = -0.5 * squared_distances(U, V, row, column)


def squared_distances(U: Rows, V: Rows, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """(pairs,) |u - v|^2 of some pairs, without a difference of squares; not all of them at once."""
    pairs = max(1, _VALUES_AT_ONCE // max(U.shape[1], 1))
    cuts = range(pairs, len(row), pairs)
    parts = zip(np.split(row, cuts), np.split(column, cuts), strict=True)
    return np.concatenate([row_squares(U[some] - V[others]) for some, others in parts])


def product_columns(Y: Rows, sigma: float, profile: Profile, *, unit_length: bool) -> Columns:
    """Columns of a kernel of u . u', or of the cosine of their angle; ``profile`` works in place."""
    # The angle does not depend on sigma.
    V = _to_unit_length(Y) if unit_length else Y.astype(np.float64) / sigma**2
    return ProductColumns(profile, V.T, unit_length)


@dataclass(frozen=True)
class ProductColumns:
    profile: Annotated[Profile, "kernel of product"]
    right: Annotated[Rows, "D m"]
    unit_length: bool

    def __call__(self, X: Rows) -> np.ndarray:
        if self.unit_length:
            X = _to_unit_length(X)
        product = X @ self.right
        return self.profile(product.toarray() if sparse.issparse(product) else product)


def _to_unit_length(X: Rows) -> Rows:
    """Rows of length one; a zero row stays zero."""
    length = np.sqrt(row_squares(X))
    scale = 1 / np.where(length > 0, length, 1)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(scale) @ X)
    return X * scale[:, None]


@dataclass(frozen=True)
class CallableColumns:
    """Columns of a kernel that the user wrote."""

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
