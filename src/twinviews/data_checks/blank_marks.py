"""Numbers that stand for a blank: -1, -999, 9999, or one value that most rows share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinviews.data_checks.data_finding import Finding

# Numbers that people and programs write for a blank; 0 is not among them, as most zeros are real.
_NINES = [int("9" * digits) for digits in range(2, 8)]
_BELOW = [-1, -7, -8, -9, *(-code for code in _NINES), -77, -777, -7777, -88, -888, -8888]
_DECIMALS = [-99.9, -99.99, -999.9, -9999.9, 99.99, 999.9, 9999.9]
_OF_MACHINES = [-(2**15), 2**15 - 1, 2**16 - 1, -(2**31), 2**31 - 1, 2**32 - 1]
_CODES = frozenset([*_BELOW, *_NINES, *_DECIMALS, *_OF_MACHINES])
_MOST_MARKS = 3
_FEWEST_OTHERS = 8


class Mark(NamedTuple):
    value: float
    times: int


def blank_marks(values: np.ndarray, *, zero: bool = False) -> list[Mark]:
    """The values that look like marks for a blank; 0 only if ``zero`` is set."""
    marks: list[Mark] = []
    for _ in range(_MOST_MARKS):
        distinct, counts = np.unique(values, return_counts=True)
        suspects = {0, len(distinct) - 1, int(np.argmax(counts))} if len(distinct) else set()
        found = [at for at in sorted(suspects) if _is_mark(distinct, counts, at, zero)]
        if not found:
            break
        marks.append(Mark(float(distinct[found[0]]), int(counts[found[0]])))
        values = values[values != distinct[found[0]]]
    return marks


def _is_mark(distinct: np.ndarray, counts: np.ndarray, at: int, zero: bool) -> bool:
    """Whether one of the distinct values is a mark among the others."""
    value, count = float(distinct[at]), int(counts[at])
    others, n_others = np.delete(distinct, at), int(counts.sum()) - count
    if len(others) < 2 or n_others < _FEWEST_OTHERS:
        return False
    gap, spread = float(np.abs(others - value).min()), float(np.ptp(others))
    if at not in (0, len(distinct) - 1):  # the mean, filled in for blanks
        return value != 0 and count >= n_others and len(others) >= 0.8 * n_others
    if value == 0:
        return zero and count >= n_others and len(others) >= 10 and 2 * gap >= spread
    if value not in _CODES:
        return len(others) >= 5 and gap >= 10 * spread and count >= 3 and 20 * count >= n_others
    # A scale from -1 to 1 has both ends; a mark for a blank is far commoner than what it mirrors.
    if others[-1] == -value and 3 * counts[-1] >= count:
        return False
    # -1 beside 0, 1, 2, ... may be one step of a scale, unless it is in most rows.
    if gap <= 1 and bool((others == np.round(others)).all()):
        return len(others) >= 5 and others[0] >= 0 and count >= n_others
    if gap >= (1 if len(others) >= 5 and count > 1 else 3) * spread:
        return count > 1 or abs(value) >= 99
    only_negative = value < 0 <= others[0] and len(others) >= 5
    return only_negative and count >= 3 and 9 * count >= n_others


def marked_labels(
    check: str, mark: str, count: int, n_labels: int, first: str, task: str, others: str
) -> Finding:
    """The question whether a label, written as Python writes it, means that there is none."""
    message = (
        f"{count:,} of {n_labels:,} labels {'is' if count == 1 else 'are'} {mark} (the first is "
        f"{first}), beside {others}: a mark for a blank? It is learned as if it were a label."
    )
    return Finding(
        check,
        message,
        f"Say missing_label={mark} if these rows have no label.",
        f"Say --missing={mark} if these rows have no label, --task {task} if they have.",
        stops=2 * count >= n_labels,
    )
