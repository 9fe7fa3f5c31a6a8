"""Evidence in sentences and short numbers, for a reader who knows the table and no statistics."""

from __future__ import annotations

import datetime
import math
from typing import Any, NamedTuple

from twinviews.evaluation.confidence import Interval
from twinviews.report.evidence import Evidence
from twinviews.report.held_out import COVERAGES, HeldOutNumbers
from twinviews.report.trial import Rival

_DIGITS = 3
_LONGEST = 60


def short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def number(amount: float, like: float | None = None) -> str:
    """Three digits, or all that stand before the point; or as fine as another number is shown."""
    if math.isnan(amount):
        return "unknown"
    if math.isinf(amount):
        return "no end" if amount > 0 else "no start"
    size = abs(amount if like is None else like)
    if size == 0:
        return "0" if amount == 0 else number(amount)
    if not 1e-4 <= size < 1e7:
        return f"{amount:.{_DIGITS - 1}e}".replace("-", "−")
    decimals = _DIGITS - 1 - math.floor(math.log10(size))
    rounded = round(amount, decimals) + 0.0  # no zero with a minus
    return f"{rounded:,.{max(decimals, 0)}f}".replace("-", "−")


def percent(share: float) -> str:
    return f"{share:.0%}" if share in (0, 1) else f"{points(share)}%"


def points(share: float, digits: int = 1) -> str:
    """Hundredths, without their sign."""
    return f"{round(100 * share, digits) + 0.0:.{digits}f}".replace("-", "−")


def value(cell: Any) -> str:
    """A raw value as it stands in the table, cut if it is long."""
    if cell is None:
        return "blank"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ", timespec="seconds" if not cell.microsecond else "auto")
    return short(str(cell))


def error(evidence: Evidence, amount: float) -> str:
    """An error of this task: in units of the target, or a share of the rows."""
    return number(amount) if evidence.task == "regression" else percent(amount)


def between(evidence: Evidence, interval: Interval) -> str:
    return f"{error(evidence, interval.low)} to {error(evidence, interval.high)}"


def growth(evidence: Evidence, amount: float) -> str:
    """Of the error, or of probability, when a column is shuffled."""
    if evidence.task == "regression":
        return number(amount, like=evidence.outcome.error.value)
    return f"{points(amount, 2)} points"


class Answer(NamedTuple):
    question: str
    short: str
    sentence: str


def answers(evidence: Evidence) -> list[Answer]:
    """What the first screen says."""
    return [_how_good(evidence), _how_sure(evidence), _better(evidence), _bought(evidence)]


def _how_good(evidence: Evidence) -> Answer:
    outcome = evidence.outcome
    question = "How good are the predictions?"
    if evidence.task == "regression":
        return Answer(
            question,
            f"off by {number(outcome.error.value)}",
            f"The typical error (root mean square: large misses count more), in units of the target, "
            f"on {outcome.n_test} labeled rows that the model had not seen.",
        )
    n_wrong = round(outcome.error.value * outcome.n_test) or "none"
    return Answer(
        question,
        f"{percent(outcome.error.value)} wrong",
        f"Of {outcome.n_test} labeled rows that the model had not seen, {n_wrong} "
        f"{'was' if n_wrong == 1 else 'were'} put in the wrong class.",
    )


def _how_sure(evidence: Evidence) -> Answer:
    outcome = evidence.outcome
    narrow = " More labels would narrow it." if outcome.n_test < 100 else ""
    shared = " The five models share rows, so it is a little too narrow." if outcome.n_folds > 1 else ""
    return Answer(
        "How sure is that?",
        between(evidence, outcome.error),
        f"The 95% interval of the error: what {outcome.n_test} rows leave open.{narrow}{shared}",
    )


def _better(evidence: Evidence) -> Answer:
    rivals = evidence.outcome.baselines
    verdicts = {rival.verdict for rival in rivals}
    guess = rivals[-1]
    if "worse" in verdicts:
        answer = "No"
    elif guess.verdict != "better":
        answer = "Not clearly better than a guess"
    elif "level" in verdicts:
        answer = "On a par with the best of them"
    else:
        answer = "Yes"
    sentences = []
    for verdict, begin in _COMPARED.items():
        names = [f"{rival.name} ({relative(rival)})" for rival in rivals if rival.verdict == verdict]
        if names:
            sentences.append(begin.format(_and(names)))
    return Answer("Better than simple methods?", answer, " ".join(sentences))


