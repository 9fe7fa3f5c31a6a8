"""Evidence as sentences and short numbers, for a reader who knows the table but not statistics."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from twinviews.evaluation.confidence import Interval
from twinviews.report.charts import plain, share
from twinviews.report.evidence import Evidence
from twinviews.report.trial import ComparedMethod

_DIGITS = 3
_LONGEST = 60


def short(text: str) -> str:
    """The text, cut if it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def number(amount: float, like: float | None = None) -> str:
    """A number with three digits, or with the decimals that ``like`` would have."""
    if math.isnan(amount):
        return "unknown"
    if math.isinf(amount):
        return "infinity" if amount > 0 else "−infinity"
    size = abs(amount if like is None else like)
    if size == 0:
        return "0" if amount == 0 else number(amount)
    if not 1e-4 <= size < 1e7:
        return f"{amount:.{_DIGITS - 1}e}".replace("-", "−")
    decimals = _DIGITS - 1 - math.floor(math.log10(size))
    rounded = round(amount, decimals) + 0.0  # no zero with a minus
    return f"{rounded:,.{max(decimals, 0)}f}".replace("-", "−")


def percent(part: float) -> str:
    return f"{part:.0%}" if part in (0, 1) else f"{points(part)}%"


def points(part: float, digits: int = 1) -> str:
    """Percentage points, without the percent sign."""
    return f"{round(100 * part, digits) + 0.0:.{digits}f}".replace("-", "−")


def value(cell: Any) -> str:
    """A value as it stands in the table, cut if it is long."""
    if cell is None:
        return "blank"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ", timespec="seconds" if not cell.microsecond else "auto")
    return short(str(cell))


def error(evidence: Evidence, amount: float) -> str:
    """An error in units of the target, or as a share of the rows."""
    return number(amount) if evidence.task == "regression" else percent(amount)


def between(evidence: Evidence, interval: Interval) -> str:
    return f"{error(evidence, interval.low)} to {error(evidence, interval.high)}"


def axis_ticks(evidence: Evidence) -> Callable[[float], str]:
    """How an axis of errors or predictions is written."""
    return plain if evidence.task == "regression" else share


def growth(evidence: Evidence, amount: float) -> str:
    """The change of the error, or of a probability, when a column is shuffled."""
    if evidence.task == "regression":
        return number(amount, like=evidence.outcome.error.value)
    return f"{points(amount, 2)} points"


class Answer(NamedTuple):
    question: str
    short: str
    sentence: str


def answers(evidence: Evidence) -> list[Answer]:
    """The four answers of the first screen."""
    return [_accuracy(evidence), _precision(evidence), _comparison(evidence), _contribution(evidence)]


def _accuracy(evidence: Evidence) -> Answer:
    outcome = evidence.outcome
    question = "How good are the predictions?"
    if evidence.task == "regression":
        return Answer(
            question,
            f"off by {number(outcome.error.value)}",
            f"The root mean squared error (large errors count more), in units of the target, on "
            f"{outcome.n_test} labeled rows that the model had not seen.",
        )
    n_wrong = round(outcome.error.value * outcome.n_test) or "none"
    return Answer(
        question,
        f"{percent(outcome.error.value)} wrong",
        f"Of {outcome.n_test} labeled rows that the model had not seen, {n_wrong} "
        f"{'was' if n_wrong == 1 else 'were'} assigned to the wrong class.",
    )


def _precision(evidence: Evidence) -> Answer:
    outcome = evidence.outcome
    narrow = " More labels would make it narrower." if outcome.n_test < 100 else ""
    shared = " The five models share rows, so it is slightly too narrow." if outcome.n_folds > 1 else ""
    return Answer(
        "How certain is that?",
        between(evidence, outcome.error),
        f"The 95% confidence interval of the error, from {outcome.n_test} rows.{narrow}{shared}",
    )


def _comparison(evidence: Evidence) -> Answer:
    baselines = evidence.outcome.baselines
    verdicts = {baseline.verdict for baseline in baselines}
    constant = baselines[-1]
    if "worse" in verdicts:
        answer = "No"
    elif constant.verdict != "better":
        answer = "Not clearly better than a constant"
    elif "level" in verdicts:
        answer = "About as good as the best of them"
    else:
        answer = "Yes"
    sentences = []
    for verdict, begin in _COMPARED.items():
        names = [f"{one.name} ({relative(one)})" for one in baselines if one.verdict == verdict]
        if names:
            sentences.append(begin.format(_and(names)))
    return Answer("Better than simple methods?", answer, " ".join(sentences))


_COMPARED = {
    "better": "Its error is clearly lower than that of {}.",
    "level": "The difference from {} may be chance.",
    "worse": "Its error is clearly higher than that of {}.",
}


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def relative(other: ComparedMethod) -> str:
    """The model's error compared with another method's."""
    theirs = other.error.value
    if other.difference.value == 0:
        return "the same"
    if theirs == 0:
        return "which made no error"
    change = -other.difference.value / theirs
    return f"{abs(change):.0%} {'lower' if change < 0 else 'higher'}"


def _contribution(evidence: Evidence) -> Answer:
    question = "What did the unlabeled rows contribute?"
    alone = evidence.outcome.alone
    if alone is None:
        return Answer(question, "Not known", evidence.outcome.why_not_alone)
    without = f"Without them the error is {error(evidence, alone.error.value)}"
    interval = f"The 95% interval of the gain is {gain(evidence, alone)[1]}."
    if alone.verdict == "level":
        return Answer(question, "No clear gain", f"{without}; the difference may be chance. {interval}")
    harm = "They did harm. " if alone.verdict == "worse" else ""
    return Answer(question, f"{relative(alone)} error", f"{harm}{without}. {interval}")


def gain(evidence: Evidence, other: ComparedMethod) -> tuple[str, str]:
    """How much lower the model's error is, and the interval of that difference."""
    if evidence.task == "regression":
        gained, low, high = (number(end, like=evidence.outcome.error.value) for end in other.difference)
        return gained, f"{low} to {high}"
    gained, low, high = (points(end) for end in other.difference)
    return f"{gained} points", f"{low} to {high} percentage points"
