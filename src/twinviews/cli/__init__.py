"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import signal
import sys

import click

from twinviews.cli.compare import compare
from twinviews.cli.demo import demo
from twinviews.cli.fit import fit
from twinviews.cli.inspect import inspect
from twinviews.cli.label import label
from twinviews.cli.predict import predict
from twinviews.cli.replicate import replicate

_EPILOG = """
\b
From a table to predictions:
  twinviews fit prices.csv --target price -o prices.twinviews --report prices.html
  twinviews predict prices.twinviews more.csv -o predicted.csv

\b
Exit codes: 0 done; 1 an error of ours; 2 the command is not as it should be; 3 a table
or model cannot be used as it is; 4 a file cannot be read or written; 5 a package is not
installed; 130 stopped by the keyboard.

Nothing is sent anywhere: twinviews works offline, and downloads data sets of the paper only when
`replicate` or `compare` asks for them.
"""


class _InOrder(click.Group):
    """Commands are listed in the order in which one needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(package_name="twinviews")
def main() -> None:
    """Predictions from a table with few labels and many unlabeled rows."""
    # An exception, not an end on the spot: whoever has a file half written takes it away.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


for _command in (fit, predict, inspect, label, compare, replicate, demo):
    main.add_command(_command)
