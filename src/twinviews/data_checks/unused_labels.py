"""Labels that a fit has not used, because there are more than it holds."""

from __future__ import annotations

from twinviews.data_checks.data_finding import Finding


def labels_in_words(n_unused: int, n_labeled: int) -> str:
    """How many labels are used."""
    return f"{n_labeled - n_unused:,} of {n_labeled:,} labels are used"


def unused_labels(n_unused: int, n_labeled: int) -> Finding:
    """The finding on labels beyond those that a fit holds."""
    return Finding(
        "labels that are not used",
        f"{labels_in_words(n_unused, n_labeled)}: a sample as good as random, so that memory does not "
        f"grow with the table.",
        f"max_labels={n_labeled} uses all, which takes as much more memory and time.",
        f"--max-labels {n_labeled} uses all, which takes as much more memory and time.",
        of_a_fit=True,
    )
