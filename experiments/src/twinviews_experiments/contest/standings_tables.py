"""The standings of a contest as tables to read: errors, ratios, ranks, wins and time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinviews.evaluation.paired_comparison import Paired, paired_ratio
from twinviews_experiments.contest.contest_sets import ContestSet
from twinviews_experiments.contest.standings import (
    BASELINE,
    OURS,
    Standings,
    best_of_others,
    mean_of_known,
    mean_ranks,
    tally,
)
from twinviews_experiments.csv_and_markdown import TextTable
from twinviews_experiments.datasets.preparation import Task


def all_tables(standings: Standings) -> list[TextTable]:
    tasks: tuple[Task, ...] = ("regression", "classification")
    found = []
    for task in tasks:
        numbers = sorted(
            {n for one in standings.sets if one.task == task for n in standings.labels[one.name]}
        )
        if numbers:
            found.append(summary_table(standings, task, numbers))
            found += (
                [coverage_table(standings, numbers)]
                if task == "regression"
                else [measure_table(standings, numbers, measure) for measure in MEASURES]
            )
            found += [errors_table(standings, task, n) for n in numbers]
    return found


def errors_table(standings: Standings, task: Task, n: int) -> TextTable:
    """Mean errors, set by set."""
    methods = standings.methods_of(task, n)
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
        f"Means over draws ({standings.draws[n]}); the least of a row in bold.",
    )


def summary_table(standings: Standings, task: Task, numbers: list[int]) -> TextTable:
    """For each method and n: ratio to the baseline, to ours, rank, wins and time."""
    rows = []
    for n in numbers:
        methods = standings.methods_of(task, n)
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


class Measure(NamedTuple):
    """A measure of probabilities, as a table shows it."""

    field: str  # of Doubts
    title: str
    note: str


MEASURES = (
    Measure(
        "auc",
        "area under the ROC curve",
        "The probability that a row of a class has a higher probability of it than a row of another "
        "class, weighted by how many rows each class has",
    ),
    Measure(
        "log_loss",
        "log loss",
        "Minus the logarithm of the probability of the true class, which counts as one in a million if "
        "it is said to be less",
    ),
    Measure(
        "calibration",
        "expected calibration error",
        "How far the probability of the most likely class is from the share of rows that are of it, in "
        "10 bins of equal width",
    ),
)


def measure_table(standings: Standings, numbers: list[int], measure: Measure) -> TextTable:
    """A measure of each method with probabilities, the mean over the sets."""
    rows = []
    for method in standings.methods_of_some("classification", numbers):
        cells = []
        for n in numbers:
            found = [
                getattr(standings.doubts[one.name, n, method], measure.field)
                for one in standings.sets_with(n, "classification")
                if (one.name, n, method) in standings.doubts
            ]
            mean = mean_of_known(found)
            cells.append("" if mean is None else f"{mean:.3f}")
        if any(cells):
            rows.append((method, *cells))
    return TextTable(
        f"classification_{measure.field}",
        f"Classification: {measure.title}",
        ("method", *(f"n = {n}" for n in numbers)),
        tuple(rows),
        f"{measure.note}; the mean over sets and draws. Methods without probabilities are left out.",
    )


def coverage_table(standings: Standings, numbers: list[int]) -> TextTable:
    """For each set, the share of test rows inside the 90% interval, and how wide it is."""
    rows = []
    for one in standings.sets:
        for method in standings.methods_of_some("regression", numbers):
            found = [standings.doubts.get((one.name, n, method)) for n in numbers]
            cells = [
                ""
                if doubts is None or doubts.coverage is None
                else f"{100 * doubts.coverage:.1f}% ({doubts.width:.2f})"
                for doubts in found
            ]
            if any(cells):
                rows.append((one.name, one.half, method, *cells))
    return TextTable(
        "regression_coverage",
        "Regression: 90% intervals",
        ("set", "half", "method", *(f"n = {n}" for n in numbers)),
        tuple(rows),
        "Share of the test rows inside their interval and, in brackets, its mean width in standard "
        "deviations of the target; means over the draws. Methods without intervals are left out.",
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
    return tally(
        [
            paired_ratio(standings.errors[one.name, n, method], standings.errors[one.name, n, OURS])
            for one in sets
        ]
    )


def _ratio(paired: Paired | None) -> str:
    if paired is None:
        return ""
    if not np.isfinite(paired.high):
        return f"{paired.ratio:.3f}"
    return f"{paired.ratio:.3f} ({paired.low:.3f} to {paired.high:.3f})"
