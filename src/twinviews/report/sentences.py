"""Evidence as sentences and short numbers, for a reader who knows the table but not statistics."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from twinviews.evaluation.told_rarity import ToldRarity
from twinviews.report.charts import plain, share
from twinviews.report.evidence import Evidence
from twinviews.report.trial import ComparedMethod

_DIGITS = 3
_LONGEST = 60


def short(text: str) -> str:
    """The text, cut if it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def capital(text: str) -> str:
    """With a capital letter at the start."""
    return text[:1].upper() + text[1:]


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
    """An error on hidden labels in units of the target, or as a share of the rows."""
    return number(amount) if evidence.task == "regression" else percent(amount)


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
    """The answers of the first screen; a rare class has one of its own."""
    rarity = evidence.told.rarity
    rare = [_rarity(evidence, rarity)] if rarity is not None and rarity.is_told else []
    found = [_accuracy(evidence), _precision(evidence), *rare]
    return [*found, _comparison(evidence), _contribution(evidence)]


def _accuracy(evidence: Evidence) -> Answer:
    told = evidence.told
    question = "How good are the predictions?"
    if told.short() == "unknown":
        return Answer(question, "Unknown", f"The {told.name} to expect is {told.words()}.")
    what = (
        "The share of rows in a wrong class"
        if told.is_rate
        else "Root mean squared error (large errors count more), in units of the target"
    )
    others = "; ".join(told._replace(rarity=None).others_in_words())
    return Answer(
        question,
        f"{told.short()} wrong" if told.is_rate else f"error {told.short()}",
        f"{what}, cross-validated: each label was predicted by a fit without it."
        f"{f' {capital(others)}.' if others else ''}",
    )


def _rarity(evidence: Evidence, rarity: ToldRarity) -> Answer:
    name = short(rarity.name)
    found = rarity.recall
    answer = "Unknown"
    if found == 0:
        answer = "It is never predicted"
    elif not math.isnan(found):
        answer = f"{found:.0%} of them are found"
    words = rarity.words(evidence.told.others)
    return Answer(f"How well is “{name}” found?", answer, f"{capital('; '.join(words))}.")


def _precision(evidence: Evidence) -> Answer:
    told = evidence.told
    from_labels = f"from {told.n_labels:,} labels"
    question = "How certain is that?"
    if not told.interval():
        return Answer(question, "Unknown", f"There is no interval of the error {from_labels}.")
    if told.too_few_labels:
        words = f"It is the 90% interval of the error, {from_labels}; more would make it narrower."
        return Answer(question, "Too few labels for one number", words)
    words = f"The 90% interval of the error on rows without a label, {from_labels}."
    return Answer(question, told.interval(), words)


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
    sentences.append("All were fitted with the same labels and judged on the same hidden ones.")
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
        answer = "Left out" if evidence.n_left_out else "Not known"
        return Answer(question, answer, evidence.outcome.why_not_alone)
    found = {"better": f"{relative(alone)} error", "level": "No clear gain", "worse": "They did harm"}
    chance = "; it may be chance" if alone.verdict == "level" else ""
    return Answer(question, found[alone.verdict], f"{gain_in_words(evidence, alone)}{chance}.")


def gain_in_words(evidence: Evidence, alone: ComparedMethod) -> str:
    """What the unlabeled rows contributed, without a full stop."""
    gained, interval = gain(evidence, alone)
    change = "lower" if alone.difference.value >= 0 else "higher"
    return (
        f"With them the error on hidden labels is {change} by {gained.lstrip('−')} (95% interval of "
        f"the gain: {interval})"
    )


def gain(evidence: Evidence, other: ComparedMethod) -> tuple[str, str]:
    """How much lower the model's error on hidden labels is, and the interval of that difference."""
    if evidence.task == "regression":
        gained, low, high = (number(end, like=evidence.outcome.error.value) for end in other.difference)
        return gained, f"{low} to {high}"
    gained, low, high = (points(end) for end in other.difference)
    return f"{gained} points", f"{low} to {high} percentage points"
