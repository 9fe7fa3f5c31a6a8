"""For how many rows without a label each label stands, and whether that is known well enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinviews.estimates.table_pass import LabeledPart, TableTotals
from twinviews.passes.strata import check_label_probability, rows_stood_for

# Rows unlike every labeled row: of a larger share nothing can be said.
_MOST_OUTSIDE = 0.05
_LEAST_EFFECTIVE = 10.0


class LabelWeights(NamedTuple):
    stands_for: np.ndarray  # (n,) up to a factor
    stratum: np.ndarray | None  # (n,) codes
    note: str | None  # what a reader should know


def label_weights(
    model: Any, found: TableTotals, importance: np.ndarray | None, *, assume_random: bool
) -> LabelWeights:
    """By strata or probabilities of the table, else as the fit has weighted its labels.

    Of clusters it is not known whether they are a random sample, which a note says if they may not be.

    ``importance`` (n,) is that of the fit, None if it took labels for a random sample.
    """
    labeled = found.labeled
    n = len(labeled.y)
    if labeled.stratum is not None and found.strata is not None:
        return _by_strata(labeled, found)
    if labeled.probability is not None:
        check_label_probability(labeled.probability)
        return LabelWeights(rows_stood_for(labeled.probability), None, None)
    if assume_random:
        return LabelWeights(np.ones(n), None, "Labels are taken for a random sample, as was said.")
    shift = model.shift_
    if labeled.cluster is not None and shift is not None and shift.is_shifted:
        # Few clusters always differ from all rows; the test supposes that rows are independent.
        note = (
            f"{shift.words()} That may be chance where rows of a cluster are alike: labels are taken "
            f"for those of {len(np.unique(labeled.cluster)):,} clusters drawn at random."
        )
        return LabelWeights(np.ones(n), None, note)
    if importance is None:
        if shift is not None and shift.is_shifted:
            raise _not_random(shift.words(), "how likely each row was to have a label is not known")
        return LabelWeights(np.ones(n), None, None)
    if shift is not None and shift.is_shifted and model._importance is not None:
        if shift.share_outside > _MOST_OUTSIDE:
            raise _not_random(shift.words(), "no weight of labels makes up for rows unlike all of them")
        if shift.n_effective < _LEAST_EFFECTIVE:
            raise _not_random(shift.words(), "so few are too few for an interval")
        note = (
            f"The labeled rows are not like all rows (p = {shift.p_value:.2g}): they are weighted to "
            f"stand for all, and count as {shift.n_effective:,.0f} random labels."
        )
        return LabelWeights(importance, None, note)
    return LabelWeights(importance, None, None)


def _by_strata(labeled: LabeledPart, found: TableTotals) -> LabelWeights:
    assert labeled.stratum is not None, "checked by the caller"
    assert found.strata is not None, "checked by the caller"
    without = found.strata.without_label(labeled.stratum)
    if without:
        raise ValueError(
            f"{without:,} rows are in strata without a label, of which nothing is known. Label some of "
            f"them, or use coarser strata."
        )
    probability = found.strata.label_probability(labeled.stratum)
    codes = np.unique(labeled.stratum, return_inverse=True)[1]
    return LabelWeights(rows_stood_for(probability), codes, None)


def _not_random(words: str, reason: str) -> ValueError:
    return ValueError(
        f"{words} An estimate for all rows would be misleading: {reason}. Label rows drawn at random, "
        f"give label_probability or strata if it is known how rows were chosen, or insist with "
        f"assume_random=True (--assume-random)."
    )
