"""Views: x -> z(x), random features whose inner products approximate a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from twinviews.method.kernel_values import Columns, Rows
from twinviews.method.kernels import DistanceKernel, Kernel

# Moments S of columns are rounded, and W^T S W multiplies that by the condition of the landmarks'
# kernel. Beyond this condition moments are taken of the features instead, which costs one more matrix
# product for each block: W then multiplies the rounding of a row, by the root of the condition.
_WELL_CONDITIONED = 1e4


@dataclass(frozen=True)
class View:
    """z(x) = W^T columns(x)."""

    columns: Annotated[Columns, "D m"]
    W: Annotated[np.ndarray, "m r"]
    # Mean of k(x, x): the unit in which a ridge on z is small or large.
    scale: Annotated[float, ">= 0"] = 1.0

    def __call__(self, X: Rows) -> np.ndarray:
        return self.columns(X) @ self.W


@dataclass(frozen=True)
class Readout:
    """A view whose columns are predictions, and their constants."""

    view: Annotated[View, "D t=r"]
    constant: Annotated[np.ndarray, "t"]

    def __call__(self, X: Rows) -> np.ndarray:
        return self.view(X) + self.constant


@dataclass(frozen=True)
class TwinFeatures:
    """x -> (z_1(x), z_2(x)), the features of two views whose raw columns are computed together."""

    columns: Annotated[Columns, "D c=m"]  # c = m1 + m2
    W1: Annotated[np.ndarray, "m1 r1"]
    W2: Annotated[np.ndarray, "m2 r2"]

    def __call__(self, X: Rows) -> np.ndarray:
        m, r = self.W1.shape
        columns = self.columns(X)
        features = np.empty((len(columns), r + self.W2.shape[1]))
        np.matmul(columns[:, :m], self.W1, out=features[:, :r])
        np.matmul(columns[:, m:], self.W2, out=features[:, r:])
        return features


class TwinViews(NamedTuple):
    """Two views, with their raw columns computed together: one matrix product serves both."""

    first: View
    second: View
    columns: Columns  # x -> (m1 + m2,), what moments are taken of: raw columns, or TwinFeatures

    @property
    def from_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """What makes features of columns: W of each view, or nothing where they are features."""
        W1, W2 = self.first.W, self.second.W
        if isinstance(self.columns, TwinFeatures):
            return np.eye(W1.shape[1]), np.eye(W2.shape[1])
        return W1, W2


def nystroem_view(kernel: Kernel, landmarks: Rows, sigma: float, *, rcond: float) -> View:
    """z(x) = D^(-1/2) V^T [k(x, x_1), ..., k(x, x_M)], with V D V^T the kernel matrix of the landmarks.

    Eigenvalues up to ``rcond`` times the largest are taken as zero (the pseudo-inverse of the paper).
    """
    columns = kernel.against(landmarks, sigma)
    K = columns(landmarks)
    return View(columns, inverse_root(K, rcond=rcond), float(np.trace(K)) / len(K))


def inverse_root(K: np.ndarray, *, rcond: float) -> np.ndarray:
    """(m, r) V D^(-1/2), so that W W^T is the pseudo-inverse of K = V D V^T."""
    d, V = np.linalg.eigh((K + K.T) / 2)
    kept = d > rcond * d[-1]
    return V[:, kept] / np.sqrt(d[kept])


def eigenfunctions(
    kernel: Kernel, rows: Rows, share: np.ndarray, sigma: float, most: int
) -> tuple[View, np.ndarray]:
    """Eigenfunctions of L_N of section 2.2, of unit norm over the rows, and their eigenvalues mu.

    They are phi_j(x) = sum_i share_i^(1/2) k(x, x_i) u_ij / mu_j, with mu, largest first, and u of
    share^(1/2) K share^(1/2): K is the kernel matrix of all the rows, each row counts with its share of
    the weight. There are at most that many, those above rounding.
    """
    N = len(share)
    columns = kernel.against(rows, sigma)
    root = np.sqrt(share)
    K = root[:, None] * columns(rows) * root
    # All of them: LAPACK's ways to find the largest alone fail at times where many are nearly equal.
    mu, U = np.linalg.eigh(K)
    kept = np.flatnonzero(mu > N * np.finfo(float).eps * mu[-1])[::-1][:most]
    return View(columns, root[:, None] * U[:, kept] / mu[kept]), mu[kept]


def nystroem_views(kernel: Kernel, landmarks: Rows, sigma: float, *, rcond: float) -> TwinViews:
    """Step 1 of Algorithm 1: the first half of the landmarks makes one view, the rest the other."""
    M = landmarks.shape[0] // 2
    first = nystroem_view(kernel, landmarks[:M], sigma, rcond=rcond)
    second = nystroem_view(kernel, landmarks[M : 2 * M], sigma, rcond=rcond)
    columns = kernel.against(landmarks[: 2 * M], sigma)
    if max(_condition(first.W), _condition(second.W)) > _WELL_CONDITIONED:
        columns = TwinFeatures(columns, first.W, second.W)
    return TwinViews(first, second, columns)


def _condition(W: np.ndarray) -> float:
    """Of V D V^T, as far as W = V D^(-1/2) keeps it."""
    inverse = np.einsum("ij,ij->j", W, W)
    return float(inverse.max() / inverse.min()) if len(inverse) else 1.0


@dataclass(frozen=True)
class FourierColumns:
    """sqrt(2/M) cos(omega_j . x + b_j): inner products approximate the kernel with error O(1/sqrt(M)).

    The paper's appendix prints 1/sqrt(M), which would approximate half the kernel.
    """

    frequencies: Annotated[np.ndarray, "D m"]
    phases: Annotated[np.ndarray, "m"]
    n_components: Annotated[int, ">= 1"]  # M, features per view

    def __call__(self, X: Rows) -> np.ndarray:
        angles = np.asarray(X @ self.frequencies)
        angles += self.phases
        np.cos(angles, out=angles)
        angles *= np.sqrt(2 / self.n_components)
        return angles


def fourier_columns(
    kernel: DistanceKernel, D: int, n_columns: int, n_components: int, seed: int
) -> FourierColumns:
    """Frequencies from the kernel's Fourier transform, for inputs divided by sigma; uniform phases."""
    rng = np.random.RandomState(seed)
    frequencies = kernel.frequencies(D, n_columns, rng)
    return FourierColumns(frequencies, rng.uniform(-np.pi, np.pi, n_columns), n_components)


def fourier_view(columns: FourierColumns, sigma: float, part: slice = slice(None)) -> View:
    """All features, or a part of them, for a sigma."""
    frequencies, phases = columns.frequencies[:, part] / sigma, columns.phases[part]
    return View(FourierColumns(frequencies, phases, columns.n_components), np.eye(len(phases)))


def fourier_views(columns: FourierColumns, sigma: float) -> TwinViews:
    """Step 1 of Algorithm 2: the first half of the frequencies makes one view, the rest the other."""
    M = columns.n_components
    first = fourier_view(columns, sigma, slice(M))
    second = fourier_view(columns, sigma, slice(M, 2 * M))
    return TwinViews(first, second, fourier_view(columns, sigma).columns)
