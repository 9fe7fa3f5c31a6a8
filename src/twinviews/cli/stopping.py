"""SIGTERM and Ctrl-C: temporary files are removed, one line is printed, and the process ends.

Nothing is raised. A library can turn an exception into another error, and Python ignores those that
arise in finalizers or around a fork. Results appear by renaming a complete file, or in a transaction
of SQLite, so that the process may end at any moment.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from twinviews._system.temporary_files import remove_all_held

_STDERR = 2
# Back to the start of the line, and erase it: a progress bar may be there.
_CLEAR_LINE = "\r\x1b[K"


@contextmanager
def ends_when_stopped(message: str) -> Iterator[None]:
    """Within it a signal ends the process: exit code 130 after Ctrl-C, 143 after SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
        return
    process = os.getpid()

    def end(number: int, _: FrameType | None) -> None:
        if os.getpid() == process:  # a fork has neither files nor words of its own
            remove_all_held()
            start = _CLEAR_LINE if os.isatty(_STDERR) else ""
            with suppress(OSError):  # nobody may read it any more
                # Not by sys.stderr, which the signal may have interrupted.
                os.write(_STDERR, f"{start}Error: Stopped. {message}\n".encode())
        os._exit(128 + number)

    # A shell starts background jobs with Ctrl-C ignored, and it stays so.
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
