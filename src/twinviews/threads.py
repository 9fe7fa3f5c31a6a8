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
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class _OneBlasThread:
    """Hold BLAS to one thread while anybody is inside, and restore it when the last one leaves.

    The limit is a property of the process: nested or concurrent users that each saved and restored it
    would leave it wrong, so they are counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._threads_outside = 1
        self._limiter: object | None = None

    def enter(self) -> int:
        """Enter, and tell how many threads BLAS was allowed outside."""
        with self._lock:
            if self._inside == 0:
                blas = ThreadpoolController().select(user_api="blas")
                counts = [library["num_threads"] for library in blas.info()]
                self._threads_outside = max(counts, default=1)
                self._limiter = blas.limit(limits=1)
            self._inside += 1
            return self._threads_outside

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()  # type: ignore[union-attr]
                self._limiter = None


_blas = _OneBlasThread()


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Within it BLAS uses one thread; yields the number it was allowed outside.

    That number follows OMP_NUM_THREADS, threadpoolctl and joblib's workers, so it is also how many
    threads a pass should take when the user names none.
    """
    allowed = _blas.enter()
    try:
        yield allowed
    finally:
        _blas.leave()


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """``map`` over threads, results in the order of the items, few items in flight.

    The order makes sums over blocks independent of the number of threads, bit for bit; the small
    window keeps a long stream of blocks out of memory.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
