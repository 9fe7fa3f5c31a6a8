"""The standings of a contest: errors of all rounds, and ranks, wins and the best in hindsight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from twinviews.evaluation.paired_comparison import Paired
from twinviews_experiments.contest.competing_methods import PEERS, PEERS_BY_NAME
from twinviews_experiments.contest.contest_sets import ContestSet
from twinviews_experiments.contest.play_rounds import Contest, Entered, Rounds
from twinviews_experiments.csv_and_markdown import write_csv
from twinviews_experiments.datasets.preparation import Task

OURS = "XNV"
BASELINE = "KRR"


class Doubts(NamedTuple):
    """What a method says of its own errors, against the truth; None where it says nothing."""

    calibration: float | None  # expected calibration error
    coverage: float | None  # share of the test rows inside their 90% interval
    width: float | None  # of the interval, in deviations of the target
    auc: float | None  # of probabilities, each class against the rest
    log_loss: float | None


@dataclass(frozen=True)
class Standings:
    """Errors of all rounds that were asked for."""

    sets: tuple[ContestSet, ...]
    labels: dict[str, list[int]]
    missing: dict[str, str]
    methods: tuple[str, ...]
    draws: dict[int, int]  # of each n
    errors: dict[tuple[str, int, str], np.ndarray]  # set, n, method -> (repetitions,)
    seconds: dict[tuple[str, int, str], float]  # mean over the repetitions
    doubts: dict[tuple[str, int, str], Doubts]
    failures: dict[tuple[str, int, str], list[str]]  # what went wrong, where something did
    seconds_worked: float

    def methods_of(self, task: Task, n: int) -> list[str]:
        return [name for name in self.methods if PEERS_BY_NAME[name].takes(task, n)]

    def methods_of_some(self, task: Task, numbers: Sequence[int]) -> list[str]:
        """Those that take part with one of these numbers of labels."""
        return [
            name for name in self.methods if any(PEERS_BY_NAME[name].takes(task, n) for n in numbers)
        ]

    def mean(self, one: ContestSet, n: int, method: str) -> float:
        return float(self.errors[one.name, n, method].mean())

    def sets_with(self, n: int, task: Task) -> list[ContestSet]:
        return [one for one in self.sets if one.task == task and n in self.labels[one.name]]


def standings_of(contest: Contest, entered: Entered, rounds: Rounds) -> Standings:
    methods = tuple(peer.name for peer in PEERS if peer.name in contest.methods and peer.present)
    errors, seconds, doubts, failures = {}, {}, {}, {}
    for one in entered.sets:
        for n in entered.labels[one.name]:
            for method in methods:
                if not PEERS_BY_NAME[method].takes(one.task, n):
                    continue
                outcomes = [
                    rounds.outcome(one.name, repetition, n, method)
                    for repetition in range(contest.repetitions[n])
                ]
                errors[one.name, n, method] = np.array([outcome.error for outcome in outcomes])
                seconds[one.name, n, method] = float(np.mean([outcome.seconds for outcome in outcomes]))
                doubts[one.name, n, method] = Doubts(
                    *(
                        mean_of_known([getattr(outcome, name) for outcome in outcomes])
                        for name in Doubts._fields
                    )
                )
                failed = [outcome.failure for outcome in outcomes if outcome.failure is not None]
                if failed:
                    failures[one.name, n, method] = failed
    return Standings(
        tuple(entered.sets),
        entered.labels,
        entered.missing,
        methods,
        contest.repetitions,
        errors,
        seconds,
        doubts,
        failures,
        rounds.seconds_worked(),
    )


def mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def write_means(standings: Standings, path: Path) -> None:
    """Every mean with all its digits, for programs."""
    tasks = {one.name: (one.half, one.task) for one in standings.sets}
    columns = ("set", "half", "task", "n", "method", "draws", "error", "deviation", "seconds")
    rows = [
        (
            name,
            *tasks[name],
            n,
            method,
            len(errors),
            errors.mean(),
            errors.std(),
            standings.seconds[name, n, method],
            *standings.doubts[name, n, method],
        )
        for (name, n, method), errors in standings.errors.items()
    ]
    write_csv(path, (*columns, *Doubts._fields), rows)


def mean_ranks(errors: np.ndarray) -> np.ndarray:
    """(methods,) mean rank over the rows of a (sets, methods) table of errors; 1 is the best."""
    return np.asarray(rankdata(errors, axis=1).mean(axis=0))


def best_of_others(errors: np.ndarray, place: int) -> np.ndarray:
    """(sets,) the lowest error of any other method on each set, chosen in hindsight."""
    return np.asarray(np.delete(errors, place, axis=1).min(axis=1))


def tally(comparisons: Sequence[Paired]) -> str:
    """How many comparisons are wins, level and losses."""
    verdicts = [one.verdict for one in comparisons]
    return ", ".join(str(verdicts.count(word)) for word in ("win", "level", "loss"))
