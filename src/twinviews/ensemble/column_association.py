"""How much each column has to do with the labels, by correlations: which of many columns to look at."""

from __future__ import annotations

import numpy as np


def associated_columns(X: np.ndarray, Y: np.ndarray, most: int) -> np.ndarray:
    """At most so many columns, in their order: those with the most to do with the labels."""
    if X.shape[1] <= most:
        return np.arange(X.shape[1])
    ranks = [np.argsort(np.argsort(-found, kind="stable")) for found in associations(X, Y)]
    best = np.min(ranks, axis=0)  # half of the columns by each, more where both agree
    return np.sort(np.argsort(best, kind="stable")[:most])


def associations(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) and (D,) how much each column has to do with the labels, relative to the largest.

    The first is the largest correlation of the column, or of its distance from its mean, with a target:
    distances show effects that are alike on both sides. The second is the largest one also with the
    target's distance from its mean, which shows columns that have an effect through others only.
    """
    columns, targets = _centred(X), _centred(Y)
    sides = [_unit(columns), _unit(_centred(np.abs(columns)))]
    direct = np.max([np.abs(x.T @ _unit(targets)).max(axis=1) for x in sides], axis=0)
    size = _unit(_centred(np.abs(targets)))
    through = np.max([direct, *(np.abs(x.T @ size).max(axis=1) for x in sides)], axis=0)
    return direct / (direct.max() or 1.0), through / (through.max() or 1.0)


def _centred(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - values.mean(axis=0))


def _unit(centred: np.ndarray) -> np.ndarray:
    """Columns of length one; a constant column stays zero."""
    length = np.linalg.norm(centred, axis=0)
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
