"""Classes that a model never predicts: with such a rare class, that may be the best, or no use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twinviews.data_checks.data_finding import Finding, listed, quoted

# With fewer labels of a class it is no wonder.
_FEWEST = 5


def unpredicted_classes(
    classes: Sequence[str], n_labels: np.ndarray, n_predicted: np.ndarray
) -> Finding | None:
    """The finding on classes that have labels, and no held-out label was predicted to be of them.

    ``n_labels`` and ``n_predicted`` (K,) are numbers of held-out labels.
    """
    never = np.flatnonzero((n_labels >= _FEWEST) & (n_predicted == 0)).tolist()
    if not never:
        return None
    shares = n_labels / n_labels.sum()
    counts = [f"{quoted(classes[k])} ({shares[k]:.1%} of labels)" for k in never]
    return Finding(
        "classes never predicted",
        f"No held-out label was predicted to be {listed(counts)}: another class was always more "
        f"likely. Probabilities tell likely rows from others all the same.",
        'If missing them costs more than a false alarm, use class_weight="balanced" or give the costs.',
        "If missing them costs more than a false alarm, use --class-weight balanced.",
        of_a_fit=True,
    )
