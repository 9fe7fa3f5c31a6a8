"""What an estimate says: numbers with an interval, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from twinviews.estimates.more_labels import labels_needed


@dataclass(frozen=True)
class ToldEstimate:
    """One number about all rows, or those of a group, with its interval."""

    target: str
    what: str  # "mean", "share = yes", "share above 3", "median", ...
    group: Mapping[str, str]  # the value of each column of ``by``; empty: all rows
    estimate: float
    low: float
    high: float
    labels_alone: float  # the same from the labels alone
    labels_alone_low: float
    labels_alone_high: float
    n_rows: int
    n_labels: int
    labels_worth: float  # random labels that alone would have told as much
    power: float  # how much predictions count: 0 is labels alone
    is_shrunk: bool = False  # whether it is drawn towards all rows, for lack of labels

    @property
    def more_labels(self) -> float:
        """How many more labels the rows without one count as."""
        return max(0.0, self.labels_worth - self.n_labels)

    def words(self, coverage: float) -> str:
        """One sentence."""
        found, low, high, *of_alone = self.texts()
        alone = " to ".join(of_alone)
        if not np.isfinite([self.labels_alone_low, self.labels_alone_high]).all():
            alone = "too few"
        where = "".join(f", {name} {value}" for name, value in self.group.items())
        told = (
            f"{self.title()}{where}: {found}, {coverage:.0%} interval {low} to {high}; "
            f"labels alone: {alone}"
        )
        if self.n_labels == self.n_rows:
            return f"{self.title()}{where}: {found}; every row has a label."
        if self.is_shrunk:
            n = f"{self.n_labels} {'label' if self.n_labels == 1 else 'labels'}"
            return f"{told}; with {n} it is drawn towards all rows."
        if self.power == 0:
            return f"{told}; predictions would not help."
        if not np.isfinite(self.labels_worth):
            return f"{told}."
        return f"{told}; the unlabeled rows count as {self.more_labels:,.0f} more labels."

    def labels_for(self, half_width: float) -> int:
        """How many random labels in all an interval of plus or minus ``half_width`` needs, roughly."""
        if not half_width > 0:
            raise ValueError(f"half_width={half_width!r} must be above 0.")
        own = (self.high - self.low) / 2
        return labels_needed(self.n_labels, self.n_rows, own, half_width)

    def title(self) -> str:
        """What is estimated, and of which column."""
        first, _, rest = self.what.partition(" ")
        named = f"{self.what} of {self.target}"
        if first in ("share", "number"):
            named = f"{first} of {self.target} {rest}"
        return named[0].upper() + named[1:]

    def texts(self) -> tuple[str, str, str, str, str]:
        """The estimate, its ends and those of labels alone, with the digits that the interval needs."""
        digits = _digits(self.low, self.high)
        return (
            _number(self.estimate, digits),
            _number(self.low, digits),
            _number(self.high, digits),
            _number(self.labels_alone_low, digits),
            _number(self.labels_alone_high, digits),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; infinite ends are None."""
        found = {**asdict(self), "group": dict(self.group), "more_labels": self.more_labels}
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in found.items()
        }


class ValueAndEnds(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> ValueAndEnds:
        """In another unit; a negative factor swaps the ends."""
        low, high = sorted((factor * self.low, factor * self.high))
        return ValueAndEnds(factor * self.value, low, high)

    def within(self, least: float, most: float) -> ValueAndEnds:
        """Nothing of it beyond what is possible."""
        return ValueAndEnds(*(float(np.clip(one, least, most)) for one in self))

    def whole(self) -> ValueAndEnds:
        """Of counts: what is between two of them is said of the one that has it inside."""
        low, high = np.maximum(np.ceil(self.low), 0.0), np.floor(self.high)
        return ValueAndEnds(float(np.ceil(self.value)), float(min(low, high)), float(max(low, high)))

    def of_the_others(self) -> ValueAndEnds:
        """Of a share: that of all other rows."""
        return ValueAndEnds(1 - self.value, 1 - self.high, 1 - self.low)


class AboutRows(NamedTuple):
    """What an estimate is of."""

    target: str
    what: str
    group: Mapping[str, str]
    n_rows: int
    n_labels: int


def told(
    about: AboutRows,
    powered: ValueAndEnds,
    alone: ValueAndEnds,
    *,
    labels_worth: float,
    power: float,
    is_shrunk: bool = False,
) -> ToldEstimate:
    """An estimate beside that of the labels alone."""
    return ToldEstimate(
        about.target,
        about.what,
        about.group,
        powered.value,
        powered.low,
        powered.high,
        alone.value,
        alone.low,
        alone.high,
        about.n_rows,
        about.n_labels,
        labels_worth,
        power,
        is_shrunk,
    )


@dataclass(frozen=True)
class Estimates:
    """Estimates of one question, in the order of their groups.

    ``words()`` says them in sentences, ``as_dicts()`` gives plain values and ``as_columns()`` a table.
    """

    rows: tuple[ToldEstimate, ...]
    coverage: float
    notes: tuple[str, ...] = field(default=())  # what a reader should know about the labels

    def __iter__(self) -> Iterator[ToldEstimate]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> ToldEstimate:
        return self.rows[place]

    def words(self) -> str:
        return "\n".join([*(row.words(self.coverage) for row in self.rows), *self.notes])

    def as_dicts(self) -> list[dict[str, Any]]:
        return [row.as_dict() for row in self.rows]

    def as_columns(self) -> dict[str, list[Any]]:
        """Columns by name, with one for each column of ``by``."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.group))
        columns: dict[str, list[Any]] = {"target": [row.target for row in self.rows]}
        columns["what"] = [row.what for row in self.rows]
        for name in names:
            columns[name] = [row.group.get(name) for row in self.rows]
        for name in _COLUMNS:
            columns[name] = [row.as_dict()[name] for row in self.rows]
        return columns


_COLUMNS = (
    "estimate",
    "low",
    "high",
    "labels_alone",
    "labels_alone_low",
    "labels_alone_high",
    "n_rows",
    "n_labels",
    "more_labels",
    "is_shrunk",
)


def _digits(low: float, high: float) -> int:
    """Decimals that tell the ends of an interval apart to a hundredth of it."""
    width = high - low
    if not np.isfinite(width) or width <= 0:
        return 3
    return int(np.clip(1 - np.floor(np.log10(width)), 0, 12))


def _number(value: float, digits: int) -> str:
    if not np.isfinite(value):
        return "unknown"
    if digits > 6:
        return f"{value:.4g}"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text
