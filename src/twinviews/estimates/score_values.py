"""What scores of fits to ranks or to counts on a scale say: probabilities of classes, or mean counts.

The link between both was found on held-out labels. A fit without a fold of the labels has the link of
the labels outside that fold, so that a label has no part in what is predicted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from twinviews.method.counts import CountMean, counts_of_scale, judged_mean
from twinviews.method.cumulative_link import CumulativeLink, likeliest_link

Values = Callable[[np.ndarray], np.ndarray]  # of (rows,) scores: (rows, 1 or K)


class ScoreValues(NamedTuple):
    """By the fit on all labels, and by the fit without each fold."""

    of_all: Values
    without: tuple[Values, ...]


class HeldOutScores(NamedTuple):
    """Labels as the members were fitted to them, and scores of fits without the fold."""

    y: np.ndarray  # (m,) ranks, or counts on their scale; means where a row has several labels
    score: np.ndarray  # (m,)
    weight: np.ndarray  # (m,)
    fold_of: np.ndarray  # (m,)

    def outside(self, fold: int) -> HeldOutScores:
        rows = self.fold_of != fold
        weight = self.weight[rows] / self.weight[rows].sum()
        return HeldOutScores(self.y[rows], self.score[rows], weight, self.fold_of[rows])

    @property
    def n_folds(self) -> int:
        return int(self.fold_of.max()) + 1


def score_values(model: Any, held_out: HeldOutScores) -> ScoreValues:
    """Of a model of ratings or of counts."""
    outside = [held_out.outside(fold) for fold in range(held_out.n_folds)]
    if model._task == "count":
        scale = model._mean.scale
        means = [
            judged_mean(counts_of_scale(one.y, scale), one.score, one.weight, scale).mean
            for one in outside
        ]
        return ScoreValues(*_of_all_and_without(_mean_counts, model._mean, means))
    K = len(model.classes_)
    links = [likeliest_link(one.score, rank_shares(one.y, K), one.weight) for one in outside]
    return ScoreValues(*_of_all_and_without(_probabilities, model._link, links))


def rank_shares(rank: np.ndarray, n_classes: int) -> np.ndarray:
    """(m, K) of each class; a mean rank of several labels is shared by the ranks beside it."""
    return np.maximum(1 - np.abs(rank[:, None] - np.arange(n_classes)), 0)


def _of_all_and_without(
    values: Callable[[Any, np.ndarray], np.ndarray], of_all: Any, without: Sequence[Any]
) -> tuple[Values, tuple[Values, ...]]:
    """As functions that can be sent to the workers of a cluster."""
    return partial(values, of_all), tuple(partial(values, one) for one in without)


def _mean_counts(mean: CountMean, score: np.ndarray) -> np.ndarray:
    return mean(score)[:, None]


def _probabilities(link: CumulativeLink, score: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(link.log_probabilities(score)))
