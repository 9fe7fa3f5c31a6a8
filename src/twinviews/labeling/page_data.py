"""What the server sends to the page. The field names are those of the JSON."""

from __future__ import annotations

from dataclasses import dataclass

from twinviews.labeling.entries import Answer, LabelTarget, Origin


@dataclass(frozen=True)
class Fact:
    """One value of a row, and where it lies in the column's distribution."""

    name: str
    kind: str  # number, category, date, boolean
    text: str | None  # formatted for display; None for a blank
    place: float | None  # for numbers and dates, the share of rows below it
    share: float | None  # for words and blanks, the share of rows that have it
    bars: tuple[int, ...] = ()  # histogram of the column over its usual range
    bar: int | None = None  # the bin of this value


@dataclass(frozen=True)
class ClassProbability:
    name: str
    probability: float


@dataclass(frozen=True)
class ModelGuess:
    """The model's prediction for a row."""

    value: float | str
    lower: float | None  # for numbers, the ends of the 90% interval
    upper: float | None
    probabilities: tuple[ClassProbability, ...] = ()  # for classes, the most probable first


@dataclass(frozen=True)
class Neighbour:
    """A labeled row that is similar to the one on the card."""

    row: int
    label: float | str
    likeness: float  # similarity: 1 for an equal row, towards 0 for a distant one
    differences: tuple[tuple[str, str], ...]  # the columns that differ most, and their values


@dataclass(frozen=True)
class Card:
    """One row to be labeled."""

    row: int
    origin: Origin
    reason: str  # why this row was chosen, for display
    facts: tuple[Fact, ...]
    guess: ModelGuess | None  # None until there are enough labels
    neighbours: tuple[Neighbour, ...]
    event: int  # number of the row's last event, 0 if none; sent back as ``expects``
    answer: Answer | None  # the answer so far
    value: float | str | None


@dataclass(frozen=True)
class ErrorNow:
    """A point of the learning curve: the error on random rows, each predicted without its label."""

    labels: int  # number of labels of the fit
    error: float  # root mean squared error, or error rate
    lower: float  # ends of its 90% interval
    upper: float
    words: str  # as the command line tells it: the error and its interval, or that labels are too few


@dataclass(frozen=True)
class Promise:
    """The error to expect with more labels."""

    more: int
    error: float
    lower: float
    upper: float
    words: str


@dataclass(frozen=True)
class ToldInterval:
    """A number about all rows, for display."""

    title: str  # "Mean of price"
    value: str
    ends: str  # "139.8 to 144.7"
    share: tuple[float, float, float] | None  # of a share, the same as numbers


@dataclass(frozen=True)
class AnswerState:
    """The answer about all rows, if one is wanted."""

    on: bool  # whether rows come for such an answer
    half_width: float | None  # that is wanted
    intervals: tuple[ToldInterval, ...]
    words: str  # what is missing for an answer, or how many more labels the half-width needs


@dataclass(frozen=True)
class State:
    """Everything that the page shows besides the card."""

    table: str  # name of the file
    rows: int
    targets: tuple[LabelTarget, ...]
    target: str  # name of the one shown
    version: int  # number of the last event in the store
    labeled: int
    skipped: int
    unsure: int
    unit: str  # what the error is: "root mean squared error" or "error rate"
    baseline: float | None  # error of always predicting the mean, or the most frequent class
    curve: tuple[ErrorNow, ...]  # from few labels to all; empty until there are enough
    promises: tuple[Promise, ...]
    model: str  # status of the model, for display
    undoable: bool
    all_rows: AnswerState


@dataclass(frozen=True)
class FoundRow:
    """A search result."""

    row: int
    words: str  # its first values, for display
    answer: Answer | None
    value: float | str | None


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    added: int
    unchanged: int
    conflicts: int  # rows that have another label already, which was kept
    words: str  # the same, for display
