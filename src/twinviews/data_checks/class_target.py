"""Class labels: -1 for unlabeled, words that mean a blank, a class for nearly every label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from twinviews.data_checks.blank_marks import blank_marks, marked_labels
from twinviews.data_checks.class_names import check_names
from twinviews.data_checks.data_finding import (
    Finding,
    Rows,
    number_text,
    place,
    quoted,
)
from twinviews.data_checks.number_target import ratings
from twinviews.data_checks.text_target import check_text
from twinviews.passes.targets import missing_labels

# Text that never names a class. None, NA and - may: no drug, Namibia, a negative test.
_NEVER_A_NAME = frozenset(
    [
        *("", "?", "nan", "<na>", "nat", "n/a", "n.a.", "null", "tbd", "missing"),
        *("not measured", "not recorded", "not available", "not determined", "no data"),
        *("#n/a", "#na", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"),
    ]
)


_FEWEST_LABELS = 20


def check_classes(labels: np.ndarray, rows: Rows = None, missing_label: Any = None) -> list[Finding]:
    """What is strange in class labels; None, NaN and ``missing_label`` are rows without a label.

    ``rows`` gives the number by which to name each row, otherwise it is named by its place, ``y[3]``.
    """
    labels = np.asarray(labels).ravel()
    missing = missing_labels(labels, missing_label)
    known, values = np.flatnonzero(~missing), labels[~missing].tolist()
    if all(isinstance(value, str) for value in values):
        marks: list[str | float] = _words_for_blanks(values)
        texts = [None if gone else text for text, gone in zip(labels, missing, strict=True)]
        more = check_names(values) + check_text(texts, rows)
    elif all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        numbers = np.array(values, dtype=np.float64)
        marks, more = _numbers_for_blanks(numbers), ratings(numbers, "classes", "regression")
    else:
        return []
    if any(one.check == "text among numbers" for one in more):
        return more  # in which words for blanks are named
    more += _a_class_for_each_label(values, known, rows)
    n_classes = len(set(values)) - 1
    findings = []
    for mark in marks:
        text = quoted(mark) if isinstance(mark, str) else number_text(mark, "")
        marked = [at for at, value in enumerate(values) if _as_compared(value) == mark]
        first = place(int(known[marked[0]]), rows)
        others = f"{n_classes} other {'class' if n_classes == 1 else 'classes'}"
        finding = marked_labels(
            "unlabeled class", text, len(marked), len(values), first, "classification", others
        )
        findings.append(finding._replace(stops=finding.stops or mark == -1))
    return [*findings, *more]


def _as_compared(value: Any) -> Any:
    """A number as the checks have it: integers that no float holds are rounded."""
    return value if isinstance(value, str) else float(value)


def _numbers_for_blanks(numbers: np.ndarray) -> list[str | float]:
    """-1, as scikit-learn writes it for unlabeled rows, or a number such as -999 or 99."""
    marks: list[str | float] = [mark.value for mark in blank_marks(numbers) if mark.value != -1]
    classes, counts = np.unique(numbers[~np.isin(numbers, marks)], return_counts=True)
    if len(classes) > 2 and classes[0] == -1 and classes[1] >= 0:
        n_others, commonest = counts[1:].sum(), counts[1:].max()
        marks += [-1.0] if counts[0] >= min(n_others, 3 * commonest) else []
    return marks


def _words_for_blanks(values: Sequence[str]) -> list[str | float]:
    """Words such as nan, unless there are no others."""
    marks = sorted({value for value in values if value.strip().casefold() in _NEVER_A_NAME})
    return [*marks] if len(marks) < len(set(values)) else []


def _a_class_for_each_label(values: Sequence[Any], known: np.ndarray, rows: Rows) -> list[Finding]:
    """Labels that are nearly all different: names of rows, free text, or measurements."""
    n_labels, counts = len(values), Counter(values)
    alone = [at for at, value in enumerate(values) if counts[value] == 1]
    if n_labels < _FEWEST_LABELS or 2 * len(alone) <= n_labels:
        return []
    first = values[alone[0]]
    text = quoted(first) if isinstance(first, str) else number_text(float(first), "")
    as_numbers = "--kind COLUMN=number" if isinstance(first, str) else "--task regression"
    message = (
        f"{len(alone):,} of {n_labels:,} labels are classes with one row each, such as {text} "
        f"({place(int(known[alone[0]]), rows)}): an id, free text, or numbers that were measured? "
        f"Nothing can be learned of a class from one row."
    )
    return [
        Finding(
            "a class for each label",
            message,
            "Use another column, join classes, or use a regressor for numbers.",
            f"Name another column, join classes, or say {as_numbers} for numbers; --task "
            f"classification if these are classes.",
            stops=True,
        )
    ]
