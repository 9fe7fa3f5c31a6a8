r"""Groups with few labels: variances pooled over groups, and means drawn towards the whole.

The variance within a group of n labels is a mean of its own, which counts n - 1, and that within all
groups, which counts as some labels more. A group with very few labels takes its mean residual from
all groups, too: with the variance :math:`\tau^2` of true means between groups and :math:`\sigma^2`
within, its own mean has the weight :math:`\gamma = \tau^2 / (\tau^2 + \sigma^2 / n)` (Fay and
Herriot 1979).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# What the variance of all groups counts in that of one, in labels.
POOLED_LABELS = 5.0
# With fewer labels a group is drawn towards the whole.
FEW_LABELS = 10


class BetweenGroups(NamedTuple):
    """How residuals vary."""

    within: float  # variance inside a group
    between: float  # variance of the true means of groups
    mean: float  # of all labels
    variance: float  # of that mean


def compare_groups(
    residual: np.ndarray, group: np.ndarray, weight: np.ndarray, *, is_share: bool = False
) -> BetweenGroups:
    """From residuals (n,) of labels in groups 0, 1, ..., by moments (DerSimonian and Laird 1986).

    Of 1 and 0, one label of either kind is added that nothing predicts.
    """
    n = np.bincount(group)
    n_groups, total = int((n > 0).sum()), len(residual)
    means = np.bincount(group, residual) / np.maximum(n, 1)
    off = float(np.square(residual - means[group]).sum()) + is_share
    free = total - n_groups + 2 * is_share
    within = off / free if free > 0 else float(residual.var())
    share = weight / weight.sum()
    mean = float(share @ residual)
    between = 0.0
    if n_groups > 1:
        spread = float(n @ np.square(means - residual.mean()))
        unit = total - float(np.square(n).sum()) / total
        # One standard error is added: from few groups the variance is often estimated as none.
        error = within * np.sqrt(2 * (n_groups - 1)) / unit
        between = max((spread - (n_groups - 1) * within) / unit, 0.0) + error
    return BetweenGroups(within, between, mean, (within + between) * float(share @ share))


def pooled_variance(own: float, n: int, within: float) -> tuple[float, float]:
    """The variance inside a group and its degrees of freedom, from that of its n labels and of all."""
    degrees = n - 1 + POOLED_LABELS
    return ((n - 1) * own + POOLED_LABELS * within) / degrees, degrees


def drawn_to_all(own: float, n: int, groups: BetweenGroups) -> tuple[float, float]:
    """The mean residual of a group of n labels, drawn to that of all, and its variance."""
    weight = 0.0
    if n and groups.between > 0:
        weight = groups.between / (groups.between + groups.within / n)
    mean = weight * own + (1 - weight) * groups.mean
    variance = (1 - weight) * groups.between + (1 - weight) ** 2 * groups.variance
    return mean, variance
