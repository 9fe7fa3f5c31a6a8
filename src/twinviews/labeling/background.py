"""A process that fits while the page answers."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from twinviews.labeling.entries import Task
from twinviews.labeling.study import Labels, Study, make_study
from twinviews.side_by_side import end_with_parent


class Job(NamedTuple):
    target: str
    task: Task
    labels: Labels


class Background:
    """One study at a time. The process ends when this one does, even in the middle of a fit."""

    def __init__(self, X: np.ndarray, done: Callable[[str, Study | str], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, X), daemon=True)
        self._process.start()
        theirs.close()
        self._busy = threading.Event()
        self._done = done
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def busy(self) -> bool:
        return self._busy.is_set()

    def ask(self, job: Job) -> None:
        """Begin a study; ``done`` is called with it, or with the reason why there is none."""
        self._busy.set()
        self._pipe.send(job)

    def _listen(self) -> None:
        try:
            while True:
                target, outcome = self._pipe.recv()
                self._busy.clear()
                self._done(target, outcome)
        except (EOFError, OSError):
            return  # closed

    def close(self) -> None:
        self._pipe.close()
        self._process.terminate()
        self._process.join()


def _work(pipe: Connection, X: np.ndarray) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that we work for
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which lets libraries clean up
    end_with_parent()
    try:
        while True:
            target, task, labels = pipe.recv()
            try:
                outcome: Study | str = make_study(task, X, labels)
            except ValueError as error:
                outcome = str(error)
            pipe.send((target, outcome))
    except (EOFError, BrokenPipeError):
        return
