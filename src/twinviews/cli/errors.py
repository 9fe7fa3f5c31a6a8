"""Errors of one line with the way out, and exit codes that mean something."""

from __future__ import annotations

import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, TextIO

import click

from twinviews._system.temporary_files import Held
from twinviews._system.visible_text import visible

# Which extra brings a package that is imported late.
_EXTRA_OF = {
    "jinja2": "report", "lightgbm": "peers", "markupsafe": "report", "matplotlib": "replicate",
    "pyarrow": "files", "python_calamine": "excel", "starlette": "label", "uvicorn": "label",
    "xlsxwriter": "excel",
}  # fmt: skip
_WHEN_STOPPED = "Files that it said it wrote are complete, all others are as they were."
# What is done in full before a command stops.
_UNDISTURBED = (Held.release.__code__, weakref.finalize.__call__.__code__)
_SOON = 0.02  # seconds
# Those that were raised: a library that was called at that moment may make another error of one.
_stops: list[KeyboardInterrupt] = []
UNUSABLE, NO_FILE, NOT_INSTALLED, STOPPED, TERMINATED = 3, 4, 5, 130, 143


def _failure(message: str, exit_code: int) -> click.ClickException:
    failure = click.ClickException(visible(" ".join(message.split())))
    failure.exit_code = exit_code  # type: ignore[misc]  # which click reads off the object
    return failure


@contextmanager
def plain_errors(extra: str, *, when_stopped: str = _WHEN_STOPPED) -> Iterator[None]:
    """One line for whatever a user can mend."""
    try:
        yield
    except click.ClickException:
        raise
    except (Exception, KeyboardInterrupt) as error:
        stopped = [error] if isinstance(error, KeyboardInterrupt) else _stops
        if stopped:
            exit_code = TERMINATED if isinstance(stopped[-1], TerminatedError) else STOPPED
            raise _failure(f"Stopped. {when_stopped}", exit_code) from None
        failure = _plain(error, extra)
        if failure is None:
            raise
        raise failure from error


def _plain(error: BaseException, extra: str) -> click.ClickException | None:
    match error:
        case ModuleNotFoundError():
            package = str(error.name).partition(".")[0]
            extra = _EXTRA_OF.get(package, extra)
            way_out = f"Use: pip install 'twinviews[{extra}]'"
            return _failure(f"{package} is not installed. {way_out}", NOT_INSTALLED)
        case ImportError():
            return _failure(str(error), NOT_INSTALLED)
        case BrokenPipeError():
            return None  # no error of a file: see until_unread
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return _failure(f"{where}{error.strerror or error}.", NO_FILE)
        case ValueError():
            return _failure(str(error), UNUSABLE)
    return None


class TerminatedError(KeyboardInterrupt):
    """SIGTERM, which stops a command as the keyboard does."""


def stop_in_good_order() -> None:
    """Exceptions, not an end on the spot: whoever has a file half written takes it away."""
    _stops.clear()
    signal.signal(signal.SIGTERM, partial(_stop, TerminatedError))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
        signal.signal(signal.SIGINT, partial(_stop, KeyboardInterrupt))
    if getattr(sys.unraisablehook, "func", None) is not _stop_later:
        sys.unraisablehook = partial(_stop_later, sys.unraisablehook)


def _stop(kind: type[KeyboardInterrupt], number: int, frame: FrameType | None) -> None:
    while frame is not None and frame.f_code not in _UNDISTURBED:
        frame = frame.f_back
    if frame is None:
        _stops.append(kind())
        raise _stops[-1]
    _send_again(number)


def _stop_later(otherwise: Callable[[Any], Any], lost: Any) -> None:
    """Where Python would swallow the exception: in a finalizer, in what it does around a fork."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _send_again(signal.SIGTERM if issubclass(lost.exc_type, TerminatedError) else signal.SIGINT)
    else:
        otherwise(lost)


def _send_again(number: int) -> None:
    again = threading.Timer(_SOON, _wake_main_thread, [number])
    again.daemon = True
    again.start()


def _wake_main_thread(number: int) -> None:
    """With the signal: sent to any other thread, it would wait until the main one stops waiting."""
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:
        main = threading.main_thread().ident
        assert main is not None, "it runs"
        signal.pthread_kill(main, number)


@contextmanager
def until_unread() -> Iterator[None]:
    """Whoever read standard output and left has seen enough: that is no error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _into_nothing(sys.stdout)
        raise click.exceptions.Exit(0) from None


def say(line: str) -> None:
    """To a person, who reads standard error; standard output is for what was asked for."""
    # Names of columns are a stranger's words, and a terminal obeys some.
    shown = "\n".join(map(visible, line.split("\n")))
    try:
        click.echo(shown, err=True)
    except BrokenPipeError:  # the work goes on though nobody listens
        _into_nothing(sys.stderr)


def _into_nothing(stream: TextIO) -> None:
    """What is still to be written there goes nowhere."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
