"""The labels of a regression: marks for blanks, a total, a slip of the decimal sign, ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinviews.data_checks.blank_marks import blank_marks, marked_labels
from twinviews.data_checks.count_target import counts
from twinviews.data_checks.data_finding import Finding, Rows, number_text, place, range_text
from twinviews.data_checks.label_order import check_order
from twinviews.data_checks.two_units import check_units
from twinviews.passes.targets import missing_labels

# A label further out than this, in units of the median distance of the others, may be a slip,
_FAR = 300
# if it would be this improbable with a tail like that of the others.
_IMPROBABLE = 1e-4
_FEWEST_LABELS = 10
# The command line takes more distinct whole numbers than this as measurements, and fewer as classes.
MOST_CLASSES = 20
_FEWEST_RATINGS = 4


def check_numbers(y: np.ndarray, rows: Rows = None, missing_label: Any = None) -> list[Finding]:
    """What is strange in the labels of a regression; NaN and ``missing_label`` are rows without one.

    ``rows`` gives the number by which to name each row, otherwise it is named by its place, ``y[3]``.
    """
    y = np.asarray(y, dtype=np.float64).ravel()
    known = np.flatnonzero(~missing_labels(y, missing_label))
    n_labels, findings = len(known), []
    for value, count in blank_marks(y[known], zero=True):
        first = place(int(known[np.argmax(y[known] == value)]), rows)
        known = known[y[known] != value]
        others = f"numbers from {range_text(y[known])}"
        mark = number_text(value, "")
        findings.append(marked_labels("blank mark", mark, count, n_labels, first, "regression", others))
    if n_labels >= _FEWEST_LABELS and len(np.unique(y[known])) == 1:
        return [*findings, _constant(float(y[known[0]]), n_labels)]
    far = _far_label(y[known], known, rows) if len(known) >= _FEWEST_LABELS else []
    told = [*findings, *far, *([] if far else check_units(y[known], known, rows))]
    ordered = check_order(y[known], known, rows)  # whole numbers that name rows count nothing
    remarks = ratings(y[known], "numbers", "classification") or (not ordered and counts(y[known]))
    return [*told, *ordered, *(remarks or [])]


def _constant(value: float, n_labels: int) -> Finding:
    text = number_text(value)
    return Finding(
        "one value",
        f"All {n_labels:,} labels are {text}: nothing tells one row from another, and {text} will be "
        f"predicted for every row.",
        "Give labels that differ, or another target.",
        "Give labels that differ, or name another column with --target.",
        command_line_only=True,  # in a program that fits many targets, one of them may be so
    )


def _far_label(labels: np.ndarray, known: np.ndarray, rows: Rows) -> list[Finding]:
    """A label that is the sum of the others, or one to few that lie far outside."""
    total = _total(labels)
    far = _far_away(labels) if total is None else np.array([total])
    if len(far) == 0:
        return []
    first, others = int(far[0]), np.delete(labels, far)
    if total is None:
        distance = np.abs(others - np.median(others))
        times = abs(labels[first] - np.median(others)) / np.median(distance[distance > 0])
        what = f"{times:,.0f} times as far from the median of the others as they are"
        question = "a total, or a slip of the decimal sign"
    else:
        what, question = "the sum of all others", "a row of totals"
    also = "" if len(far) == 1 else f" (and {len(far) - 1:,} more such)"
    message = (
        f"{place(int(known[first]), rows)} is {number_text(labels[first])}{also}, {what}: {question}? "
        f"It may outweigh the other {len(others):,} labels."
    )
    return [
        Finding(
            "far label",
            message,
            "Correct it, or put NaN there, if it is wrong.",
            "Correct it in the table, or leave it blank, if it is wrong.",
        )
    ]


def _total(labels: np.ndarray) -> int | None:
    """The place of a label that is the sum of all others."""
    at = int(np.argmax(np.abs(labels)))
    others = np.delete(labels, at)
    if np.count_nonzero(others) < _FEWEST_LABELS or abs(labels[at]) < 3 * np.abs(others).max():
        return None
    return at if np.isclose(labels[at], others.sum(), rtol=1e-6, atol=0) else None


def _far_away(labels: np.ndarray) -> np.ndarray:
    """The places of one or few labels that the tail of the others does not explain."""
    distance = np.abs(labels - np.median(labels))
    order = np.argsort(distance, kind="stable")
    sizes = distance[order][distance[order] > 0]
    most = min(max(2, len(labels) // 100), len(sizes) - _FEWEST_LABELS)
    if most < 1:
        return order[:0]
    steps = np.log(sizes[-most:] / sizes[-most - 1 : -1])
    n_far = most - int(np.argmax(steps))
    inner = sizes[:-n_far]
    # Hill's estimate of the tail; beyond the end of such a tail, the next step is exponential.
    n_tail = min(max(10, len(inner) // 10), len(inner) // 2)
    tail = max(float(np.log(inner[-n_tail:] / inner[-n_tail - 1]).mean()), 1e-3)
    probability = (1 + steps.max() / (n_tail * tail)) ** -n_tail
    is_far = sizes[-n_far] >= _FAR * np.median(inner) and probability <= _IMPROBABLE
    return np.sort(order[-n_far:]) if is_far else order[:0]


def ratings(labels: np.ndarray, taken_as: str, other_task: str) -> list[Finding]:
    """A remark on few whole numbers in equal steps: ratings, counts, or numbers of classes."""
    distinct = np.unique(labels)
    if not _FEWEST_RATINGS <= len(distinct) <= MOST_CLASSES or (distinct != np.round(distinct)).any():
        return []
    low, high = int(distinct[0]), int(distinct[-1])
    if low < 0 or high >= 2**53:
        return []
    step = int(np.gcd.reduce(np.diff(distinct).astype(np.int64)))
    if high - low >= 1.5 * len(distinct) * step:
        return []
    message = f"The labels are {len(distinct)} whole numbers from {low} to {high}, taken as {taken_as}."
    return [
        Finding(
            "ratings",
            message,
            f"Use an estimator for {other_task}, ordered classes or counts if that is wrong.",
            f"Say --task ordinal if they are ratings, --task count if something was counted, or --task "
            f"{other_task}.",
            command_line_only=True,
        )
    ]
