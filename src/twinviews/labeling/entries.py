"""What a person enters about a row, and how it is stored."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

Task = Literal["regression", "classification"]
Answer = Literal["label", "skip", "unsure", "clear"]
# How a row was chosen. The error is estimated on rows drawn at random, and on those of a design, each
# of which was drawn with a known probability.
Origin = Literal["suggested", "random", "chosen", "imported", "designed"]


@dataclass(frozen=True)
class LabelTarget:
    """A column that is being labeled."""

    name: str
    task: Task
    classes: tuple[str, ...] = ()  # offered as buttons; another may be typed

    def read(self, text: str) -> float | str:
        """The label that a text stands for, or an error that says what was expected."""
        if text in self.classes:
            return text
        text = text.strip()
        if not text:
            raise ValueError(f"{self.name} is blank. Type a value, or skip the row.")
        if self.task == "classification":
            return text
        return _number(text, self.name)


def plain_label(value: Any) -> float | str:
    """A label as a plain float or text, whatever array it comes from."""
    return value if isinstance(value, str) else float(value)


def _number(text: str, name: str) -> float:
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", "").replace(" ", "")
    if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", plain):
        whole, decimal = plain.replace(",", ""), plain.replace(",", ".")
        raise ValueError(
            f"{text!r} may be {whole} or {decimal}. Write {name} without a comma, as one of these."
        )
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        number = float(plain)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise ValueError(
            f"{name} must be a number, and {text!r} is not one. Type one such as 3.5 or -2e6."
        )
    return number


@dataclass(frozen=True)
class Entry:
    """What a person entered about one row."""

    key: str  # made by the sender, so that an entry sent twice is stored once
    target: str
    row: int  # counted from 0
    answer: Answer
    value: float | str | None  # None unless the answer is a label
    origin: Origin
    expects: int  # the last event of this row and target that the sender has seen; 0 if none


@dataclass(frozen=True)
class Event:
    """A stored entry. Events are only added; the last one of a row and target is in force."""

    number: int  # 1, 2, ... over all targets
    time: str  # ISO 8601, UTC
    entry: Entry
    undoes: int | None = None  # number of the event that this one undoes


class ConflictError(ValueError):
    """Somebody else has answered this row in the meantime."""

    def __init__(self, message: str, current: Event | None) -> None:
        super().__init__(message)
        self.current = current


def checked_entry(entry: Entry, target: LabelTarget, n_rows: int) -> Entry:
    """The entry with its value as it is stored; an error if there is no such row or label."""
    value = entry.value
    if not 0 <= entry.row < n_rows:
        raise ValueError(f"There is no row {entry.row + 1:,}: the table has {n_rows:,} rows.")
    if entry.answer != "label":
        if value is not None:
            raise ValueError(
                f"Value {value!r} is for labels only, and the answer is {entry.answer!r}. Send null."
            )
        return entry
    if target.task == "classification":
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{target.name} must be a class name, not {value!r}.")
        check_text(value)
        return entry
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # type: ignore[arg-type, operator]
        raise ValueError(f"{target.name} must be a number, not {value!r}.")
    return replace(entry, value=float(value))  # type: ignore[arg-type]


def check_text(text: str) -> None:
    """Raise an error if a text cannot be written to files of every format."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{text!r} holds a zero byte or half a character. Type it again.")
