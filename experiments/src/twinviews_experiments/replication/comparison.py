"""Ours beside the paper's: means, spreads, reductions and differences in standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twinviews_experiments.datasets.paper_sets import PaperSet
from twinviews_experiments.replication.paper_methods import METHODS
from twinviews_experiments.replication.published_numbers import (
    FIGURE_LABELS,
    REPETITIONS,
    Published,
    published_errors,
)
from twinviews_experiments.replication.repetition_store import RepetitionStore

# The paper prints three decimals: the error of rounding is uniform over a width of 0.001.
_ROUNDING_VARIANCE = 0.001**2 / 12


class Cell(NamedTuple):
    """One method on one set with n labels."""

    error: float  # mean over the repetitions
    deviation: float  # standard deviation over them
    repetitions: int


@dataclass(frozen=True)
class Results:
    """All means and deviations of a run, with what the paper printed."""

    sets: tuple[PaperSet, ...]
    missing: dict[str, str]  # set name -> how to get it
    repetitions: int
    cells: dict[tuple[str, str, int], Cell]  # set name, method, n
    chosen: dict[tuple[str, str], tuple[float, float, float]]  # sigma, ridge, error of the folds
    seconds: dict[tuple[str, str], float | None]  # method, set name
    seconds_worked: float
    rows: dict[str, tuple[int, int, int]]  # training rows, columns, test rows of each set
    quick: bool

    def cell(self, paper_set: PaperSet, method: str, n: int) -> Cell:
        return self.cells[paper_set.name, method, n]

    def paper_cell(self, paper_set: PaperSet, method: str, n: int) -> Published | None:
        """What the paper printed for this set; None where it printed nothing comparable."""
        if not paper_set.comparable:
            return None
        return published_errors().get((paper_set.result_row, method.removesuffix(" literal"), n))


def results_of(
    store: RepetitionStore,
    sets: Sequence[PaperSet],
    missing: dict[str, str],
    rows: dict[str, tuple[int, int, int]],
    *,
    repetitions: int,
    quick: bool,
) -> Results:
    cells = {}
    chosen = {}
    for paper_set in sets:
        for method in METHODS:
            tuned = store.tuned(paper_set.name, method.name)
            assert tuned is not None, "the run is done"
            chosen[paper_set.name, method.name] = tuned[:3]
            for n in FIGURE_LABELS:
                errors = store.errors(paper_set.name, method.name, n, repetitions)
                cells[paper_set.name, method.name, n] = Cell(
                    float(errors.mean()), float(errors.std(ddof=1)), len(errors)
                )
    return Results(
        tuple(sets),
        missing,
        repetitions,
        cells,
        chosen,
        store.seconds(),
        store.seconds_worked(),
        rows,
        quick,
    )


def difference_in_standard_errors(ours: Cell, paper: Published) -> float:
    """(ours - paper's) over the standard error of the difference; both are means of repetitions."""
    variance = (
        ours.deviation**2 / ours.repetitions + paper.deviation**2 / REPETITIONS + _ROUNDING_VARIANCE
    )
    return (ours.error - paper.error) / float(np.sqrt(variance))


class Reduction(NamedTuple):
    """Mean over sets of how much lower a method's error and spread are, in percent."""

    error: float
    spread: float


def reduction(
    cells: Sequence[tuple[Cell | Published, Sequence[Cell | Published]]],
) -> Reduction:
    """Of each set's method against the better of its baselines, as the paper averages.

    Better means of lower mean error; its spread is then the one compared. Where the baseline has no
    spread at all, nothing can be lower, and the set counts as level if the method has none either.
    """
    errors, spreads = [], []
    for ours, baselines in cells:
        best = min(baselines, key=lambda cell: cell.error)
        errors.append(1 - ours.error / best.error)
        if best.deviation > 0:
            spreads.append(1 - ours.deviation / best.deviation)
        else:
            spreads.append(0.0 if ours.deviation == 0 else -1.0)
    return Reduction(100 * float(np.mean(errors)), 100 * float(np.mean(spreads)))


def our_reduction(results: Results, method: str, baselines: Sequence[str], n: int) -> Reduction:
    return reduction(
        [
            (results.cell(one, method, n), [results.cell(one, name, n) for name in baselines])
            for one in results.sets
        ]
    )


def paper_reduction(
    sets: Sequence[PaperSet], method: str, baselines: Sequence[str], n: int
) -> Reduction | None:
    """From the paper's printed errors, over the sets that are compared here."""
    printed = published_errors()
    rows = [one.result_row for one in sets if one.comparable]
    if not rows or any((rows[0], name, n) not in printed for name in (method, *baselines)):
        return None
    return reduction(
        [(printed[row, method, n], [printed[row, name, n] for name in baselines]) for row in rows]
    )


def sets_won(results: Results, method: str, rivals: Sequence[str], n: int) -> int:
    """On how many sets the method's mean error is below that of every rival."""
    return sum(
        results.cell(one, method, n).error < min(results.cell(one, name, n).error for name in rivals)
        for one in results.sets
    )


def is_no_worse(ours: Cell, paper: Published) -> bool:
    """Whether our error is at most the paper's plus two of its printed deviations."""
    return ours.error <= paper.error + 2 * paper.deviation


def no_worse_than_printed(results: Results, method: str, n: int) -> list[str]:
    """The complete sets on which that holds."""
    found = []
    for one in results.sets:
        paper = results.paper_cell(one, method, n)
        if one.whole and paper is not None and is_no_worse(results.cell(one, method, n), paper):
            found.append(one.name)
    return found
