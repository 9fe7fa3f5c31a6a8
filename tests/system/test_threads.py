import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from twinviews._system.threads import map_in_order, one_blas_thread


def blas_threads():
    np.zeros((2, 2)) @ np.zeros((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread() as allowed, one_blas_thread() as inner:
            assert allowed == inner == max(before)
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_users_that_overlap_leave_the_limit_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        entered, leave = threading.Event(), threading.Event()

        def other():
            with one_blas_thread():
                entered.set()
                leave.wait(10)

        with one_blas_thread():
            thread = threading.Thread(target=other)
            thread.start()
            assert entered.wait(10)
        assert blas_threads() == {1}  # the other is still inside
        leave.set()
        thread.join()
        assert blas_threads() == before


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_map_keeps_the_order(n_threads):
    assert list(map_in_order(lambda i: i * i, range(100), n_threads)) == [i * i for i in range(100)]


def test_map_keeps_few_items_in_flight():
    taken = []

    def items():
        for i in range(1000):
            taken.append(i)
            yield i

    results = map_in_order(lambda i: i, items(), 2)
    next(results)
    assert len(taken) <= 6
