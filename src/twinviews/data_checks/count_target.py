"""The labels of a regression of counts: amounts that are no counts."""

from __future__ import annotations

import numpy as np

from twinviews.data_checks.data_finding import Finding, number_text


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