_COMPARED = {
    "better": "Its error is clearly below that of {}.",
    "level": "Against {} the difference may be chance.",
    "worse": "Its error is clearly above that of {}.",
}


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def relative(rival: Rival) -> str:
    """The model's error against the rival's."""
    theirs = rival.error.value
    if rival.difference.value == 0:
        return "the same"
    if theirs == 0:
        return "which made no error"
    change = -rival.difference.value / theirs
    return f"{abs(change):.0%} {'lower' if change < 0 else 'higher'}"


def _bought(evidence: Evidence) -> Answer:
    question = "What did the unlabeled rows buy?"
    alone = evidence.outcome.alone
    if alone is None:
        return Answer(question, "Not known", evidence.outcome.why_not_alone)
    without = f"Without them the error is {error(evidence, alone.error.value)}"
    unit = "" if evidence.task == "regression" else " of a hundred"
    interval = f"The 95% interval of the gain is {gain(evidence, alone)[1]}{unit}."
    if alone.verdict == "level":
        return Answer(question, "No clear gain", f"{without}; the difference may be chance. {interval}")
    harm = "They did harm. " if alone.verdict == "worse" else ""
    return Answer(question, f"{relative(alone)} error", f"{harm}{without}. {interval}")


def gain(evidence: Evidence, rival: Rival) -> tuple[str, str]:
    """How much lower the model's error is, and the interval of that."""
    if evidence.task == "regression":
        gained, low, high = (number(end, like=evidence.outcome.error.value) for end in rival.difference)
        return gained, f"{low} to {high}"
    gained, low, high = (points(end) for end in rival.difference)
    return f"{gained} points", f"{low} to {high} points"


def how_judged(evidence: Evidence) -> str:
    outcome, found = evidence.outcome, evidence.found
    if outcome.n_folds == 1:
        hidden = f"{outcome.n_test} of the {found.n_labeled_used} labels were hidden at random."
        fitted = f"The model was fitted on the other {outcome.n_train}"
    else:
        hidden = f"The {found.n_labeled_used} labels were hidden in turn, a fifth at a time."
        fitted = f"Each time the model was fitted on the others (about {outcome.n_train})"
    unlabeled = ""
    if found.n_unlabeled_used:
        unlabeled = f" and {found.n_unlabeled_used:,} rows without a label"
    return (
        f"{hidden} {fitted}{unlabeled}, and judged on the hidden ones. The baselines were fitted on "
        f"the same labels and judged on the same rows."
    )


def only_a_part(evidence: Evidence) -> str:
    """Said where the table is larger than what the report is made of."""
    found = evidence.found
    parts = []
    if found.n_labeled_used < found.n_labeled:
        parts.append(f"{found.n_labeled_used:,} of the {found.n_labeled:,} labeled rows")
    if found.n_unlabeled_used < found.n_unlabeled:
        parts.append(f"{found.n_unlabeled_used:,} of the {found.n_unlabeled:,} rows without a label")
    return (
        f"To be quick, this report is made of {' and '.join(parts)}, drawn at random." if parts else ""
    )


def trust(evidence: Evidence) -> str:
    """Whether the model's word on its own errors holds."""
    held_out = evidence.outcome.held_out
    if isinstance(held_out, HeldOutNumbers):
        ninety = held_out.coverage()[COVERAGES.index(0.9)]
        holds = ninety.inside.low <= ninety.promised <= ninety.inside.high
        verdict = "as promised, within chance" if holds else "not as promised"
        return (
            f"Its 90% intervals held the true value of {percent(ninety.inside.value)} of the hidden "
            f"rows (95% interval: {percent(ninety.inside.low)} to {percent(ninety.inside.high)}): "
            f"{verdict}. They are {number(ninety.width)} wide on average."
        )
    return (
        f"Its sureness is off by {percent(held_out.calibration_error)} on average (the expected "
        f"calibration error): of rows that it calls 80% sure, about 80% should be right."
    )
