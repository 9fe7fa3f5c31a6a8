"""Names of classes that are one name: written in two ways, misspelled, or both yes and y."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from twinviews.data_checks.data_finding import Finding, listed, quoted

_TRUE = frozenset(["true", "t", "1", "yes", "y", "on"])
_FALSE = frozenset(["false", "f", "0", "no", "n", "off"])
# A name is a misspelling only if it is long enough, and the right one so much commoner.
_SHORTEST, _COMMONER = 5, 10
_MOST_NAMES = 200  # all pairs are compared


def check_names(values: Sequence[str]) -> list[Finding]:
    """Names that a person would read as the same."""
    counts = Counter(values)
    return [*_spelled_in_two_ways(counts), *_truth_in_two_ways(counts), *_misspelled(counts)]


def _spelled_in_two_ways(counts: Counter[str]) -> list[Finding]:
    """Names that differ in nothing but case, blanks, invisible characters or Unicode form."""
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


def _in_one_way(name: str) -> str:
    """The name without what cannot be seen; a single letter keeps its case, as in m and M."""
    visible_part = "".join(c for c in name if unicodedata.category(c) != "Cf")
    plain = " ".join(unicodedata.normalize("NFC", visible_part).split())
    return plain if len(plain) == 1 else unicodedata.normalize("NFC", plain.casefold())


def _truth_in_two_ways(counts: Counter[str]) -> list[Finding]:
    """Yes and y, no and 0: if all classes are such words, and some mean the same."""
    words = {name: name.strip().casefold() for name in counts}
    if not set(words.values()) <= _TRUE | _FALSE:
        return []
    pairs = []
    for meaning in (_TRUE, _FALSE):
        same = [name for name in sorted(counts) if words[name] in meaning]
        if len({words[name] for name in same}) > 1:
            pairs.append(" and ".join(f"{quoted(name)} ({counts[name]:,})" for name in same))
    if not pairs:
        return []
    message = (
        f"Classes that mean the same, with their counts: {'; '.join(pairs)}. Each spelling is learned "
        f"as a class of its own."
    )
    return [
        Finding(
            "truth in two ways",
            message,
            "Write True and False, or one word for each.",
            "Write one word for each in the table, or say --kind COLUMN=boolean.",
        )
    ]


def _misspelled(counts: Counter[str]) -> list[Finding]:
    """Rare names that differ by one letter from a common one."""
    if len(counts) > _MOST_NAMES:
        return []
    common = [name for name, count in counts.items() if count >= _COMMONER]
    pairs = [
        f"{quoted(rare)} ({counts[rare]:,}) beside {quoted(name)} ({counts[name]:,})"
        for name in sorted(common)
        for rare in sorted(counts)
        if counts[name] >= _COMMONER * counts[rare] and _is_slip(rare, name)
    ]
    if not pairs:
        return []
    message = (
        f"Names of classes that differ by one letter, with their counts: {listed(pairs, '; ')}: "
        f"misspelled? Each spelling is learned as a class of its own."
    )
    return [
        Finding(
            "misspelled",
            message,
            "Write one class in one way.",
            "Write one class in one way in the table.",
        )
    ]


def _is_slip(rare: str, name: str) -> bool:
    """Whether one word has one letter replaced, left out, added or exchanged with the next.

    Not the first letter: other words begin otherwise, as house and mouse, typical and atypical. Digits
    and short words number classes, as type 1 and type 2, stage a and stage b.
    """
    words, others = rare.split(), name.split()
    apart = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(apart) != 1:
        return False
    (one, other) = apart[0]
    if not (one + other).isalpha() or len(other) < _SHORTEST or one.casefold() == other.casefold():
        return False
    return one[0] == other[0] and _one_letter_apart(one, other)


def _one_letter_apart(one: str, other: str) -> bool:
    pairs = enumerate(zip(one, other, strict=False))
    start = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    exchanged = a[:2] == b[:2][::-1] and a[2:] == b[2:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or exchanged
