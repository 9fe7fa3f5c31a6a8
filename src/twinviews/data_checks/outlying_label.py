"""Labels that a fit has left out, as they are far from what all others predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twinviews.data_checks.data_finding import Finding, listed, number_text


def outlying_labels(
    places: Sequence[str], labels: np.ndarray, predicted: np.ndarray, n_labels: int, error: float
) -> Finding:
    """The finding on labels at some places and their held-out predictions.

    ``error`` is the root mean squared error of the labels that were learned from.
    """
    each = [
        f"{where} is {number_text(float(label))} (predicted {float(f'{guess:.4g}'):,.10g})"
        for where, label, guess in zip(places, labels, predicted, strict=True)
    ]
    one = len(each) == 1
    are = "is" if one else "are"
    message = (
        f"{len(each):,} of {n_labels:,} labels {are} far from what the others predict: "
        f"{listed(each, '; ')}. The model has not learned from {'it' if one else 'them'}. The error to "
        f"expect counts {'it' if one else 'them'}; without, it would be {error:.4g}."
    )
    what = "it if it is" if one else "them if they are"
    return Finding(
        "outlying labels",
        message,
        f"Correct {what} wrong, or put NaN there.",
        f"Correct {what} wrong, or leave the cell blank.",
        of_a_fit=True,
    )
