"""What a plan says: which rows to label, with what probability, and how narrow intervals become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class GroupPlan(NamedTuple):
    """The plan of one group; without ``by`` there is one of all rows."""

    group: tuple[str, ...]  # the value of each column of ``by``
    n_rows: int
    n_labels: int  # so far
    n_next: int
    half_width_now: float  # about; NaN where the labels so far tell nothing
    half_width: float  # about, with the labels that are planned
    half_width_random: float  # about, with as many labels of rows drawn at random


@dataclass(frozen=True)
class LabelPlan:
    """Rows to label next, in random order, each drawn with a known probability."""

    target: str
    by: tuple[str, ...]
    places: np.ndarray  # (k,) from 0 in the order of the table (of its partitions)
    rows: Any  # the rows, as the table has them: an array, a frame or a pyarrow.Table
    row_groups: tuple[tuple[str, ...], ...]  # (k,) the group of each
    groups: tuple[GroupPlan, ...]
    notes: tuple[str, ...]
    _probabilities: Callable[[], np.ndarray] = field(repr=False)

    @cached_property
    def label_probability(self) -> np.ndarray:
        """(rows of the table,) with what probability each has a label once those planned have theirs.

        It counts the phases before and this one. The table is read once more for it.
        """
        return self._probabilities()

    def words(self) -> str:
        """A line for each group."""
        if len(self.groups) == 1:
            return "\n".join([_sentence(self.target, self.groups[0]), *self.notes])
        lines = [_line(plan) for plan in self.groups]
        total = f"{self.target}: {len(self.places):,} rows to label."
        return "\n".join([total, *lines, *self.notes])


def _sentence(target: str, plan: GroupPlan) -> str:
    then = _about(plan.half_width)
    head = f"{target}: {plan.n_next:,} rows to label"
    if not np.isfinite(plan.half_width):
        return f"{head}."
    now = f", now {_about(plan.half_width_now)}" if np.isfinite(plan.half_width_now) else ""
    at_random = _about(plan.half_width_random)
    return f"{head}, for an interval of about {then}{now}; at random about {at_random}."


def _line(plan: GroupPlan) -> str:
    name = ", ".join(plan.group)
    labels = f"{plan.n_labels:,} labels and {plan.n_next:,} more"
    return f"  {name}: {labels}, from {_about(plan.half_width_now)} to about {_about(plan.half_width)}"


def _about(half_width: float) -> str:
    if not np.isfinite(half_width):
        return "unknown"
    rounded = float(f"{half_width:.3g}")
    written = f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:g}"
    return f"\N{PLUS-MINUS SIGN}{written}"
