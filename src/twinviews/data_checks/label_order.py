"""What the order of labels tells: rows that are counted instead of measured, a block pasted twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twinviews.data_checks.data_finding import Finding, Rows, number_text, place

# Ratings, counts and rounded numbers repeat by themselves: so many, and this share, must be distinct.
_FEWEST_VALUES, _DISTINCT = 20, 1 / 3
# A block that occurs twice is no chance if labels in random order repeat one so rarely.
_BY_CHANCE = 1e-4


def check_order(labels: np.ndarray, known: np.ndarray, rows: Rows) -> list[Finding]:
    """Remarks on labels in the order of their rows; ``known`` are their places, to name them."""
    if len(np.unique(labels)) < max(_FEWEST_VALUES, _DISTINCT * len(labels)):
        return []
    return _row_numbers(labels, known, rows) or _pasted_twice(labels, known, rows)


def _row_numbers(labels: np.ndarray, known: np.ndarray, rows: Rows) -> list[Finding]:
    if (np.diff(labels) < 1).any():
        return []  # before rows are numbered, which may take a pass over a table
    numbers = known if rows is None else np.asarray(_of(rows, known))
    if numbers.dtype.kind not in "iu" or len(np.unique(labels - numbers)) > 1:
        return []
    message = (
        f"The labels count the rows: {number_text(labels[0])} in {place(int(known[0]), rows)}, "
        f"{number_text(labels[1])} in {place(int(known[1]), rows)}, and so on: an id?"
    )
    return [_remark("row numbers", message, "another column")]


def _pasted_twice(labels: np.ndarray, known: np.ndarray, rows: Rows) -> list[Finding]:
    n = len(labels)
    _, counts = np.unique(labels, return_counts=True)
    alike = float(np.square(counts / n).sum())  # that two labels are the same
    length = int(np.ceil(np.log(n**2 / _BY_CHANCE) / -np.log(alike)))
    first: dict[tuple[float, ...], int] = {}
    for start in range(n - length + 1):
        block = tuple(labels[start : start + length])
        before = first.setdefault(block, start)
        if start - before >= length and len(set(block)) > 2:
            places = [place(int(known[at]), rows) for at in (start, before)]
            message = (
                f"From {places[0]} on, {length} labels or more are those from {places[1]} on, in the "
                f"same order: pasted twice?"
            )
            return [_remark("a block twice", message, "the labels that were measured")]
    return []


def _of(rows: Sequence[int] | Sequence[str] | np.ndarray, known: np.ndarray) -> list[int | str]:
    return [rows[int(at)] for at in known]


def _remark(check: str, message: str, instead: str) -> Finding:
    # In Python rows are shuffled and stacked for many good reasons.
    remedies = f"Give {instead} if so.", f"Use {instead} if so."
    return Finding(check, message, *remedies, command_line_only=True)
