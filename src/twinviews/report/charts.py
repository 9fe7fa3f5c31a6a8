"""Charts of the report, described by their data; the templates draw them.

Marks are placed in percent of the axes and text keeps its size, so a chart can be read on any screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from twinviews.report.blocks import DataTable

_TICKS = 5


class Axis(NamedTuple):
    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]  # value, and how it is written

    def at(self, value: float) -> float:
        """Percent of the way from the lower end; values outside the axis are put on its edge."""
        return float(np.clip(100 * (value - self.low) / (self.high - self.low), 0, 100))

    def from_top(self, value: float) -> float:
        return 100 - self.at(value)


class Bar(NamedTuple):
    """A bar from zero, or with an interval a dot on a line."""

    name: str
    text: str  # its number
    value: float
    interval: tuple[float, float] | None = None
    highlighted: bool = True


@dataclass(frozen=True)
class BarChart:
    """A bar, or a dot with its interval, for each name."""

    title: str
    description: str  # for readers who cannot see it
    axis: Axis
    bars: Sequence[Bar]
    columns: Sequence[str]  # of the table of its numbers
    rows: Sequence[Sequence[str]]
    template: ClassVar[str] = "bars.html.jinja"

    @property
    def table(self) -> DataTable:
        return DataTable(self.title, self.columns, self.rows)


class Line(NamedTuple):
    label: str
    points: Sequence[tuple[float, float]]


class Dot(NamedTuple):
    x: float
    y: float
    interval: tuple[float, float] | None = None  # of y


@dataclass(frozen=True)
class XYChart:
    """Dots and lines over two axes."""

    title: str
    description: str  # for readers who cannot see it
    x: Axis
    y: Axis
    columns: Sequence[str]  # of the table of its numbers
    rows: Sequence[Sequence[str]]
    dots: Sequence[Dot] = ()
    lines: Sequence[Line] = ()
    reference: Line | None = None  # what the marks should lie on
    template: ClassVar[str] = "xy.html.jinja"

    @property
    def table(self) -> DataTable:
        return DataTable(self.title, self.columns, self.rows)

    def path(self, line: Line) -> str:
        """The points of a line in percent, as an SVG polyline has them."""
        return " ".join(f"{self.x.at(x):.2f},{self.y.from_top(y):.2f}" for x, y in line.points)


def plain(value: float) -> str:
    """A tick of numbers."""
    return f"{value:,g}"


def share(value: float) -> str:
    """A tick of shares."""
    return f"{100 * value:g}%"


def axis(
    label: str,
    values: Iterable[float],
    *,
    write: Callable[[float], str] = plain,
    zero: bool = False,
    margin: float = 0.0,
) -> Axis:
    """An axis from the least to the greatest value, with a margin beyond them and round ticks."""
    finite = [one for one in values if np.isfinite(one)] + ([0.0] if zero else [])
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    beyond = margin * (high - low)
    low, high = low - beyond, high + beyond
    step = _round_step((high - low) / _TICKS)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    places = [float(f"{step * count:.12g}") + 0.0 for count in np.arange(first, last + 1)]
    return Axis(label, low, high, [(at, write(at).replace("-", "−")) for at in places])


def bar_axis(label: str, bars: Iterable[Bar], write: Callable[[float], str] = plain) -> Axis:
    """An axis from zero that holds all bars and their intervals."""
    ends = [end for bar in bars for end in bar.interval or (bar.value,)]
    return axis(label, ends, write=write, zero=True)


def _round_step(least: float) -> float:
    """The least of 1, 2 or 5 times a power of ten that is at least so large."""
    power = 10.0 ** np.floor(np.log10(least))
    factors = (1, 2, 5, 10)
    return float(next(power * one for one in factors if power * one >= least * (1 - 1e-9)))
