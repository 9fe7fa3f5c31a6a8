"""twinviews demo"""

from __future__ import annotations

from pathlib import Path

import click

from twinviews.cli.errors import plain_errors, say


@click.command(short_help="Try every step on a real table.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("twinviews-demo"),
    show_default=True,
    help="Folder for the table, the model, the predictions and the report.",
)
def demo(output: Path) -> None:
    """Fit, predict and report on a real table: 442 patients, of whom 120 have a result.

    The table is scikit-learn's diabetes data with most results blanked. An id, words, dates and blanks
    were added, because real tables have them.
    """
    with plain_errors("report"):
        from twinviews.cli.actions.demo_patients import run_demo

        run_demo(output, say=say)
