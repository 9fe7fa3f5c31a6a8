"""Strata that have rows and no label: whatever is told leaves them out."""

from __future__ import annotations

from twinviews.data_checks.data_finding import Finding


def unlabeled_strata(n_without: int, n_rows: int) -> Finding:
    """The finding on rows of such strata."""
    return Finding(
        "strata without a label",
        f"{n_without:,} of {n_rows:,} rows are of strata without a label: errors to expect and "
        f"intervals do not count them.",
        "Label some rows of each stratum.",
        "Label some rows of each stratum.",
        of_a_fit=True,
    )
