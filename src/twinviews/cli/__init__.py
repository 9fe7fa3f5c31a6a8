"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

from typing import Any

import click

from twinviews.cli.added_commands import command_loaders
from twinviews.cli.demo import demo
from twinviews.cli.errors import plain_errors, until_unread
from twinviews.cli.fit import fit
from twinviews.cli.inspect import inspect
from twinviews.cli.label import label
from twinviews.cli.predict import predict

_EPILOG = """
\b
From a table to predictions:
  twinviews fit prices.csv --target price -o prices.twinviews --report prices.html
  twinviews predict prices.twinviews more.csv -o predicted.csv

\b
Exit codes: 0 done; 1 a bug of ours; 2 wrong usage of the command; 3 a table or model
cannot be used as it is; 4 a file cannot be read or written; 5 a package is not installed;
130 stopped by the keyboard; 143 stopped by SIGTERM.

Nothing is sent anywhere: twinviews works offline, and downloads data sets of the paper only when
`replicate` or `compare` asks for them.
"""


class _Commands(click.Group):
    """Commands in the order in which one needs them; errors and stops are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *command_loaders()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        load = command_loaders().get(cmd_name)
        return None if load is None else load()

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        with until_unread():  # --help writes
            return super().make_context(*args, **named)

    def invoke(self, ctx: click.Context) -> Any:
        with until_unread(), plain_errors("files"):
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(package_name="twinviews")
def main() -> None:
    """Predictions from a table with few labels and many unlabeled rows."""


for _command in (fit, predict, inspect, label, demo):
    main.add_command(_command)
