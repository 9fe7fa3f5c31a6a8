r"""A graph of all rows through a few anchors: neighbours should have the same class.

Each row is a mean of its nearest anchors, :math:`z(x)`; rows are neighbours if they share anchors. The
Laplacian of that graph, seen by functions :math:`f(x) = z(x)^\top a`, is

.. math:: L = Z^\top Z - Z^\top Z \Lambda^{-1} Z^\top Z, \qquad \Lambda = \mathrm{diag}(Z^\top 1)

(Liu, He and Chang 2010): sums over rows, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from sklearn.cluster import KMeans

from twinviews.ensemble.member import Labeled, Predictor
from twinviews.method.kernel_values import Rows, row_squares

_ANCHORS = 300
_ROUNDS_OF_LLOYD = 10
_STRENGTHS = 10.0 ** np.arange(-4, 1.01)
_RIDGE = 1e-6


@dataclass(frozen=True)
class Anchors:
    """x -> weights of its nearest anchors, which sum to one."""

    centres: Annotated[np.ndarray, "m D"]
    neighbours: Annotated[int, ">= 1"]

    def __call__(self, X: Rows) -> np.ndarray:
        k = min(self.neighbours, len(self.centres) - 1)
        squares = row_squares(X)[:, None] - 2 * X @ self.centres.T + row_squares(self.centres)
        near = np.argpartition(squares, k, axis=1)[:, : k + 1]
        distance = np.maximum(np.take_along_axis(squares, near, axis=1), 0)
        order = np.argsort(distance, axis=1)
        near = np.take_along_axis(near, order, axis=1)
        distance = np.take_along_axis(distance, order, axis=1)
        # The nearest anchor without a weight sets the scale, so that it is finer in dense regions.
        weight = np.exp(-2 * distance[:, :k] / (distance[:, k:] + 1e-12))
        Z = np.zeros_like(squares)
        np.put_along_axis(Z, near[:, :k], weight / weight.sum(axis=1, keepdims=True), axis=1)
        return Z


def centres_of(unlabeled: np.ndarray, seed: int) -> np.ndarray:
    """(m, D) anchors: means of the rows near each, after a few rounds of Lloyd's algorithm."""
    m = min(_ANCHORS, len(unlabeled) // 3)
    means = KMeans(m, n_init=1, init="random", max_iter=_ROUNDS_OF_LLOYD, random_state=seed)
    return np.asarray(means.fit(unlabeled).cluster_centers_)


@dataclass(frozen=True)
class OverAnchors:
    anchors: Annotated[Anchors, "m D"]
    values: Annotated[np.ndarray, "m t"]
    constant: Annotated[np.ndarray, "t"]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.anchors(X) @ self.values + self.constant


@dataclass(frozen=True)
class AnchorGraph:
    """Least squares on the labels, penalised by the graph Laplacian; its strength by leave-one-out.

    The graph is made once, from unlabeled rows; every fit shares it.
    """

    anchors: Anchors
    laplacian: np.ndarray  # (m, m), in units of the mean weight of an anchor

    @property
    def names(self) -> tuple[str, ...]:
        return (f"graph of {self.anchors.neighbours} anchors",)

    @classmethod
    def of(cls, anchors: Anchors, unlabeled: np.ndarray) -> AnchorGraph:
        m = len(anchors.centres)
        Z = anchors(unlabeled)
        G = Z.T @ Z
        mass = np.maximum(Z.sum(axis=0), 1e-9)
        return cls(anchors, (G - (G / mass) @ G) / (np.trace(G) / m))

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]:
        Z, weight = self.anchors(labeled.X), labeled.weight[:, None]
        mean = labeled.weight @ labeled.Y
        Y = labeled.Y - mean
        products, b = Z.T @ (weight * Z), Z.T @ (weight * Y)
        best = (np.inf, np.zeros_like(b))
        for strength in _STRENGTHS:
            A = products + strength * self.laplacian
            A[np.diag_indices_from(A)] += _RIDGE
            inverse = np.linalg.inv(A)
            values = inverse @ b
            leverage = labeled.weight * (np.einsum("ij,ij->i", Z @ inverse, Z) + 1)
            left_out = (Y - Z @ values) / np.maximum(1 - leverage, 1e-6)[:, None]
            error = float((labeled.weight @ np.square(left_out)).sum())
            if error < best[0]:
                best = (error, values)
        return [OverAnchors(self.anchors, best[1], mean)]
