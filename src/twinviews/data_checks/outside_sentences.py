"""What is said of columns of new rows that lie outside what the fit has seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from twinviews._system.user_warnings import warn_user
from twinviews.data_checks.data_finding import listed, printable, quoted, range_text
from twinviews.passes.input_profile import InputProfile
from twinviews.passes.outside_rows import OutsideCounts, by_rows

# Columns that a warning describes; of more it says how many there are.
_MOST_COLUMNS = 3


class OutsideWarning(UserWarning):
    """Rows to predict lie outside what the fit has seen, more of them than chance explains.

    ``columns`` has the names of the columns. Single rows are told by ``model.outside(X)``.

    Examples
    --------
    >>> import warnings
    >>> from twinviews import OutsideWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", OutsideWarning)  # rather no prediction than such a one
    """

    columns: tuple[str, ...] = ()


def describe_outside(
    counts: OutsideCounts,
    profile: InputProfile,
    names: Sequence[str],
    columns: Sequence[int],
    dates: Collection[int] = (),
) -> list[str]:
    """A sentence for each of some columns; ``dates`` are those whose numbers are days."""
    return [
        f"{printable(names[column])}: {_ways(counts, profile, column, is_date=column in dates)}"
        for column in columns
    ]


def _ways(counts: OutsideCounts, profile: InputProfile, column: int, *, is_date: bool) -> str:
    n, ranges = counts.n_rows, profile.ranges
    beyond = int(counts.below[column] + counts.above[column])
    fractions, blanks = int(counts.fractions[column]), int(counts.blanks[column])
    unseen, parts = int(counts.unseen[column]), []
    unit = "" if is_date or 2 * max(beyond, fractions) < n else ": another unit?"
    if beyond:
        text = _dates_text if is_date else range_text
        fitted, here = (
            text(np.array([ends.least[column], ends.most[column]])) for ends in (ranges, counts)
        )
        are = _rows(beyond, n, "is", "are")
        if ranges.least[column] == ranges.most[column]:
            fitted = fitted.partition(" to ")[0] + " in all rows"
        parts.append(f"{are} outside the range of the fit, {fitted} (here {here}){unit}")
    if fractions > beyond:
        have = _rows(fractions, n, "has", "have")
        parts.append(f"{have} a fraction, and all numbers of the fit were whole{unit}")
    if unseen:
        hold = _rows(unseen, n, "holds", "hold")
        parts.append(
            f"{hold} a value that the fit has not seen: {_levels(counts.new_levels[column], unseen)}"
        )
    if blanks:
        parts.append(f"{_rows(blanks, n, 'is', 'are')} blank, and no row of the fit was")
    said = "; ".join(parts)
    return said if said.endswith("?") else f"{said}."


def _rows(some: int, n_rows: int, one: str, several: str) -> str:
    if n_rows == 1:
        return f"the row {one}"
    return (
        f"all {n_rows:,} rows {several}" if some == n_rows else f"{some:,} of {n_rows:,} rows {several}"
    )


def _levels(levels: Mapping[str, int], rows: int) -> str:
    most = by_rows(levels)
    if len(most) == 1 and most[0][1] == rows:
        return quoted(most[0][0])
    return listed([f"{quoted(level)} ({n:,})" for level, n in most])


def _dates_text(days: np.ndarray) -> str:
    first, last = np.floor(days).astype("datetime64[D]")
    return f"{first} to {last}"


def warn_of_outside(sentences: Sequence[str], columns: Sequence[str]) -> None:
    """One warning for all columns, at the user's own line."""
    said = list(sentences[:_MOST_COLUMNS])
    if len(sentences) > _MOST_COLUMNS:
        more = len(sentences) - _MOST_COLUMNS
        said.append(f"{more:,} more {'column is' if more == 1 else 'columns are'} outside too.")
    said.append("What is predicted for such rows is a guess; model.outside(X) tells which they are.")
    warning = OutsideWarning(" ".join(said))
    warning.columns = tuple(columns)
    warn_user(warning)
