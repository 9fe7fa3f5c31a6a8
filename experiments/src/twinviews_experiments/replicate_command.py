"""twinviews replicate"""

from __future__ import annotations

from pathlib import Path

import click

from twinviews.cli.errors import plain_errors, say
from twinviews_experiments.command_options import GOES_ON, data_option, jobs_option, names_in

QUICK_REPETITIONS = 3


@click.command(short_help="The paper's evaluation again.")
@data_option
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
@jobs_option
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
    with plain_errors(when_stopped=GOES_ON):
        from twinviews_experiments.replication.replicate import replicate as run

        run(
            data=data,
            output=output,
            names=names_in(sets),
            repetitions=QUICK_REPETITIONS if quick else repetitions,
            quick=quick,
            online=not offline,
            jobs=jobs,
            say=say,
        )
