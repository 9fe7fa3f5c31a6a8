"""Charts: where every mark goes, in percent, so that text keeps its size on any screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

_TICKS = 5


class DataTable(NamedTuple):
    """Numbers to read; the first cell of a row is its name."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    of_text: bool = False


class Tick(NamedTuple):
    at: float  # percent
    label: str


class Axis(NamedTuple):
    label: str
    low: float
    high: float
    ticks: tuple[Tick, ...]

    def at(self, place: float) -> float:
        """Percent of the way from the lower end; what lies beyond is put on the edge."""
        return float(np.clip(100 * (place - self.low) / (self.high - self.low), 0, 100))

    def from_top(self, place: float) -> float:
        return 100 - self.at(place)


class Bar(NamedTuple):
    label: str
    text: str  # its number
    start: float  # percent
    end: float
    whisker: tuple[float, float] | None
    ours: bool = False


@dataclass(frozen=True)
class BarChart:
    title: str
    description: str  # for readers who cannot see it
    axis: Axis
    bars: tuple[Bar, ...]
    table: DataTable
    dots: bool = False  # an interval with a dot in it instead of a bar


class Line(NamedTuple):
    label: str
    points: tuple[tuple[float, float], ...]  # percent from the left and from the top


class Dot(NamedTuple):
    x: float
    y: float
    whisker: tuple[float, float] | None = None


@dataclass(frozen=True)
class Plane:
    title: str
    description: str
    x: Axis
    y: Axis
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    reference: Line | None  # what the marks should lie on
    table: DataTable


def axis(
    label: str,
    values: Iterable[float],
    *,
    write: Callable[[float], str] | None = None,
    zero: bool = False,
    margin: float = 0.0,
) -> Axis:
    """From the least to the greatest of the values, and a margin beyond them; ticks are round."""
    finite = [one for one in values if np.isfinite(one)] + ([0.0] if zero else [])
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    beyond = margin * (high - low)
    low, high = low - beyond, high + beyond
    step = _round_step((high - low) / _TICKS)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    places = [float(f"{step * count:.12g}") + 0.0 for count in np.arange(first, last + 1)]
    ticks = tuple(
        Tick(100 * (at - low) / (high - low), (write or plain)(at).replace("-", "−")) for at in places
    )
    return Axis(label, low, high, ticks)


def _round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least so large."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(
        next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
    )


def plain(at: float) -> str:
    """A tick of numbers."""
    return f"{at:,g}"


def share(at: float) -> str:
    """A tick of shares."""
    return f"{100 * at:g}%"
