"""A target of text that is mostly numbers: one '<15' or '19.2 MJ/kg' turns all of them into words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from shlex import quote
from typing import Any

import numpy as np

from twinviews.data_checks.data_finding import Finding, Rows, listed, place, printable, quoted
from twinviews.data_checks.number_target import MOST_CLASSES

# What reading takes as blanks; a test compares. Reading itself needs an optional library.
_BLANKS = (
    "NA Na na N/A n/a N/a n.a. <NA> NaN nan NAN NaT NULL Null null None nil - -- ? . "
    "#N/A #NA #DIV/0! #NULL! #NUM! #REF! #VALUE!"
)
BLANK_WORDS = frozenset(["", *_BLANKS.split()])
_FEWEST_NUMBERS = 5
_SPACE = "[ \u00a0\u202f'’]"


def _number(decimal: str, grouping: str) -> str:
    """A pattern; no leading zeros and at most 18 digits, since those are codes."""
    groups = rf"[1-9][0-9]{{0,2}}(?:(?:{grouping}[0-9]{{3}})+|(?:{_SPACE}[0-9]{{3}})+)"
    whole = rf"(?:{groups}|0|[1-9][0-9]{{0,17}})"
    return rf"[+-]?(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"


_POINT, _COMMA = _number(r"\.", ","), _number(",", r"\.")
# A number, perhaps with a sign before it and a star, or a blank and a unit, behind it; 120B is a name.
_NEARLY = re.compile(rf"\W{{0,4}}(?:{_POINT}|{_COMMA})(?:[^0-9A-Za-z].{{0,19}})?")
_CODE = re.compile(r"0[0-9]+")


def check_text(texts: Sequence[Any] | np.ndarray, rows: Rows = None) -> list[Finding]:
    """Whether text is meant as numbers, but for some values; None and words for blanks do not count.

    ``rows`` gives the number by which to name each row, otherwise it is named by its place, ``y[3]``.
    """
    first: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for position, text in enumerate(texts):
        if isinstance(text, str) and (word := text.strip()) not in BLANK_WORDS:
            counts[word] += 1
            first.setdefault(word, position)
    numbers = max((_among(counts, _POINT), _among(counts, _COMMA)), key=Counter.total)
    strange = [word for word in first if word not in numbers]
    n_numbers, n_all = numbers.total(), counts.total()
    if not strange or n_numbers < max(_FEWEST_NUMBERS, n_all / 5) or any(map(_CODE.fullmatch, counts)):
        return []
    if 2 * _among(counts, _NEARLY.pattern).total() < n_all:
        return []
    if len(numbers) <= MOST_CLASSES and all(word.isdigit() for word in numbers):
        return []  # numbers of classes, beside classes with names
    named = listed(
        [f"{quoted(strange[0])} ({place(first[strange[0]], rows)})", *map(quoted, strange[1:])]
    )
    message = (
        f"{n_numbers:,} of {n_all:,} labels are numbers, and {n_all - n_numbers:,} "
        f"{'is' if n_all - n_numbers == 1 else 'are'} not: {named}. As they stand, every number is "
        f"taken as the name of a class."
    )
    words = [word for word in strange if not _NEARLY.fullmatch(word) and "," not in word]
    blanks = quote(printable(",".join(words[:3])))
    named_blank = f" (or name such words, as in --missing={blanks})" if words else ""
    return [
        Finding(
            "text among numbers",
            message,
            "Write numbers, and None where there is no label: pandas.to_numeric(y, errors='coerce').",
            f"Write numbers, and leave a cell blank where there is no label{named_blank}; --task "
            f"classification if these are names.",
            stops=True,
        )
    ]


def _among(counts: Counter[str], pattern: str) -> Counter[str]:
    return Counter({text: count for text, count in counts.items() if re.fullmatch(pattern, text)})
