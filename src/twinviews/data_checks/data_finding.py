"""What a check finds, and how it says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from twinviews._system.user_warnings import warn_user

# Numbers or names of the rows; without them, a row is named by its place.
Rows = Sequence[int] | Sequence[str] | np.ndarray | None
# Longer text is cut in messages, and longer lists end with how many more there are.
_LONGEST_TEXT, _LONGEST_LIST = 40, 3


class Finding(NamedTuple):
    check: str  # short name of the check
    message: str  # the row, the value, how many, and what follows
    remedy_python: str
    remedy_command_line: str
    stops: bool = False  # whether the command line must not go on unless the user says --task
    command_line_only: bool = False  # a remark on what was found out; no reason for a warning
    of_a_fit: bool = False  # not known from the labels alone

    def for_python(self) -> str:
        return f"{self.message} {self.remedy_python}"

    def for_command_line(self) -> str:
        return f"{self.message} {self.remedy_command_line}"


class DataWarning(UserWarning):
    """The data may not be what they seem: a question to the user, not an error.

    Examples
    --------
    >>> import warnings
    >>> from twinviews import DataWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataWarning)  # all is as it should be
    """

    finding: Finding | None = None  # which a copy from another process has not


def warn_of(findings: Iterable[Finding]) -> None:
    """Warn of each finding, at the user's own line."""
    for finding in findings:
        if not finding.command_line_only:
            warning = DataWarning(finding.for_python())
            warning.finding = finding
            warn_user(warning)


def place(position: int, rows: Rows) -> str:
    if rows is None:
        return f"y[{position}]"
    return str(rows[position]) if isinstance(rows[position], str) else f"row {rows[position]}"


def number_text(value: float, comma: str = ",") -> str:
    """All digits that tell a number from others; ``comma`` between thousands."""
    whole = value == round(value) and abs(value) < 1e15
    return f"{int(value):{comma}}" if whole else repr(float(value))


def range_text(values: np.ndarray) -> str:
    """From the smallest to the largest, with four digits."""
    low, high = (number_text(float(f"{end:.4g}")) for end in (values.min(), values.max()))
    return f"{low} to {high}"


def printable(text: str) -> str:
    """Text of a user, with what cannot be seen written as an escape, blanks other than a space too."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quoted(text: str) -> str:
    short = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
    return f"'{printable(short)}'"


def listed(texts: Sequence[str], separator: str = ", ") -> str:
    """The first few, and how many more there are."""
    more = len(texts) - _LONGEST_LIST
    return separator.join([*texts[:_LONGEST_LIST], *([f"{more:,} more"] if more > 0 else [])])
