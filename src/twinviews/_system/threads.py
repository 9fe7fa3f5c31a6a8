"""Python threads over blocks of rows, with one BLAS thread in each.

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
    """Hold BLAS to one thread while any caller is inside; restore it when the last one leaves.

    In most builds the limit belongs to the process. Nested or overlapping callers that each saved and
    restored it would leave it wrong, so callers are counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._libraries: list[LibController] = []
        self._before: list[int] = []

    @contextmanager
    def held(self, *, look: bool = True) -> Iterator[int]:
        """Hold BLAS to one thread; yield the number of threads that it may use outside.

        That number follows OMP_NUM_THREADS, threadpoolctl and joblib's workers, so it is also the
        default number of threads of a pass. To ``look`` for the BLAS libraries that are loaded takes a
        millisecond or two; without it those found last time are used.
        """
        with self._lock:
            if self._inside == 0:
                if look or not self._libraries:
                    self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._before = [library.num_threads or 1 for library in self._libraries]
                self.limit()
            self._inside += 1
            allowed = max(self._before, default=1)
        try:
            yield allowed
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    for library, threads in zip(self._libraries, self._before, strict=True):
                        _set_threads(library, threads)

    def limit(self) -> None:
        """Limit BLAS in this Python thread, too: with OpenMP each one has a limit of its own."""
        for library in self._libraries:
            _set_threads(library, 1)


def _set_threads(library: LibController, threads: int) -> None:
    # Recent versions of threadpoolctl obey only the Python thread that set a limit first. Here the last
    # caller may leave from any thread, so the library is called directly.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


_blas = _OneBlasThread()
one_blas_thread = _blas.held


def _as_in_the_caller(floating_point: Any) -> None:
    """Give a new thread the limit of BLAS and NumPy's floating-point settings of the caller."""
    _blas.limit()
    np.seterr(**floating_point)


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Results of ``map`` over threads, in the order of the items, with few items in flight.

    The order makes sums over blocks independent of the number of threads, bit for bit. Few items in
    flight keep a long stream of blocks out of memory. Call it within ``one_blas_thread``.
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
