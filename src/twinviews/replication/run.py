"""The whole evaluation: side by side on all cores, every finished piece stored, resumable."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from twinviews.datasets.downloads import Files, UnobtainableError
from twinviews.datasets.paper_sets import SETS_BY_NAME, PaperSet, load
from twinviews.datasets.preparation import Prepared
from twinviews.replication.methods import METHODS, METHODS_BY_NAME
from twinviews.replication.paper import COMPONENTS, FIGURE_LABELS
from twinviews.replication.protocol import (
    RIDGES,
    SEED,
    SIGMA_FACTORS,
    Tuned,
    chosen_in_full_run,
    repeat,
    tune,
)
from twinviews.replication.runtimes import measure_seconds
from twinviews.replication.store import Store

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


def run(plan: Plan, store: Store, say: Callable[[str], None]) -> Found:
    """Do what is not yet in the store."""
    found = _look_for_sets(plan, store, say)
    names = [paper_set.name for paper_set in found.present]
    if plan.quick:
        for (name, method), tuned in chosen_in_full_run().items():
            if name in names and store.tuned(name, method) is None:
                store.add_tuned(name, method, tuned)
    with _workers(plan.jobs) as pool:
        to_tune = [
            (name, method.name)
            for name in names
            for method in METHODS
            if store.tuned(name, method.name) is None
        ]
        for (name, method), tuned in _side_by_side(
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
        for (name, repetition), errors in _side_by_side(
            pool, _repeat, to_repeat, (tuned_of, plan.files), "2/3 repetitions"
        ):
            store.add_repetition(name, repetition, FIGURE_LABELS, errors)
    measured = store.seconds()
    for (method, name), measure in tqdm(
        measure_seconds(plan.files, names, slow=not plan.quick),
        desc="3/3 run times",
        **_bar_style(),
    ):
        if (method, name) not in measured:
            store.add_seconds(method, name, measure())
    return found


def _look_for_sets(plan: Plan, store: Store, say: Callable[[str], None]) -> Found:
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


def _all_tuned(store: Store, name: str) -> dict[str, Tuned]:
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


# --- many workers ------------------------------------------------------------------------------------


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    # A fresh interpreter each: a fork would copy the threads of BLAS in whatever state they are.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_worker() -> None:
    """A worker leaves the keyboard to its parent, and ends with it however that ends.

    One BLAS thread: there is a worker for each core, and sums do not depend on how many there are.
    """
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _side_by_side(
    pool: ProcessPoolExecutor,
    work: Callable[[Any, Any], Any],
    items: Sequence[Any],
    shared: Any,
    title: str,
) -> Iterator[tuple[Any, Any]]:
    """Results as they come, with a bar and the time left."""
    futures: dict[Future[Any], Any] = {pool.submit(work, item, shared): item for item in items}
    waiting = set(futures)
    with tqdm(total=len(items), desc=title, **_bar_style()) as bar:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield futures.pop(future), future.result()
                bar.update()


def _bar_style() -> dict[str, Any]:
    """A bar on a terminal; in a log a line now and then."""
    return {"mininterval": 0.5 if sys.stderr.isatty() else 60, "smoothing": 0.05, "leave": True}


def default_jobs() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


STORE_NAME = "repetitions.sqlite"


def open_store(output: Path) -> Store:
    output.mkdir(parents=True, exist_ok=True)
    return Store(output / STORE_NAME)
