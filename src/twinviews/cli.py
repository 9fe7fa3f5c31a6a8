"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

from pathlib import Path

import click

QUICK_REPETITIONS = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="twinviews")
def main() -> None:
    """Predictions from a table with few labels and many unlabeled rows."""


@main.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="TWINVIEWS_DATA",
    show_envvar=True,
    help="Folder with data files; sets that are not in it are downloaded.",
)
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
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes side by side.  [default: one for each core]"
)
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
    try:
        from twinviews.replication.command import replicate as run
    except ImportError as error:
        raise click.ClickException(
            f"{error.name} is not installed. Use: pip install 'twinviews[replicate]'"
        ) from error
    try:
        run(
            data=data,
            output=output,
            names=[name.strip() for name in sets.split(",") if name.strip()],
            repetitions=QUICK_REPETITIONS if quick else repetitions,
            quick=quick,
            online=not offline,
            jobs=jobs,
            say=lambda line: click.echo(line, err=True),
        )
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        raise click.ClickException(
            "Stopped. What was finished is kept: the same command goes on from there."
        ) from None
