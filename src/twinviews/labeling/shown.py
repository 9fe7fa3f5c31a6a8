"""What the page shows. Plain values: the server turns them into JSON as they are."""

from __future__ import annotations

from dataclasses import dataclass

from twinviews.labeling.entries import Answer, Origin, Target


@dataclass(frozen=True)
class Fact:
    """One column of a row, and where its value lies among all rows."""

    name: str
    kind: str  # number, category, date, boolean
    text: str | None  # as a person reads it; None for a blank
    place: float | None  # share of all rows below it, of numbers and dates
    share: float | None  # share of all rows that have it, of words and of blanks
    bars: tuple[int, ...] = ()  # counts of all rows in bins of equal width over the usual range
    bar: int | None = None  # the bin that it is in


@dataclass(frozen=True)
class ClassProbability:
    name: str
    probability: float


@dataclass(frozen=True)
class Guess:
    """What the model would say, judged by labels so far."""

    value: float | str
    lower: float | None  # ends of the 90% interval, of numbers
    upper: float | None
    probabilities: tuple[ClassProbability, ...] = ()  # of classes, the likeliest first


@dataclass(frozen=True)
class Neighbour:
    """A labeled row that is much like the one asked for."""

    row: int
    label: float | str
    likeness: float  # 1 is the same row, 0 nothing in common
    differences: tuple[tuple[str, str], ...]  # columns that differ most, and what they hold


@dataclass(frozen=True)
class Card:
    """One row to be labeled."""

    row: int
    origin: Origin
    reason: str  # why this row, in words
    facts: tuple[Fact, ...]
    guess: Guess | None  # None until there are labels enough
    neighbours: tuple[Neighbour, ...]
    event: int  # the last event of this row, 0 if none: to be sent back as ``expects``
    answer: Answer | None  # what was said of it so far
    value: float | str | None


@dataclass(frozen=True)
class ErrorNow:
    """Error on rows drawn at random, each predicted without its label."""

    labels: int  # that the model had
    error: float  # root mean squared error, or share of wrong classes
    lower: float  # ends of its 90% interval
    upper: float


@dataclass(frozen=True)
class Promise:
    """What more labels would buy, from how the error fell so far."""

    more: int
    error: float
    lower: float
    upper: float
    words: str


@dataclass(frozen=True)
class State:
    """All but the card."""

    table: str  # name of the file
    rows: int
    targets: tuple[Target, ...]
    target: str  # the one shown
    version: int  # number of the last event in the store
    labeled: int
    skipped: int
    unsure: int
    unit: str  # what the error is: "root mean squared error" or "share of wrong classes"
    baseline: float | None  # error of always saying the mean, or the commonest class
    curve: tuple[ErrorNow, ...]  # from few labels to all there are; empty until there are enough
    promises: tuple[Promise, ...]
    model: str  # what the model is doing, in words
    undoable: bool


@dataclass(frozen=True)
class Found:
    """A row that a search found."""

    row: int
    words: str  # its first values, as a person reads them
    answer: Answer | None
    value: float | str | None


@dataclass(frozen=True)
class Imported:
    """What became of the labels of a file."""

    added: int
    unchanged: int
    conflicts: int  # rows that have another label here already, which was kept
    words: str
