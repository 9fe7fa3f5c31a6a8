"""The paper's formulas with sixty digits, as slowly and as plainly as they are printed.

Nothing here is shared with the library. Numbers go in as they are stored, so what comes out is the
truth about the same input; rows are lists, matrices are mpmath's.
"""

from typing import NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

DIGITS = 60
mp.dps = DIGITS


class View(NamedTuple):
    """A Nystroem view: x -> D^(-1/2) V^T [k(x, x_1), ..., k(x, x_M)]."""

    landmarks: np.ndarray
    sigma: float
    W: mpmath.matrix  # (M, r)
    eigenvalues: list  # of the kernel matrix of the landmarks, rising, the dropped ones too

    def __call__(self, X):
        return gaussian_kernel(X, self.landmarks, self.sigma) * self.W

    @property
    def condition(self):
        return float(self.eigenvalues[-1] / max(self.eigenvalues[0], mpf(10) ** -DIGITS))


class Agreement(NamedTuple):
    """What two views agree on: step 2 of Algorithm 1."""

    B1: mpmath.matrix  # (r, k)
    correlations: list
    near_a_cut: bool  # whether rounding could decide on what is dropped


class Fit(NamedTuple):
    coef: mpmath.matrix  # (p, 1)
    intercept: mpf


def gaussian_kernel(X, Y, sigma):
    width = 2 * mpf(float(sigma)) ** 2
    return mp.matrix(
        [
            [
                mp.exp(
                    -sum((mpf(float(a)) - mpf(float(b))) ** 2 for a, b in zip(x, y, strict=True))
                    / width
                )
                for y in Y
            ]
            for x in X
        ]
    )


def nystroem_view(landmarks, sigma, rcond):
    """Section 2.2; eigenvalues up to ``rcond`` of the largest count as zero."""
    eigenvalues, V = mp.eigsy(gaussian_kernel(landmarks, landmarks, sigma))
    d = list(eigenvalues)
    kept = [j for j, value in enumerate(d) if value > mpf(rcond) * d[-1]]
    return View(landmarks, sigma, _columns(V, kept, [1 / mp.sqrt(d[j]) for j in kept]), d)


def fourier_features(X, frequencies, phases):
    """Algorithm 2, for frequencies that have been drawn: sqrt(2 / M) cos(omega_j . x + b_j)."""
    M = len(phases)
    return mp.matrix(
        [
            [
                mp.sqrt(mpf(2) / M)
                * mp.cos(
                    mp.fsum(
                        mpf(float(a)) * mpf(float(w)) for a, w in zip(x, frequencies[:, j], strict=True)
                    )
                    + mpf(float(phases[j]))
                )
                for j in range(M)
            ]
            for x in X
        ]
    )


class Eigenfunctions(NamedTuple):
    """Section 2.2: of the kernel's operator over the rows, the largest first."""

    Z: mpmath.matrix  # (rows, s) their values at the rows
    eigenvalues: list  # all, falling


def eigenfunctions(X, sigma, s):
    N = len(X)
    mu, U = mp.eigsy(gaussian_kernel(X, X, sigma) / N)
    first = list(range(N - 1, N - 1 - s, -1))
    return Eigenfunctions(_columns(U, first, [mp.sqrt(N)] * s), [*mu][::-1])


def neighbour_laplacian(X, n_neighbors):
    """Normalised, of the graph that joins a row to its nearest; a distance of the mean one is sigma."""
    N = len(X)
    apart = mp.matrix(N)
    for i in range(N):
        for j in range(N):
            apart[i, j] = mp.norm(mp.matrix(exactly(X[i])) - mp.matrix(exactly(X[j])))
    near = {
        (i, j)
        for i in range(N)
        for j in sorted((j for j in range(N) if j != i), key=lambda j: apart[i, j])[:n_neighbors]
    }
    unit = mp.fsum(apart[i, j] for i, j in near) / len(near)
    edges = mp.matrix(N)
    for i, j in near:
        edges[i, j] = edges[j, i] = mp.exp(-((apart[i, j] / unit) ** 2) / 2)
    root = [mp.sqrt(mp.fsum(edges[i, :])) for i in range(N)]
    return mp.matrix(
        [[(i == j) - edges[i, j] / (root[i] * root[j]) for j in range(N)] for i in range(N)]
    )


def laplacian_ridge(X, y, sigma, ridge, manifold_ridge, n_neighbors):
    """Section SI.2, LapRLS, at all rows, of which the first have labels: the gradient is zero in the
    coefficients of the kernel at every row, and in a free constant."""
    N, n = len(X), len(y)
    K = gaussian_kernel(X, X, sigma)
    bent = mpf(float(manifold_ridge)) / N**2 * neighbour_laplacian(X, n_neighbors) * K
    A, b = mp.matrix(N + 1), mp.matrix(N + 1, 1)
    for i in range(N):
        for j in range(N):
            A[i, j] = bent[i, j] + (mpf(float(ridge)) if i == j else 0) + (K[i, j] / n if i < n else 0)
        A[i, N] = mpf(1) / n if i < n else 0
        A[N, i] = mp.fsum(K[j, i] for j in range(n)) / n
        b[i] = y[i] / n if i < n else 0
    A[N, N], b[N] = 1, mp.fsum(y) / n
    solution = mp.lu_solve(A, b)
    return [value + solution[N] for value in K * solution[:N, :]]


