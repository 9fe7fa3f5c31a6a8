"""Who may use the cores: Python threads over blocks, one BLAS thread in each.

A multi-threaded BLAS on blocks of a few thousand rows spends its time on synchronisation (two to ten
times slower than one thread, see benchmarks/README.md). So while a pass runs, BLAS is held to one
thread and the blocks are spread over Python threads; NumPy releases the interpreter lock inside
matrix products, decompositions and ufuncs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class _OneBlasThread:
    """Hold BLAS to one thread while anybody is inside, and restore it when the last one leaves.

    For most builds the limit belongs to the process: nested or overlapping users that each saved and
    restored it would leave it wrong, so they are counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._libraries: list[LibController] = []
        self._before: list[int] = []

    def enter(self, look: bool) -> int:
        """Enter, and tell how many threads BLAS was allowed outside."""
        with self._lock:
            if self._inside == 0:
                if look or not self._libraries:
                    blas = ThreadpoolController().select(user_api="blas")
                    self._libraries = blas.lib_controllers
                self._before = [library.num_threads or 1 for library in self._libraries]
                self.limit()
            self._inside += 1
            return max(self._before, default=1)

    def limit(self) -> None:
        """One thread for whoever calls it; a build on OpenMP counts for each Python thread."""
        for library in self._libraries:
            _set_threads(library, 1)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, threads in zip(self._libraries, self._before, strict=True):
                    _set_threads(library, threads)


def _set_threads(library: LibController, threads: int) -> None:
    # Recent versions of threadpoolctl obey only the Python thread that set a limit first. Those
    # inside are counted here, and the last may leave from any thread, so the library is told directly.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


_blas = _OneBlasThread()


@contextmanager
def one_blas_thread(*, look: bool = True) -> Iterator[int]:
    """Within it BLAS uses one thread; yields the number it was allowed outside.

    To ``look`` for the BLAS libraries that are loaded takes a millisecond or two; without it those
    found last time are taken.

    That number follows OMP_NUM_THREADS, threadpoolctl and joblib's workers, so it is also how many
    threads a pass should take when the user names none.
    """
    allowed = _blas.enter(look)
    try:
        yield allowed
    finally:
        _blas.leave()


def _as_in_the_caller(floating_point: Any) -> None:
    """A thread of its own has neither the limit of BLAS nor what NumPy was told about overflow."""
    _blas.limit()
    np.seterr(**floating_point)


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """``map`` over threads, results in the order of the items, few items in flight.

    The order makes sums over blocks independent of the number of threads, bit for bit; the small
    window keeps a long stream of blocks out of memory. To be called within ``one_blas_thread``.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads, initializer=_as_in_the_caller, initargs=(np.geterr(),)) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
