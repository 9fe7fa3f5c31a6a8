"""Probabilities of labels that cannot be right: they imply another number of rows."""

from __future__ import annotations

from twinviews.data_checks.data_finding import Finding

# Deviations of chance, and share of the rows, that are no reason to ask.
_BY_CHANCE, _SMALL = 4.0, 0.1


def improbable_labels(implied: float, deviation: float, n_rows: int) -> Finding | None:
    """The finding on probabilities that imply another number of rows than there are."""
    off = abs(implied - n_rows)
    if off <= _BY_CHANCE * deviation or off <= _SMALL * n_rows:
        return None
    return Finding(
        "probabilities of labels",
        f"If each label was given with its label probability, there should be about {implied:,.0f} "
        f"rows, and there are {n_rows:,}. Errors to expect and intervals rest on these probabilities.",
        "Give the probability with which the row was chosen among all rows, not a relative weight.",
        "Give the probability with which the row was chosen among all rows, not a relative weight.",
        of_a_fit=True,
    )
