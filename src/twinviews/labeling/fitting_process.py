"""A process that fits models while the page answers requests."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from twinviews._system.child_processes import end_with_parent
from twinviews.labeling.entries import Task
from twinviews.labeling.live_model import AskedOfAllRows, FullFit, RowLabels, fit_fully

_KILLED = "the fitting process was killed. Is there too little memory?"


class FitJob(NamedTuple):
    """What a full fit needs besides the candidate rows."""

    target: str
    task: Task
    labels: RowLabels
    n_rows: int  # of the whole table
    seed: int
    asked: AskedOfAllRows | None = None


class FittingProcess:
    """One full fit at a time. The process ends when this one does, even in the middle of a fit.

    If it is killed, as by a system that is short of memory, the next request starts another one.
    """

    def __init__(self, X: np.ndarray, done: Callable[[str, FullFit | str], None]) -> None:
        self._X, self._done = X, done
        self.busy = False  # whether a fit is running
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._X), daemon=True)
        self._process.start()
        theirs.close()

    def request(self, job: FitJob) -> None:
        """Begin a full fit; ``done`` is called with it, or with the reason why there is none."""
        if not self._process.is_alive():
            self.close()
            self._start()
        self.busy = True
        threading.Thread(target=self._wait, args=[job, self._pipe], daemon=True).start()

    def _wait(self, job: FitJob, pipe: Connection) -> None:
        try:
            pipe.send(job)
            outcome = pipe.recv()
        except (EOFError, OSError):
            if pipe.closed:  # by us
                return
            outcome = _KILLED
        self.busy = False
        self._done(job.target, outcome)

    def close(self) -> None:
        """End the process, even in the middle of a fit."""
        self._pipe.close()
        self._process.terminate()
        self._process.join()


def _work(pipe: Connection, X: np.ndarray) -> None:
    threadpool_limits(1)  # the page's process needs the other cores
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which lets libraries clean up
    end_with_parent()
    try:
        while True:
            job: FitJob = pipe.recv()
            try:
                outcome: FullFit | str = fit_fully(
                    job.task, X, job.labels, job.n_rows, job.seed, job.asked
                )
            except Exception as error:  # the page goes on, and shows it
                outcome = str(error) if isinstance(error, ValueError) else repr(error)
            pipe.send(outcome)
    except (EOFError, BrokenPipeError):
        return
