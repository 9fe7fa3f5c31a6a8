"""twinviews compare"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from twinviews.cli.errors import plain_errors, say
from twinviews_experiments.command_options import GOES_ON, data_option, jobs_option, names_in


@click.command(short_help="Which method for my table?")
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
    "--labels",
    metavar="NUMBERS",
    help="Values of n, from 10 on.  [default: what suits the labels of TABLE; else 50,100,200,500]",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    help="Draws of each n.  [default: 20, for TABLE fewer from 500 labels on]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("contest"),
    show_default=True,
    help="Folder for rounds and standings. A contest that was stopped goes on there.",
)
@data_option
@click.option("--offline", is_flag=True, help="Download nothing.")
@jobs_option
def compare(
    table: Path | None,
    target: str | None,
    task: Literal["regression", "classification"] | None,
    sets: str,
    half: str | None,
    methods: str,
    labels: str | None,
    repetitions: int | None,
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
    with plain_errors(when_stopped=GOES_ON):
        from twinviews_experiments.contest.compare import compare as run
        from twinviews_experiments.contest.own_table import UserTable

        run(
            table=None if table is None or target is None else UserTable(table, target, task),
            data=data,
            output=output,
            names=names_in(sets),
            half=half,
            methods=names_in(methods),
            labels=None if labels is None else _numbers(labels),
            repetitions=repetitions,
            online=not offline,
            jobs=jobs,
            say=say,
        )


def _numbers(text: str) -> list[int]:
    try:
        numbers = sorted({int(word) for word in names_in(text)})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 10:
        raise click.BadParameter(
            f"{text!r} must be whole numbers from 10 on, such as 50,100,200", param_hint="'--labels'"
        )
    return numbers
