"""twinviews label"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal

import click

from twinviews.cli.errors import plain_errors, say
from twinviews.cli.table_options import TableOptions, table_options

_DEMO = Path("twinviews-demo")


@click.command(
    short_help="Label rows on a page that learns.",
    epilog="""
\b
Examples:
  twinviews label prices.parquet --target price --task regression
  twinviews label parcels.csv --target kind --classes box,letter,tube
  twinviews label lab.xlsx --target result --target quality
  twinviews label --demo
""",
)
@click.argument("table", required=False)
@click.option(
    "--target",
    multiple=True,
    metavar="COLUMN",
    help="What to fill in: a column of the table or a new one; again for several. What was filled in "
    "before, if not said.",
)
@click.option(
    "--task",
    type=click.Choice(["regression", "classification"]),
    help="Numbers or classes; needed for a target without any label yet.",
)
@click.option("--classes", metavar="NAMES", help="Of a new target, with commas between.")
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where labels are kept; TABLE.labels.sqlite beside the table if not said.",
)
@click.option(
    "--port",
    type=click.IntRange(1024, 65535),
    help="Of the page; the one of last time, or a free one, if not said.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--demo", is_flag=True, help=f"On a table made for it, in the folder {_DEMO}.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the fits, and of rows that may be asked."
)
@table_options
def label(
    table: str | None,
    target: tuple[str, ...],
    task: Literal["regression", "classification"] | None,
    classes: str | None,
    labels: Path | None,
    port: int | None,
    no_browser: bool,
    demo: bool,
    seed: int,
    reading: TableOptions,
) -> None:
    """Label rows of TABLE in the browser, the most useful ones first, while a model learns.

    The page shows one row at a time with the model's guess, and how the error falls. Each label is
    stored at once in a file beside TABLE, which itself is never changed; the page exports both
    together. Only this machine can open the page, by an address that has a secret in it.
    """
    if demo == (table is not None):
        raise click.UsageError("Name a TABLE, or say --demo.")
    if demo:
        target, classes = target or ("fruit",), classes or "apple,banana,cherry,lemon,melon,plum"
    with plain_errors("label", when_stopped="Every label is kept."):
        from twinviews.cli.run_label import label_rows

        if demo:
            from twinviews.cli.demo_fruit import write_fruit

            _DEMO.mkdir(exist_ok=True)
            write_fruit(_DEMO / "fruit.csv")
            table = str(_DEMO / "fruit.csv")
        assert table is not None, "asked for above"
        label_rows(
            table, target, task=task,
            classes=_names(classes),
            labels=labels, port=port, browser=not no_browser, seed=seed, reading=reading._asdict(),
            say=say,
        )  # fmt: skip


def _names(text: str | None) -> list[str]:
    """With commas between; quotes around a name that has one."""
    return [name.strip() for row in csv.reader([text or ""]) for name in row if name.strip()]
