"""The whole evaluation: side by side on all cores, every finished piece stored, resumable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.paper_sets import SETS_BY_NAME, PaperSet, load
from twinviews_experiments.datasets.preparation import Prepared
from twinviews_experiments.replication.paper_methods import METHODS, METHODS_BY_NAME
from twinviews_experiments.replication.protocol import (
    RIDGES,
    SEED,
    SIGMA_FACTORS,
    Tuned,
    chosen_in_full_run,
    repeat,
    tune,
)
from twinviews_experiments.replication.published_numbers import COMPONENTS, FIGURE_LABELS
from twinviews_experiments.replication.repetition_store import RepetitionStore
from twinviews_experiments.replication.runtimes import measure_seconds
from twinviews_experiments.worker_processes import as_they_come, bar_style, workers

# To be raised when a change of the protocol changes its numbers.
PROTOCOL_VERSION = 1


class Plan(NamedTuple):
    """What is to be run."""

    sets: Sequence[PaperSet]
    files: Files
    repetitions: int
    jobs: int
    quick: bool  # sigma and ridge of the full run, and no run times that take a minute


class Found(NamedTuple):
    """Which sets could be had."""

    present: list[PaperSet]
    missing: dict[str, str]  # set name -> how to get it
    rows: dict[str, tuple[int, int, int]]  # set name -> training rows, columns, test rows


def run(plan: Plan, store: RepetitionStore, say: Callable[[str], None]) -> Found:
    """Do what is not yet in the store."""
    found = _look_for_sets(plan, store, say)
    if not found.present:
        raise ValueError("None of the sets could be had. Name a folder with data files by --data.")
    names = [paper_set.name for paper_set in found.present]
    if plan.quick:
        for (name, method), tuned in chosen_in_full_run().items():
            if name in names and store.tuned(name, method) is None:
                store.add_tuned(name, method, tuned)
    with workers(plan.jobs) as pool:
        to_tune = [
            (name, method.name)
            for name in names
            for method in METHODS
            if store.tuned(name, method.name) is None
        ]
        for (name, method), tuned in as_they_come(
            pool, _tune, to_tune, plan.files, "1/3 choosing sigma and ridge"
        ):
            store.add_tuned(name, method, tuned)

        tuned_of = {name: _all_tuned(store, name) for name in names}
        done = {name: store.repetitions(name) for name in names}
        # All sets have their first repetition before any has its second: time left is then a fair
        # guess, and a run that is cut short is a smaller run of the same kind.
        to_repeat = [
            (name, repetition)
            for repetition in range(plan.repetitions)
            for name in names
            if repetition not in done[name]
        ]
        for (name, repetition), errors in as_they_come(
            pool, _repeat, to_repeat, (tuned_of, plan.files), "2/3 repetitions"
        ):
            store.add_repetition(name, repetition, FIGURE_LABELS, errors)
    measured = store.seconds()
    to_measure = [
        one for one in measure_seconds(plan.files, names, slow=not plan.quick) if one[0] not in measured
    ]
    if to_measure:
        for (method, name), measure in tqdm(to_measure, desc="3/3 run times", **bar_style()):
            store.add_seconds(method, name, measure())
    return found


def _look_for_sets(plan: Plan, store: RepetitionStore, say: Callable[[str], None]) -> Found:
    store.claim(
        "protocol",
        {
            "version": PROTOCOL_VERSION,
            "seed": SEED,
            "components": COMPONENTS,
            "sigma factors": SIGMA_FACTORS,
            "ridges": RIDGES,
            "methods": [method.name for method in METHODS],
        },
    )
    store.claim("kind", "quick" if plan.quick else "full")
    found = Found([], {}, {})
    for paper_set in plan.sets:
        try:
            data = load(paper_set, plan.files)
        except UnobtainableError as error:
            found.missing[paper_set.name] = str(error)
            say(f"{paper_set.name} is missing. {error}")
            continue
        store.claim(f"data of {paper_set.name}", data.fingerprint())
        found.present.append(paper_set)
        found.rows[paper_set.name] = (*data.X.shape, len(data.X_test))
    return found


def _all_tuned(store: RepetitionStore, name: str) -> dict[str, Tuned]:
    tuned = {method.name: store.tuned(name, method.name) for method in METHODS}
    return {method: choice for method, choice in tuned.items() if choice is not None}


# --- what a worker does ------------------------------------------------------------------------------


@cache
def _data(name: str, files: Files) -> Prepared:
    return load(SETS_BY_NAME[name], files)


def _tune(item: tuple[str, str], files: Files) -> Tuned:
    name, method = item
    paper_set = SETS_BY_NAME[name]
    return tune(METHODS_BY_NAME[method], _data(name, files), paper_set.task, paper_set.number)


def _repeat(
    item: tuple[str, int], shared: tuple[dict[str, dict[str, Tuned]], Files]
) -> dict[str, list[float]]:
    (name, repetition), (tuned_of, files) = item, shared
    paper_set = SETS_BY_NAME[name]
    data = _data(name, files)
    return {
        method.name: repeat(
            method, tuned_of[name][method.name], data, paper_set.task, paper_set.number, repetition
        )
        for method in METHODS
    }


STORE_NAME = "repetitions.sqlite"


def open_store(output: Path) -> RepetitionStore:
    return RepetitionStore(output / STORE_NAME)
