"""How rows came to be labeled, and the probability of each label.

Rows that a rule suggests are harder than others, so a mean over all labels is not the mean over the
table. A share of the rows asked is therefore drawn at random from the rows without a label. Then the
table has two strata: rows that were suggested or chosen by a person, each of which was certain to be
labeled and stands for no other row, and all the other rows, of which the random labels are a sample.
With n_own labels of the first kind and n_random of the second in a table of N rows, a random label has
the probability p = n_random / (N - n_own), and a mean with weights (1 - p) / p estimates the mean over
all rows without a label, whatever the rule does.

This holds for a number that each row has, such as the loss of a given model. A held-out loss is not
quite one: later suggestions have avoided the labeled row, so it may be harder to predict without its
label than another row like it. For classes the mean was too large in trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

How = Literal["random", "suggested", "chosen", "given"]
# Of the rows asked, the share that is drawn at random.
RANDOM_SHARE = 0.25
# "imported" is the word of label files for labels that came from elsewhere.
_OF_THE_SAMPLE = ("random", "given", "imported")
_FOR_THEMSELVES = ("suggested", "chosen")


def label_probabilities(how: Sequence[str] | np.ndarray, n_rows: int) -> np.ndarray:
    """(n_labels,) the probability with which each row was given its label.

    Rows that were suggested or chosen were certain to have a label: 1. The others stand for all the
    other rows of the table: their number divided by that of those rows. Labels of which nothing is
    known, "given", count as drawn at random, as they do in every fit; if they were not, say "chosen".
    Without any random or given label nothing is known of the other rows, and every label has 1.

    Parameters
    ----------
    how : sequence of str of shape (n_labels,)
        How each labeled row was found: "random", "suggested" (as ``suggest`` tells), "chosen" by a
        person, or "given", if it is not known. "imported", a word of label files, means "given".
    n_rows : int
        Number of rows of the table, with a label or without.

    Returns
    -------
    ndarray of shape (n_labels,)
        For ``label_probability`` of ``fit``.

    Examples
    --------
    >>> from twinviews import label_probabilities
    >>> label_probabilities(["random", "random", "suggested"], n_rows=101)
    array([0.02, 0.02, 1.  ])
    """
    words = np.asarray(how, dtype=object)
    if words.ndim != 1:
        raise ValueError(f"how has shape {words.shape}. Give one word for each labeled row.")
    if not isinstance(n_rows, Integral) or isinstance(n_rows, bool) or n_rows < len(words):
        raise ValueError(
            f"n_rows={n_rows!r} must be the number of all rows of the table, at least the {len(words)} "
            f"that have a label."
        )
    is_own = _is_one_of(words, _FOR_THEMSELVES)
    is_sampled = _is_one_of(words, _OF_THE_SAMPLE)
    if not (known := is_own | is_sampled).all():
        raise ValueError(
            f"how holds {words[~known][0]!r}. Use one of {', '.join(_OF_THE_SAMPLE + _FOR_THEMSELVES)}."
        )
    found = np.ones(len(words))
    found[is_sampled] = is_sampled.sum() / (n_rows - is_own.sum())
    return found


def of_the_sample(how: Any) -> np.ndarray:
    """(n_labels,) bool: labels that stand for other rows, too."""
    return _is_one_of(np.asarray(how, dtype=object), _OF_THE_SAMPLE)


def _is_one_of(words: np.ndarray, some: Sequence[str]) -> np.ndarray:
    return np.array([isinstance(word, str) and word in some for word in words], dtype=bool)


def n_at_random(k: int, n_free: int, share: float) -> int:
    """How many of the next k rows, out of n_free without a label, are drawn at random.

    It depends on the number of rows left, so that in calls for one row after the other the share is
    kept: with a quarter, one call in four.
    """
    return floor(n_free * share) - floor((n_free - k) * share)


def check_share(name: str, share: Any) -> float:
    """The share as a float, or an error."""
    is_number = isinstance(share, Real) and not isinstance(share, bool)
    if not is_number or not 0 <= float(share) <= 1:
        raise ValueError(f"{name}={share!r} must be a number from 0 to 1, such as {RANDOM_SHARE}.")
    return float(share)
