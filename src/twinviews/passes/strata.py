"""Strata: groups of rows within which rows were chosen at random for a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np


@dataclass(frozen=True)
class StratumRows:
    """How many rows each stratum has, by its hash."""

    strata: Annotated[np.ndarray, "s", "uint64"]  # increasing
    n_rows: Annotated[np.ndarray, "s", "int64"]

    @classmethod
    def of(cls, stratum: np.ndarray) -> Self:
        return cls(*np.unique(stratum, return_counts=True))

    def merge(self, other: Self) -> Self:
        strata, place = np.unique(np.concatenate([self.strata, other.strata]), return_inverse=True)
        n_rows = np.bincount(place, np.concatenate([self.n_rows, other.n_rows]), len(strata))
        return type(self)(strata, n_rows.astype(np.int64))

    def label_probability(self, stratum: np.ndarray, labels: StratumRows | None = None) -> np.ndarray:
        """(labels,) share of the rows of a label's stratum that have a label.

        ``labels`` has the number of labels of each stratum, if these are some of them only.
        """
        labels = self.of(stratum) if labels is None else labels
        n_rows = self.n_rows[np.searchsorted(self.strata, labels.strata)]
        return np.asarray((labels.n_rows / n_rows)[np.searchsorted(labels.strata, stratum)])

    def without_label(self, stratum: np.ndarray) -> int:
        """Rows of strata that have no label: nothing is known of them."""
        return int(self.n_rows[~np.isin(self.strata, stratum)].sum())


# A row that was certain to have a label stands for no other, but its label is one.
_LEAST_IMPORTANCE = 1e-6


def rows_stood_for(probability: np.ndarray) -> np.ndarray:
    """(labels,) for how many rows without a label each label stands.

    Of n rows that were given a label with probability p, n p have one, and stand for the others.
    """
    return np.maximum(1 / probability - 1, _LEAST_IMPORTANCE)


def rows_implied(probability: np.ndarray, times: float = 1.0) -> tuple[float, float]:
    """How many rows the table has if labels were given with these probabilities; the deviation of it.

    The estimate of Horvitz and Thompson (1952), its variance as if rows were chosen independently.
    These may be a sample of ``times`` as many labels.
    """
    probability = probability / times
    variance = np.sum((1 - probability) / np.square(probability))
    return float(np.sum(1 / probability)), float(np.sqrt(variance))


def check_label_probability(probability: np.ndarray) -> None:
    """Of labeled rows: above 0 and at most 1."""
    wrong = np.flatnonzero(~((probability > 0) & (probability <= 1)))
    if len(wrong):
        raise ValueError(
            f"label_probability is {probability[wrong[0]]:g} for a row that has a label. It must be "
            f"above 0 and at most 1: the probability with which the row was given one."
        )
