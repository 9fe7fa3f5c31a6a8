"""Errors and stops: one line with the way out, and exit codes that mean something."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

import click

from twinviews._system.temporary_files import remove_all_held
from twinviews._system.visible_text import visible

# The extra that installs a package which is imported late.
_EXTRA_OF = {
    "jinja2": "report", "markupsafe": "report", "matplotlib": "plots", "pyarrow": "files",
    "python_calamine": "excel", "starlette": "label", "uvicorn": "label", "xlsxwriter": "excel",
}  # fmt: skip
_WHEN_STOPPED = "Files that it said it wrote are complete, all others are as they were."
UNUSABLE, NO_FILE, NOT_INSTALLED = 3, 4, 5
_STDERR = 2
# Back to the start of the line, and erase it: a progress bar may be there.
_CLEAR_LINE = "\r\x1b[K"


def failure(message: str, exit_code: int) -> click.ClickException:
    """An error that click prints as one line, with its exit code."""
    error = click.ClickException(visible(" ".join(message.split())))
    error.exit_code = exit_code  # type: ignore[misc]  # which click reads off the object
    return error


@contextmanager
def plain_errors(*, when_stopped: str = _WHEN_STOPPED) -> Iterator[None]:
    """Turn whatever a user can mend into one line; stop in one line, too."""
    try:
        with _ends_when_stopped(when_stopped):
            yield
    except (click.ClickException, BrokenPipeError):  # which is no error of a file: see until_unread
        raise
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        name = f"'twinviews[{_EXTRA_OF[package]}]'" if package in _EXTRA_OF else package
        raise failure(f"{package} is not installed. Use: pip install {name}", NOT_INSTALLED) from error
    except ImportError as error:
        raise failure(str(error), NOT_INSTALLED) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise failure(f"{where}{error.strerror or error}.", NO_FILE) from error
    except ValueError as error:
        raise failure(str(error), UNUSABLE) from error


@contextmanager
def _ends_when_stopped(message: str) -> Iterator[None]:
    """Within it a signal ends the process: exit code 130 after Ctrl-C, 143 after SIGTERM.

    Temporary files are removed and one line is printed, but nothing is raised. A library can turn an
    exception into another error, and Python ignores those that arise in finalizers or around a fork.
    Results appear by renaming a complete file, or in a transaction of SQLite, so that the process may
    end at any moment.
    """
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


@contextmanager
def until_unread() -> Iterator[None]:
    """End with exit code 0 when nobody reads standard output any more, as after ``head``."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _into_nothing(sys.stdout)
        raise click.exceptions.Exit(0) from None


def say(line: str) -> None:
    """Print for a person, on standard error; standard output is for what was asked for."""
    # Names of columns come from strangers, and a terminal obeys some characters.
    shown = "\n".join(map(visible, line.split("\n")))
    try:
        click.echo(shown, err=True)
    except BrokenPipeError:  # the work goes on though nobody listens
        _into_nothing(sys.stderr)


def _into_nothing(stream: TextIO) -> None:
    """Discard what is still to be written to the stream."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
