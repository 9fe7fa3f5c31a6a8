"""The labeled rows and a sample of the others, in an order that has nothing to do with labels.

The first pass keeps a sample of the *distinct* rows, chosen by a hash of their values. If labels are
given to rows, each distinct row stands here for as many rows as are equal to it and have no label. If
they are given to all copies of a row or to none, distinct rows are compared. Either way labeled rows
and the others differ by chance only where labels are given at random.
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
# Rows with copies and a label from which it can be seen whether copies are labeled together.
_FEWEST_COPIED = 3


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
    with_label = _counts_of(priorities, sample)
    distinct, first, copies = np.unique(priorities, return_index=True, return_counts=True)
    if _labels_go_to_copies(sample.counts, with_label, n / n_rows):
        copies = np.ones_like(copies)
        without_label = (with_label == 0).astype(np.int64)
    else:
        without_label = np.maximum(sample.counts - with_label, 0)  # new labels may be of new rows
    few = copies.sum(), without_label.sum()
    n_values = sample.rows.shape[1] * (min(few[0], MOST_LABELED) + min(few[1], MOST_OTHERS))
    if min(few) < FEWEST or n_values > _MOST_VALUES:
        return None
    ours, theirs = _spread(copies, MOST_LABELED), _spread(without_label, MOST_OTHERS)
    X = _dense(stack_rows([labeled[first[ours]], sample.rows[theirs]]))
    order = np.argsort(np.concatenate([distinct[ours], sample.priorities[theirs]]), kind="stable")
    is_labeled = (np.arange(len(X)) < len(ours))[order]
    return ComparedRows(X[order], is_labeled, n, n_rows, _inflation(ours, theirs, sample.share))


def _counts_of(priorities: np.ndarray, sample: RowSample) -> np.ndarray:
    """(k,) how often each row of the sample is among rows with these priorities."""
    place = np.searchsorted(sample.priorities, priorities)
    place = place[place < len(sample.priorities)]
    priorities = priorities[priorities <= sample.priorities[-1]]
    return np.bincount(place[sample.priorities[place] == priorities], minlength=len(sample.priorities))


def _labels_go_to_copies(counts: np.ndarray, with_label: np.ndarray, share: float) -> bool:
    """Whether all copies of a row have a label if one has, more often than by chance.

    ``share`` is that of rows with a label; where most have one, so have both of many a pair.
    """
    several = counts > 1
    counts, with_label = counts[several], with_label[several]
    some, every = (with_label > 0).sum(), (with_label >= counts).sum()
    if some < _FEWEST_COPIED:
        return False
    by_chance = np.power(share, counts).sum() / (1 - np.power(1 - share, counts)).sum()
    return bool(every / some > (1 + by_chance) / 2)


def _spread(counts: np.ndarray, most: int) -> np.ndarray:
    """Places, each as often as its count; of more than ``most`` together, evenly spaced ones."""
    total = int(counts.sum())
    if total <= most:
        return np.repeat(np.arange(len(counts)), counts)
    at = (np.arange(most) + 0.5) * (total / most)
    return np.searchsorted(np.cumsum(counts), at, side="right")


def _inflation(ours: np.ndarray, theirs: np.ndarray, share: float) -> float:
    """By how much the variance of a difference of means grows, because copies are chosen together.

    ``share`` is that of all distinct rows in the sample. If all are there, none is chosen.
    """
    usual, inflated = 0.0, 0.0
    for places in (ours, theirs):
        copies = np.bincount(places)
        usual += 1 / copies.sum()
        inflated += (1 + (1 - share) * (np.square(copies).sum() / copies.sum() - 1)) / copies.sum()
    return inflated / usual


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
