"""Words that were put in the order of the alphabet, though an order of classes was asked for."""

from __future__ import annotations

import numpy as np

from twinviews.data_checks.data_finding import Finding, quoted

_MOST_NAMED = 5


def order_of_words(classes: np.ndarray) -> list[Finding]:
    """The finding on three or more sorted classes that are no numbers."""
    labels = np.asarray(classes).tolist()
    if len(labels) < 3 or not any(isinstance(label, str) for label in labels):
        return []
    more = " < ..." if len(labels) > _MOST_NAMED else ""
    named = " < ".join(quoted(str(label)) for label in labels[:_MOST_NAMED])
    return [
        Finding(
            "order of the alphabet",
            f"The classes are words, and nothing says in what order they are; the alphabet's was "
            f"taken: {named}{more}.",
            "Give them in their order as classes=[...], or use an ordered pandas Categorical.",
            "Give them in their order as --classes, with commas between.",
            of_a_fit=True,
        )
    ]
