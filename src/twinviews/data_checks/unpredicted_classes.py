"""Rare classes that a model never predicts, though it tells their rows from others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twinviews.data_checks.data_finding import Finding, listed, quoted

# With fewer labels of a class, or where probabilities rank its rows no better, it is no wonder.
_FEWEST, _LEAST_AUC = 10, 0.6
# Rare is less than this share of what a class would have if all were equally frequent.
_RARE = 0.5


def unpredicted_classes(
    classes: Sequence[str], n_labels: np.ndarray, n_predicted: np.ndarray, auc: float
) -> Finding | None:
    """The finding on rare classes that no held-out label was predicted to be of.

    ``n_labels`` and ``n_predicted`` (K,) are numbers of held-out labels.
    """
    shares = n_labels / n_labels.sum()
    rare = (n_labels >= _FEWEST) & (shares < _RARE / len(classes))
    never = np.flatnonzero(rare & (n_predicted == 0)).tolist()
    if not never or not auc > _LEAST_AUC:
        return None
    counts = [f"{quoted(classes[k])} ({shares[k]:.1%} of labels)" for k in never]
    return Finding(
        "classes never predicted",
        f"No held-out label was predicted to be {listed(counts)}: another class was always more "
        f"likely. Probabilities tell likely rows from others all the same.",
        'If missing them costs more than a false alarm, use class_weight="balanced" or give the costs.',
        "If missing them costs more than a false alarm, use --class-weight balanced.",
        of_a_fit=True,
    )
