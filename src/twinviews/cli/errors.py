"""Errors of one line with the way out, and exit codes that mean something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from twinviews._system.visible_text import visible
from twinviews.cli.stopping import ends_when_stopped

# The extra that installs a package which is imported late.
_EXTRA_OF = {
    "jinja2": "report", "markupsafe": "report", "matplotlib": "plots", "pyarrow": "files",
    "python_calamine": "excel", "starlette": "label", "uvicorn": "label", "xlsxwriter": "excel",
}  # fmt: skip
_WHEN_STOPPED = "Files that it said it wrote are complete, all others are as they were."
UNUSABLE, NO_FILE, NOT_INSTALLED = 3, 4, 5


def failure(message: str, exit_code: int) -> click.ClickException:
    """An error that click prints as one line, with its exit code."""
    error = click.ClickException(visible(" ".join(message.split())))
    error.exit_code = exit_code  # type: ignore[misc]  # which click reads off the object
    return error


@contextmanager
def plain_errors(extra: str, *, when_stopped: str = _WHEN_STOPPED) -> Iterator[None]:
    """Turn whatever a user can mend into one line; stop in one line, too.

    ``extra`` is the one to install if a package is missing that no other extra is known for.
    """
    try:
        with ends_when_stopped(when_stopped):
            yield
    except click.ClickException:
        raise
    except Exception as error:
        plain = _plain(error, extra)
        if plain is None:
            raise
        raise plain from error


def _plain(error: Exception, extra: str) -> click.ClickException | None:
    match error:
        case ModuleNotFoundError():
            package = str(error.name).partition(".")[0]
            extra = _EXTRA_OF.get(package, extra)
            way_out = f"Use: pip install 'twinviews[{extra}]'"
            return failure(f"{package} is not installed. {way_out}", NOT_INSTALLED)
        case ImportError():
            return failure(str(error), NOT_INSTALLED)
        case BrokenPipeError():
            return None  # no error of a file: see until_unread
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return failure(f"{where}{error.strerror or error}.", NO_FILE)
        case ValueError():
            return failure(str(error), UNUSABLE)
    return None


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
