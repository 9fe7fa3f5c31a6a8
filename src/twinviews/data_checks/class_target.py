"""Class labels: -1 for unlabeled, words that mean a blank, one name spelled in two ways."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from twinviews.data_checks.blank_marks import blank_marks, marked_labels
from twinviews.data_checks.data_finding import (
    Finding,
    Rows,
    listed,
    number_text,
    place,
    quoted,
)
from twinviews.data_checks.number_target import ratings
from twinviews.data_checks.text_target import check_text
from twinviews.passes.targets import missing_labels

# Text that never names a class. None, NA and - may: no drug, Namibia, a negative test.
_NEVER_A_NAME = frozenset(["", "?", "nan", "<na>", "nat", "n/a", "null", "#n/a"])


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
        more = _spelled_in_two_ways(values) + check_text(texts, rows)
    elif all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        numbers = np.array(values, dtype=np.float64)
        marks, more = _numbers_for_blanks(numbers), ratings(numbers, "classes", "regression")
    else:
        return []
    more += [] if more and more[-1].stops else _a_class_for_each_label(values, known, rows)
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


def _spelled_in_two_ways(values: Sequence[str]) -> list[Finding]:
    """Names that differ in nothing but case, blanks, invisible characters or Unicode form."""
    counts = Counter(values)
    alike: dict[str, list[str]] = {}
    for name in sorted(counts):
        shown = quoted(name) if unicodedata.is_normalized("NFC", name) else ascii(name)
        alike.setdefault(_in_one_way(name), []).append(f"{shown} ({counts[name]:,})")
    pairs = [" and ".join(spellings) for spellings in alike.values() if len(spellings) > 1]
    if not pairs:
        return []
    message = (
        f"Names of classes that differ only by case, blanks or invisible characters, with "
        f"their counts: {listed(pairs, '; ')}. Each spelling is learned as a class of its own."
    )
    return [
        Finding(
            "two spellings",
            message,
            "Write one class in one way, for example as name.strip().lower().",
            "Write one class in one way in the table.",
        )
    ]


def _a_class_for_each_label(values: Sequence[Any], known: np.ndarray, rows: Rows) -> list[Finding]:
    """Labels that are nearly all different: names of rows, free text, or measurements."""
    n_labels, counts = len(values), Counter(values)
    alone = [at for at, value in enumerate(values) if counts[value] == 1]
    if n_labels < _FEWEST_LABELS or 2 * len(alone) <= n_labels:
        return []
    first = values[alone[0]]
    text = quoted(first) if isinstance(first, str) else number_text(float(first), "")
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
            "Name another column, join classes, or say --task regression for numbers; --task "
            "classification if these are classes.",
            stops=True,
        )
    ]


def _in_one_way(name: str) -> str:
    """The name without what cannot be seen; a single letter keeps its case, as in m and M."""
    visible_part = "".join(c for c in name if unicodedata.category(c) != "Cf")
    plain = " ".join(unicodedata.normalize("NFC", visible_part).split())
    return plain if len(plain) == 1 else unicodedata.normalize("NFC", plain.casefold())
