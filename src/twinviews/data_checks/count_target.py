"""Labels that are counts, or are said to be: whole numbers from 0 up."""

from __future__ import annotations

import numpy as np

from twinviews.data_checks.data_finding import Finding, number_text

# Fewer different numbers may be codes.
_FEWEST = 4


def not_whole(y: np.ndarray) -> Finding:
    """The finding on labels that are not all whole numbers."""
    off = y[y != np.round(y)]
    return Finding(
        "counts that are not whole",
        f"{len(off):,} of {len(y):,} labels are not whole numbers, such as "
        f"{number_text(float(off[0]))}: they are taken as amounts from 0 up, and ends of intervals are "
        f"not rounded.",
        "Use XNVRegressor if they are no counts.",
        "Say --task regression if they are no counts.",
        of_a_fit=True,
    )


def counts(labels: np.ndarray) -> list[Finding]:
    """A remark on many whole numbers from 0 or 1 up, which a regression takes as any numbers."""
    whole = len(np.unique(labels)) >= _FEWEST and (labels == np.round(labels)).all()
    if not whole or not 0 <= labels.min() <= 1:
        return []
    message = f"The labels are whole numbers from {labels.min():.0f} up, taken as any numbers."
    return [
        Finding(
            "counts",
            message,
            "Use XNVCountRegressor if something was counted.",
            "Say --task count if something was counted.",
            command_line_only=True,
        )
    ]
