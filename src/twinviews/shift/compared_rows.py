"""The labeled rows and a sample of the others, in an order that has nothing to do with labels.

The first pass keeps a sample of the *distinct* rows, chosen by a hash of their values. Rows are what
labels are given to, so each distinct row stands here for as many rows as are equal to it and have no
label. If labels are given at random, labeled rows and these then differ by chance only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from twinviews.method.landmarks import RowSample, row_priorities, stack_rows

# Rows of each kind that are compared at the most.
MOST_LABELED, MOST_OTHERS = 1000, 2000
# Fewer of either kind tell nothing.
FEWEST = 10
# Numbers in all compared rows together; a wider table is not looked at.
_MOST_VALUES = 6_000_000


@dataclass(frozen=True)
class ComparedRows:
    """Rows with labels and rows without."""

    X: np.ndarray  # (P, D) as the table has them, before any scaling
    is_labeled: np.ndarray  # (P,)
    n_labeled: int  # in the table
    n_rows: int
    inflation: float  # of the variance of a difference, because copies come together

    @property
    def weight(self) -> np.ndarray:
        """(P,) for how many rows of the table each of these stands."""
        labeled, others = self.is_labeled.sum(), (~self.is_labeled).sum()
        return np.where(
            self.is_labeled, self.n_labeled / labeled, (self.n_rows - self.n_labeled) / others
        )


def compared_rows(sample: RowSample, labeled: Any, n_rows: int, seed: int) -> ComparedRows | None:
    """None where there is too little to compare, or where a row has too many numbers.

    ``sample`` is that of all ``n_rows`` rows, chosen with ``seed``; ``labeled`` holds all rows that
    have a label.
    """
    n = labeled.shape[0]
    priorities = row_priorities(labeled, seed)
    place = np.searchsorted(sample.priorities, priorities)
    known = place < len(sample.priorities)
    known[known] = sample.priorities[place[known]] == priorities[known]
    without_label = sample.counts - np.bincount(place[known], minlength=len(sample.counts))
    without_label = np.maximum(without_label, 0)  # relabel may bring rows that the fit had not
    n_others = int(without_label.sum())
    few_values = sample.rows.shape[1] * (min(n, MOST_LABELED) + min(n_others, MOST_OTHERS))
    if n < FEWEST or n_others < FEWEST or few_values > _MOST_VALUES:
        return None
    by_priority = np.argsort(priorities, kind="stable")
    ours = by_priority[_spread(np.ones(n, dtype=np.int64), MOST_LABELED)]
    theirs = _spread(without_label, MOST_OTHERS)
    X = _dense(stack_rows([labeled[ours], sample.rows[theirs]]))
    order = np.argsort(np.concatenate([priorities[ours], sample.priorities[theirs]]), kind="stable")
    is_labeled = (np.arange(len(X)) < len(ours))[order]
    inflation = _inflation(len(ours), np.bincount(theirs), sample.share)
    return ComparedRows(X[order], is_labeled, n, n_rows, inflation)


def _spread(counts: np.ndarray, most: int) -> np.ndarray:
    """Places, each as often as its count; of more than ``most`` together, evenly spaced ones."""
    total = int(counts.sum())
    if total <= most:
        return np.repeat(np.arange(len(counts)), counts)
    at = (np.arange(most) + 0.5) * (total / most)
    return np.searchsorted(np.cumsum(counts), at, side="right")


def _inflation(n: int, copies: np.ndarray, share: float) -> float:
    """By how much the variance of a difference of means grows, because others are chosen with copies.

    If all distinct rows are in the sample, they are not chosen at all, and it does not grow.
    """
    u = copies.sum()
    in_clusters = 1 + (1 - share) * (np.square(copies).sum() / u - 1)
    return float((1 / n + in_clusters / u) / (1 / n + 1 / u))


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
