"""Commands of other packages, and what to install for those of this project outside the wheel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import entry_points

import click

from twinviews.cli.errors import NOT_INSTALLED, failure

GROUP = "twinviews.commands"
# Commands of the package twinviews-experiments, listed whether it is installed or not.
_EXPERIMENTS = {
    "compare": "Which method for my table?",
    "replicate": "The paper's evaluation again.",
}


@cache
def command_loaders() -> dict[str, Callable[[], click.Command]]:
    """How to load each command, by its name: entry points of the group ``twinviews.commands``."""
    found: dict[str, Callable[[], click.Command]] = {
        name: partial(_not_installed, name, short_help) for name, short_help in _EXPERIMENTS.items()
    }
    return found | {point.name: point.load for point in entry_points(group=GROUP)}


def _not_installed(name: str, short_help: str) -> click.Command:
    """A command that says which package it is in, whatever its arguments are."""

    def tell(arguments: tuple[str, ...]) -> None:
        raise failure(
            f"`twinviews {name}` is in the package twinviews-experiments, which is not installed. "
            f"Use: pip install twinviews-experiments, or on a clone: pip install ./experiments",
            NOT_INSTALLED,
        )

    return click.Command(
        name,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        callback=tell,
        short_help=f"{short_help} (Not installed.)",
        context_settings={"ignore_unknown_options": True},
        add_help_option=False,
    )
