"""Long experiments on all cores: worker processes, results as they come, a bar with the time left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from twinviews._system.child_processes import end_with_parent

Item = TypeVar("Item")


@contextmanager
def workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that end with this one, even if it is killed.

    joblib's workers do not: they go on with their task, and wait for minutes after it.
    """
    # If this process is stopped, nobody is left to release them; the system does it.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    # A fresh interpreter each: a fork would copy the threads of BLAS in whatever state they are.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_worker() -> None:
    # There is a worker for each core, and sums do not depend on how many threads there are.
    threadpool_limits(1)
    # Ctrl-C reaches the whole group; the parent acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def as_they_come(
    pool: ProcessPoolExecutor,
    work: Callable[[Item, Any], Any],
    items: Sequence[Item],
    shared: Any,
    title: str,
) -> Iterator[tuple[Item, Any]]:
    """Pairs ``item, work(item, shared)`` of all items, in the order in which they are done."""
    if not items:
        return
    futures: dict[Future[Any], Item] = {pool.submit(work, item, shared): item for item in items}
    waiting = set(futures)
    with tqdm(total=len(items), desc=title, **bar_style()) as bar:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield futures.pop(future), future.result()
                bar.update()


def bar_style() -> dict[str, Any]:
    """Options of a progress bar: a bar on a terminal, in a log a line each minute."""
    if sys.stderr.isatty():
        return {"mininterval": 0.5, "smoothing": 0.05}
    return {"mininterval": 60, "smoothing": 0.05, "file": _LogLines()}


class _LogLines:
    """Standard error for a progress bar that is no bar: every state is a line of its own."""

    def write(self, text: str) -> None:
        if state := text.strip():
            sys.stderr.write(f"{state}\n")

    def flush(self) -> None:
        sys.stderr.flush()


def default_jobs() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
