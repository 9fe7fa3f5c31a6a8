"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from twinviews.cli.commands import demo, estimate, explain, fit, inspect, label, plan, predict
from twinviews.cli.errors import NOT_INSTALLED, failure, plain_errors, until_unread

_EPILOG = """
\b
From a table to predictions:
  twinviews fit prices.csv --target price -o prices.twinviews --report prices.html
  twinviews predict prices.twinviews more.csv -o predicted.csv
  twinviews estimate prices.csv --target price --by district

\b
Exit codes: 0 done; 1 a bug of ours; 2 wrong usage of the command; 3 a table or model
cannot be used as it is; 4 a file cannot be read or written; 5 a package is not installed;
130 stopped by the keyboard; 143 stopped by SIGTERM.

Nothing is sent anywhere: twinviews works offline, and downloads data sets of the paper only when
`replicate` or `compare` asks for them.
"""
# Commands of the package twinviews-experiments, listed whether it is installed or not.
_EXPERIMENTS = {
    "compare": "Which method for my table?",
    "replicate": "The paper's evaluation again.",
}


@cache
def added_commands() -> dict[str, EntryPoint]:
    """Commands of other packages, by name."""
    return {point.name: point for point in entry_points(group="twinviews.commands")}


def _not_installed(name: str) -> click.Command:
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
        short_help=f"{_EXPERIMENTS[name]} (Not installed.)",
        context_settings={"ignore_unknown_options": True},
        add_help_option=False,
    )


class _Commands(click.Group):
    """Commands in the order in which one needs them; errors and stops are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys([*self.commands, *_EXPERIMENTS, *added_commands()]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in added_commands() and cmd_name not in self.commands:
            return added_commands()[cmd_name].load()
        if cmd_name in _EXPERIMENTS:
            return _not_installed(cmd_name)
        return super().get_command(ctx, cmd_name)

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        with until_unread():  # --help writes
            return super().make_context(*args, **named)

    def invoke(self, ctx: click.Context) -> Any:
        with until_unread(), plain_errors():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(package_name="twinviews")
def main() -> None:
    """Predictions from a table with few labels and many unlabeled rows."""


for _command in (fit, predict, explain, estimate, plan, inspect, label, demo):
    main.add_command(_command)
