"""The standings of a contest as tables to read: errors, ratios, ranks, wins and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twinviews.contest.peers import PEERS, PEERS_BY_NAME
from twinviews.contest.run import Contest, Entered, Rounds
from twinviews.contest.sets import ContestSet
from twinviews.contest.statistics import Paired, best_of_others, mean_ranks, paired_ratio, tally
from twinviews.datasets.preparation import Task
from twinviews.text_tables import TextTable

OURS = "XNV"
BASELINE = "KRR"


@dataclass(frozen=True)
class Standings:
    """Errors of all rounds that were asked for."""

    sets: tuple[ContestSet, ...]
    labels: dict[str, list[int]]
    missing: dict[str, str]
    methods: tuple[str, ...]
    repetitions: int
    errors: dict[tuple[str, int, str], np.ndarray]  # set, n, method -> (repetitions,)
    seconds: dict[tuple[str, int, str], float]  # mean over the repetitions
    failures: dict[tuple[str, int, str], list[str]]  # what went wrong, where something did
    seconds_worked: float

    def methods_of(self, task: Task) -> list[str]:
        return [name for name in self.methods if task in PEERS_BY_NAME[name].tasks]

    def mean(self, one: ContestSet, n: int, method: str) -> float:
        return float(self.errors[one.name, n, method].mean())

    def sets_with(self, n: int, task: Task) -> list[ContestSet]:
        return [one for one in self.sets if one.task == task and n in self.labels[one.name]]


def standings_of(contest: Contest, entered: Entered, rounds: Rounds) -> Standings:
    methods = tuple(peer.name for peer in PEERS if peer.name in contest.methods and peer.present)
    errors, seconds, failures = {}, {}, {}
    for one in entered.sets:
        for n in entered.labels[one.name]:
            for method in methods:
                if one.task not in PEERS_BY_NAME[method].tasks:
                    continue
                outcomes = [
                    rounds.outcome(one.name, repetition, n, method)
                    for repetition in range(contest.repetitions)
                ]
                errors[one.name, n, method] = np.array([outcome.error for outcome in outcomes])
                seconds[one.name, n, method] = float(np.mean([outcome.seconds for outcome in outcomes]))
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
        failures,
        rounds.seconds_worked(),
    )


def all_tables(standings: Standings) -> list[TextTable]:
    tasks: tuple[Task, ...] = ("regression", "classification")
    found = []
    for task in tasks:
        numbers = sorted(
            {n for one in standings.sets if one.task == task for n in standings.labels[one.name]}
        )
        if numbers:
            found.append(summary_table(standings, task, numbers))
            found += [errors_table(standings, task, n) for n in numbers]
    return found


def errors_table(standings: Standings, task: Task, n: int) -> TextTable:
    """Mean errors, set by set."""
    methods = standings.methods_of(task)
    rows = []
    for one in standings.sets_with(n, task):
        means = [standings.mean(one, n, method) for method in methods]
        least = min(means)
        cells = [f"**{mean:.3f}**" if mean == least else f"{mean:.3f}" for mean in means]
        rows.append((one.name, one.half, *cells))
    measure = "normalised squared error" if task == "regression" else "error rate"
    return TextTable(
        f"{task}_{n}",
        f"{task.capitalize()}, n = {n}: {measure}",
        ("set", "half", *methods),
        tuple(rows),
        f"Means over {standings.repetitions} draws; the least of a row in bold.",
    )


def summary_table(standings: Standings, task: Task, numbers: list[int]) -> TextTable:
    """For each method and n: ratio to the baseline, to ours, rank, wins and time."""
    methods = standings.methods_of(task)
    rows = []
    for n in numbers:
        sets = standings.sets_with(n, task)
        errors = np.array([[standings.mean(one, n, method) for method in methods] for one in sets])
        ranks = mean_ranks(errors)
        for place, method in enumerate(methods):
            row = [str(n), method]
            row.append(_ratio(_against(errors, methods, place, BASELINE)))
            row.append(_ratio(_against(errors, methods, place, OURS)))
            row.append(_hindsight(errors, place))
            row.append(f"{ranks[place]:.1f}")
            row.append(_tally(standings, sets, n, method))
            row.append(f"{np.median([standings.seconds[one.name, n, method] for one in sets]):.2f}")
            rows.append(tuple(row))
    return TextTable(
        f"{task}_summary",
        f"{task.capitalize()}: all sets together",
        (
            "n",
            "method",
            f"error / {BASELINE}'s",
            f"error / {OURS}'s",
            "error / best other's of each set",
            "mean rank",
            f"wins, level, losses against {OURS}",
            "seconds to tune and fit",
        ),
        tuple(rows),
        "Geometric means over the sets, with 95% intervals over the sets. The best other method of "
        "each set is chosen in hindsight. A win is a paired difference over the draws whose 95% "
        "interval excludes zero.",
    )


def _against(errors: np.ndarray, methods: list[str], place: int, rival: str) -> Paired | None:
    if rival not in methods or methods[place] == rival:
        return None
    return paired_ratio(errors[:, place], errors[:, methods.index(rival)])


def _hindsight(errors: np.ndarray, place: int) -> str:
    if errors.shape[1] < 2:
        return ""
    return f"{paired_ratio(errors[:, place], best_of_others(errors, place)).ratio:.3f}"


def _tally(standings: Standings, sets: list[ContestSet], n: int, method: str) -> str:
    if method == OURS or OURS not in standings.methods:
        return ""
    return ", ".join(
        str(count)
        for count in tally(
            [
                paired_ratio(standings.errors[one.name, n, method], standings.errors[one.name, n, OURS])
                for one in sets
            ]
        )
    )


def _ratio(paired: Paired | None) -> str:
    if paired is None:
        return ""
    if not np.isfinite(paired.high):
        return f"{paired.ratio:.3f}"
    return f"{paired.ratio:.3f} ({paired.low:.3f} to {paired.high:.3f})"
