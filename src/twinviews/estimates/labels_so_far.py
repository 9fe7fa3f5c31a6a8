"""With what probability rows have been given the labels that a table has, before more are planned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinviews.estimates.design_pool import DesignPool, SomeRows
from twinviews.passes.strata import check_label_probability
from twinviews.tables import Block


class SoFar(NamedTuple):
    """How rows came to be labeled."""

    overall: float  # where nothing else is known: of rows without a label
    of_labeled: float  # and of those with one
    in_table: bool = False  # whether the table has a column of probabilities
    note: str | None = None

    def before(self, rows: SomeRows, pool: DesignPool, *, labeled: bool) -> np.ndarray:
        """(rows,) probability of a label so far."""
        if pool.strata is not None:
            return _of_strata(rows.stratum, pool)
        if self.in_table:
            return _of_table(rows.probability, labeled=labeled)
        return np.full(len(rows.keys), self.of_labeled if labeled else self.overall)

    def of_block(self, block: Block, pool: DesignPool) -> np.ndarray:
        """(rows,) the same of a block; rows with a label are looked at by themselves."""
        if pool.strata is not None and block.stratum is not None:
            return _of_strata(block.stratum, pool)
        if self.in_table and block.probability is not None:
            return np.clip(block.probability, 0.0, 1.0)
        return np.full(block.X.shape[0], self.overall)


def labels_so_far(model: Any, pool: DesignPool, importance: Any, *, assume_random: bool) -> SoFar:
    """A random sample, unless the table says otherwise or the fit has found them to be none.

    Labels that are no random sample stand for themselves: they were certain, and no other row was
    going to have one. New labels then stand for all rows without one.
    """
    known = not np.isnan(pool.labeled.probability).all()
    share = len(pool.labeled.keys) / pool.n_rows
    if pool.strata is not None or known or assume_random:
        return SoFar(share, share, in_table=known)
    shift = model.shift_
    if shift is not None and shift.is_shifted:
        note = (
            f"The labeled rows are not like all rows (p = {shift.p_value:.2g}): they will stand for "
            f"themselves, and the new ones for all rows without a label."
        )
        return SoFar(0.0, 1.0, note=note)
    if importance is not None:
        raise ValueError(
            "The model was fitted with probabilities of labels or strata, and a plan must know those "
            "of all rows. Name the column: label_probability=... or strata=..."
        )
    return SoFar(share, share)


def _of_table(probability: np.ndarray, *, labeled: bool) -> np.ndarray:
    if labeled:
        check_label_probability(probability)
        return probability
    wrong = ~((probability >= 0) & (probability < 1))
    if wrong.any():
        raise ValueError(
            f"label_probability is {probability[wrong][0]:g} for a row without a label. A plan needs "
            f"the probability that each such row had, from 0 to below 1, as the file of a plan has it."
        )
    return probability


def _of_strata(stratum: np.ndarray, pool: DesignPool) -> np.ndarray:
    """Share of the rows of the stratum that have a label."""
    assert pool.strata is not None, "checked by the caller"
    strata, n_rows = pool.strata.strata, pool.strata.n_rows
    places = np.searchsorted(strata, pool.labeled.stratum)
    n_labels = np.bincount(places, minlength=len(strata))
    return np.asarray((n_labels / n_rows)[np.searchsorted(strata, stratum)])
