"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

QUICK_REPETITIONS = 3


_data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="TWINVIEWS_DATA",
    show_envvar=True,
    help="Folder with data files; sets that are not in it are downloaded.",
)
_jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes side by side.  [default: one for each core]"
)


@contextmanager
def _plain_errors(extra: str) -> Iterator[None]:
    """One line for whatever a user can mend."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"{error.name} is not installed. Use: pip install 'twinviews[{extra}]'"
        ) from error
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        raise click.ClickException(
            "Stopped. What was finished is kept: the same command goes on from there."
        ) from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="twinviews")
def main() -> None:
    """Predictions from a table with few labels and many unlabeled rows."""


@main.command()
@_data_option
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("replication"),
    show_default=True,
    help="Folder for repetitions, tables, figures and the page. A run that was stopped goes on there.",
)
@click.option(
    "--sets", default="", metavar="NAMES", help="Only these, with commas between: abalone,cpu"
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Draws of labels for each set.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Three repetitions with the sigma and ridge of the full run: two minutes.",
)
@click.option("--offline", is_flag=True, help="Download nothing.")
@_jobs_option
def replicate(
    data: Path | None,
    output: Path,
    sets: str,
    repetitions: int,
    quick: bool,
    offline: bool,
    jobs: int | None,
) -> None:
    """Run the paper's evaluation again and set ours beside the published numbers.

    Every finished repetition is stored at once. Stop it whenever you like: the same command goes on
    where it was, and the numbers are those of an undisturbed run.
    """
    with _plain_errors("replicate"):
        from twinviews.replication.command import replicate as run

        run(
            data=data,
            output=output,
            names=_names(sets),
            repetitions=QUICK_REPETITIONS if quick else repetitions,
            quick=quick,
            online=not offline,
            jobs=jobs,
            say=_say,
        )


@main.command()
@click.argument("table", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--target", help="The column of TABLE to predict.")
@click.option(
    "--task",
    type=click.Choice(["regression", "classification"]),
    help="What it is; found out from the column if not said.",
)
@click.option("--sets", default="", metavar="NAMES", help="Of the contest's own sets, only these.")
@click.option(
    "--half",
    type=click.Choice(["development", "untouched"]),
    help="Of the contest's own sets, only this half.",
)
@click.option("--methods", default="", metavar="NAMES", help="Only these, with commas between.")
@click.option(
    "--labels", default="50,100,200,500", show_default=True, metavar="NUMBERS", help="Values of n."
)
@click.option("--repetitions", type=click.IntRange(min=1), default=20, show_default=True, help="Draws.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("contest"),
    show_default=True,
    help="Folder for rounds and standings. A contest that was stopped goes on there.",
)
@_data_option
@click.option("--offline", is_flag=True, help="Download nothing.")
@_jobs_option
def compare(
    table: Path | None,
    target: str | None,
    task: Literal["regression", "classification"] | None,
    sets: str,
    half: str | None,
    methods: str,
    labels: str,
    repetitions: int,
    output: Path,
    data: Path | None,
    offline: bool,
    jobs: int | None,
) -> None:
    """Let methods compete on TABLE, or on the contest's own sets.

    Every method sees the same few labels, chooses its numbers with them alone, and is judged on rows
    that none has seen.
    """
    if (table is None) != (target is None):
        raise click.UsageError("TABLE and --target go together: give both, or neither.")
    with _plain_errors("peers"):
        from twinviews.contest.command import compare as run
        from twinviews.contest.run import UserTable

        run(
            table=None if table is None or target is None else UserTable(table, target, task),
            data=data,
            output=output,
            names=_names(sets),
            half=half,
            methods=_names(methods),
            labels=_numbers(labels),
            repetitions=repetitions,
            online=not offline,
            jobs=jobs,
            say=_say,
        )


def _say(line: str) -> None:
    click.echo(line, err=True)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    try:
        numbers = sorted({int(word) for word in _names(text)})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 10:
        raise click.BadParameter(f"{text!r} must be whole numbers from 10 on, such as 50,100,200")
    return numbers
