"""Errors of one line with the way out, and exit codes that mean something."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from twinviews.visible_text import visible

# Which extra brings a package that is imported late.
_EXTRA_OF = {
    "jinja2": "report", "lightgbm": "peers", "markupsafe": "report", "matplotlib": "replicate",
    "pyarrow": "files", "python_calamine": "excel", "starlette": "label", "uvicorn": "label",
    "xlsxwriter": "excel",
}  # fmt: skip
_WHEN_STOPPED = "Files that it said it wrote are complete, all others are as they were."
UNUSABLE, NO_FILE, NOT_INSTALLED, STOPPED = 3, 4, 5, 130


def _failure(message: str, exit_code: int) -> click.ClickException:
    failure = click.ClickException(visible(" ".join(message.split())))
    failure.exit_code = exit_code  # type: ignore[misc]  # which click reads off the object
    return failure


@contextmanager
def plain_errors(extra: str, *, when_stopped: str = _WHEN_STOPPED) -> Iterator[None]:
    """One line for whatever a user can mend."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        extra = _EXTRA_OF.get(package, extra)
        raise _failure(
            f"{package} is not installed. Use: pip install 'twinviews[{extra}]'", NOT_INSTALLED
        ) from error
    except ImportError as error:
        raise _failure(str(error), NOT_INSTALLED) from error
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise _failure(f"{where}{error.strerror or error}.", NO_FILE) from error
    except ValueError as error:
        raise _failure(str(error), UNUSABLE) from error
    except KeyboardInterrupt:
        raise _failure(f"Stopped. {when_stopped}", STOPPED) from None


def say(line: str) -> None:
    """To a person, who reads standard error; standard output is for what was asked for."""
    # Names of columns are a stranger's words, and a terminal obeys some.
    click.echo("\n".join(map(visible, line.split("\n"))), err=True)
