"""Whether the labeled rows are like all rows, as a fit finds it and tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from twinviews._system.user_warnings import warn_user
from twinviews.data_checks.data_finding import DataWarning, Finding, listed, printable
from twinviews.shift.column_differences import (
    ShiftedColumn,
    is_outside_labeled_range,
    shifted_columns,
)
from twinviews.shift.compared_rows import ComparedRows
from twinviews.shift.importance import ImportanceFit, effective_labels, row_importance
from twinviews.shift.table_columns import LevelCount, NumberOfColumn, has_level
from twinviews.shift.two_sample_test import compare_samples

# A shift is told if labels drawn at random would look as unlike all rows this often at the most: many
# fits are made in loops, and shifts that do harm are far beyond it.
ALARM = 0.002
# A level without a label is told if so many labels were to be expected of it.
_EXPECTED_LABELS = 1.0
# A smaller share of the rows is not told.
_LEAST_SHARE = 0.005


class ShiftWarning(DataWarning):
    """The labeled rows are not like all rows of the table, so errors and intervals may be too good.

    Examples
    --------
    >>> import warnings
    >>> from twinviews import ShiftWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ShiftWarning)  # it is known, and model.shift_ has it too
    """


@dataclass(frozen=True)
class UnlabeledLevel:
    """A level of a category that rows have and no labeled row has."""

    column: str
    level: str
    n_rows: Annotated[int, ">= 1"]

    def words(self) -> str:
        name = f"{printable(self.column)} {printable(self.level)}"
        return f"{name}: {self.n_rows:,} {'row' if self.n_rows == 1 else 'rows'} and no label"


@dataclass(frozen=True)
class CovariateShift:
    """How the labeled rows of a fit differ from all its rows.

    ``words()`` says it in a sentence; ``as_dict()`` gives plain values for JSON.
    """

    p_value: Annotated[float, ">= 0", "<= 1"]  # how often random labels would look as unlike all rows
    n_labeled: Annotated[int, ">= 1"]
    n_effective: Annotated[float, "> 0"]  # random labels that tell as much about rows with support
    share_outside: Annotated[float, ">= 0", "<= 1"]  # of all rows: those unlike every labeled row
    columns: tuple[ShiftedColumn, ...]  # responsible ones, those that differ most first
    unlabeled_levels: tuple[UnlabeledLevel, ...]  # the commonest first

    @property
    def is_shifted(self) -> bool:
        """Whether chance is no likely reason: the p-value is at most 0.002."""
        return self.p_value <= ALARM

    def words(self) -> str:
        """One or two sentences, without a remedy."""
        if self.is_shifted:
            which = [column.words() for column in self.columns]
            what = listed(which, "; ") if which else "columns differ together, none of them by itself"
            levels = f"; {self._levels()}" if self.unlabeled_levels else ""
            support = (
                f"; {self.share_outside:.0%} of the rows are unlike every labeled row"
                if self.share_outside >= _LEAST_SHARE
                else ""
            )
            return (
                f"The {self.n_labeled:,} labeled rows are not like all rows (p = {self.p_value:.2g}): "
                f"{what}{levels}. For the rows that they cover, they count as {self.n_effective:,.0f} "
                f"random labels{support}."
            )
        if self.unlabeled_levels:
            return f"{self._levels()}."
        return f"No sign that the labeled rows differ from all rows (p = {self.p_value:.2g})."

    def _levels(self) -> str:
        return listed([level.words() for level in self.unlabeled_levels], "; ")

    def findings(self) -> list[Finding]:
        """What a user should know; nothing where all is well.

        A level that happens to have no label is no reason for a warning: it is told on the command
        line and in the report.
        """
        if self.is_shifted:
            caution = (
                "In errors to expect and intervals, labels count by how many rows they stand for; "
                "rows that no label is like have no interval."
            )
        elif self.unlabeled_levels:
            caution = "What is predicted there is a guess from other columns and other levels."
        else:
            return []
        return [
            Finding(
                "covariate shift" if self.is_shifted else "level without a label",
                f"{self.words()} {caution}",
                "Label some of the other rows, drawn at random; model.shift_ has more.",
                "Label some of the other rows, drawn at random; --report shows more."
                if self.is_shifted
                else "Label a few of them.",
                command_line_only=not self.is_shifted,
            )
        ]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "is_shifted": self.is_shifted, "words": self.words()}


def warn_of_shift(shift: CovariateShift | None) -> None:
    """Warn of a shift, at the user's own line."""
    for finding in [] if shift is None else shift.findings():
        if not finding.command_line_only:
            warning = ShiftWarning(finding.for_python())
            warning.finding = finding
            warn_user(warning)


def find_shift(
    rows: ComparedRows, numbers: Sequence[NumberOfColumn], without_label: Sequence[LevelCount] = ()
) -> tuple[CovariateShift, ImportanceFit | None]:
    """Compare the labeled rows with all rows; where they differ, what labels stand for comes along.

    ``numbers`` says what each number of a row is of; ``without_label`` has the levels that rows of the
    table have and no labeled row has.
    """
    test = compare_samples(rows.X, rows.is_labeled, inflation=rows.inflation)
    levels = _levels_to_tell(rows, without_label)
    outside = has_level(rows.X, numbers, [(one.column, one.level) for one in levels])
    if test.p_value > ALARM:
        shift = CovariateShift(
            test.p_value, rows.n_labeled, rows.n_labeled, _share(rows, outside), (), levels
        )
        return shift, None
    columns = shifted_columns(rows, numbers, test)
    names = {column.name for column in columns}
    outside |= is_outside_labeled_range(
        rows, [at for at, number in enumerate(numbers) if number.column in names]
    )
    importance = row_importance(rows.X, rows.is_labeled, labeled_share=rows.n_labeled / rows.n_rows)
    outside |= importance.at.is_beyond(rows.X)
    weights = importance.of_labeled(rows.X[rows.is_labeled])
    effective = effective_labels(weights) * rows.n_labeled / len(weights)
    shift = CovariateShift(
        test.p_value, rows.n_labeled, effective, _share(rows, outside), columns, levels
    )
    return shift, importance


def _levels_to_tell(
    rows: ComparedRows, without_label: Sequence[LevelCount]
) -> tuple[UnlabeledLevel, ...]:
    least = max(2.0, _EXPECTED_LABELS * rows.n_rows / rows.n_labeled)
    found = [UnlabeledLevel(*one) for one in without_label if one.n_rows >= least]
    return tuple(sorted(found, key=lambda one: (-one.n_rows, one.column, one.level)))


def _share(rows: ComparedRows, chosen: np.ndarray) -> float:
    return float(np.average(chosen & ~rows.is_labeled, weights=rows.weight))