def canonical_correlation(Z1, Z2, correlation_ridge, variance_rcond, smallest):
    """Section 2.1, on centred views, with a ridge inside; projections have unit variance."""
    C11, C12, C22 = (_covariance(A, B) for A, B in ((Z1, Z1), (Z1, Z2), (Z2, Z2)))
    W1, W2 = (_whitening(C, correlation_ridge, variance_rcond) for C in (C11, C22))
    U, values, _ = mp.svd_r(W1.T * C12 * W2)
    correlations = list(values)
    kept = [j for j, value in enumerate(correlations) if value > mpf(smallest)]
    B1 = W1 * _columns(U, kept, [1] * len(kept))
    spread = [1 / mp.sqrt((B1[:, j].T * C11 * B1[:, j])[0]) for j in range(B1.cols)]
    doubtful = near(correlations, mpf(smallest)) or any(
        near(mp.eigsy(C, eigvals_only=True), mpf(variance_rcond) * max(mp.eigsy(C, eigvals_only=True)))
        for C in (C11, C22)
    )
    B1 = _columns(B1, range(B1.cols), spread)
    return Agreement(B1, [correlations[j] for j in kept], doubtful)


def near(values, cut):
    """Whether one of them lies so near the cut that rounding could decide on its side."""
    return any(cut / 10 < value < 10 * cut for value in values)


def canonical_norm(correlations):
    return [(1 - value) / value for value in correlations]


def ridge_regression(Z, y, penalty):
    """The minimiser of the mean squared loss + sum of penalty_j beta_j^2, with a free constant."""
    n = Z.rows
    means = [mp.fsum(Z[:, j]) / n for j in range(Z.cols)]
    y_mean = mp.fsum(y) / n
    Zc = _shifted(Z, means)
    A = Zc.T * Zc / n + mp.diag([mpf(value) for value in penalty])
    b = Zc.T * mp.matrix([value - y_mean for value in y]) / n
    coef = mp.lu_solve(A, b)
    return Fit(coef, y_mean - mp.fsum(mean * c for mean, c in zip(means, coef, strict=True)))


def predicted(Z, fit):
    return [value + fit.intercept for value in Z * fit.coef]


def left_out(Z, y, penalty):
    """Each label predicted by the fit on the others, which is made anew."""
    guesses = []
    for i in range(Z.rows):
        others = [j for j in range(Z.rows) if j != i]
        rest = mp.matrix([[Z[j, k] for k in range(Z.cols)] for j in others])
        fit = ridge_regression(rest, [y[j] for j in others], penalty)
        guesses.append(predicted(Z[i, :], fit)[0])
    return guesses


class KernelRidge:
    """Section SI.2, (K + n ridge I)^(-1) y, about a free constant; at new rows, for any ridge."""

    def __init__(self, X, y, new, sigma):
        self.y = y
        self.K = gaussian_kernel(X, X, sigma)
        at_new = gaussian_kernel(new, X, sigma)
        self.at_new = mp.matrix([[*at_new[i, :], 1] for i in range(at_new.rows)])
        self.eigenvalues = list(mp.eigsy(self.K, eigvals_only=True))  # rising

    def __call__(self, ridge):
        """Predictions, and how far one moves, to first order, when K is moved by its own size."""
        n = len(self.y)
        A = mp.matrix(n + 1)
        for i in range(n):
            for j in range(n):
                A[i, j] = self.K[i, j] + (n * mpf(float(ridge)) if i == j else 0)
            A[i, n] = A[n, i] = 1
        inverse = mp.inverse(A)
        solution = inverse * mp.matrix([*self.y, 0])
        pull = self.at_new * inverse
        farthest = max(mp.norm(pull[i, :n]) for i in range(pull.rows))
        moved = self.eigenvalues[-1] * (farthest + 1) * mp.norm(solution[:n, :])
        return list(self.at_new * solution), float(moved)


def exactly(numbers):
    """The numbers as they are stored."""
    return [mpf(float(value)) for value in numbers]


def _covariance(A, B):
    N = A.rows
    A, B = (_shifted(Z, [mp.fsum(Z[:, j]) / N for j in range(Z.cols)]) for Z in (A, B))
    return A.T * B / N


def _whitening(C, ridge, rcond):
    s, U = mp.eigsy(C)
    kept = [j for j in range(len(s)) if s[j] > mpf(rcond) * s[len(s) - 1]]
    return _columns(U, kept, [1 / mp.sqrt(s[j] + mpf(float(ridge))) for j in kept])


def _columns(A, chosen, factors):
    return mp.matrix(
        [[A[i, j] * f for j, f in zip(chosen, factors, strict=True)] for i in range(A.rows)]
    )


def _shifted(Z, means):
    return mp.matrix([[Z[i, j] - means[j] for j in range(Z.cols)] for i in range(Z.rows)])
