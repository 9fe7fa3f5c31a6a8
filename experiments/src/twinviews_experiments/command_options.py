"""Options that the long experiments, `compare` and `replicate`, share."""

from __future__ import annotations

from pathlib import Path

import click

GOES_ON = "What was finished is kept: the same command goes on from there."

data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="TWINVIEWS_DATA",
    show_envvar=True,
    help="Folder with data files; sets that are not in it are downloaded.",
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes side by side.  [default: one for each core]"
)


def names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
