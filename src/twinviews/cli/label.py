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
    help="Column to label, of the table or a new one; repeatable. By default the ones labeled before.",
)
@click.option(
    "--task",
    type=click.Choice(["regression", "classification"]),
    help="Numbers or classes; needed for a target that has no label yet.",
)
@click.option("--classes", metavar="NAMES", help="Classes of a new target, separated by commas.")
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of the labels; by default TABLE.labels.sqlite beside the table.",
)
@click.option(
    "--port",
    type=click.IntRange(1024, 65535),
    help="Port of the page; by default that of last time, or a free one.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--demo", is_flag=True, help=f"Label an example table in the folder {_DEMO}.")
@click.option(
    "--rule",
    metavar="NAME",
    default="best of handfuls",
    show_default=True,
    help="Acquisition rule that suggests rows; also uncertainty, random, or a rule of a package.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the fits and of the candidate rows."
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
    rule: str,
    seed: int,
    reading: TableOptions,
) -> None:
    """Label rows of TABLE in the browser, the most useful ones first, while a model learns.

    The page shows one row at a time with the model's guess, and the error so far. Each label is stored
    at once in a file beside TABLE, which itself is never changed; the page exports both together. Only
    this machine can open the page, by an address that contains a secret.
    """
    if demo == (table is not None):
        raise click.UsageError("Name a TABLE, or say --demo.")
    if demo:
        target, classes = target or ("fruit",), classes or "apple,banana,cherry,lemon,melon,plum"
    with plain_errors("label", when_stopped="Every label is kept."):
        from twinviews.cli.actions.label_rows import label_rows

        if demo:
            from twinviews.cli.actions.demo_fruit import write_fruit

            _DEMO.mkdir(exist_ok=True)
            write_fruit(_DEMO / "fruit.csv")
            table = str(_DEMO / "fruit.csv")
        assert table is not None, "asked for above"
        label_rows(
            table, target, task=task,
            classes=_names(classes),
            labels=labels, port=port, browser=not no_browser, rule=rule, seed=seed,
            reading=reading._asdict(), say=say,
        )  # fmt: skip


def _names(text: str | None) -> list[str]:
    """The names in a text, separated by commas; a name with a comma is in quotes."""
    return [name.strip() for row in csv.reader([text or ""]) for name in row if name.strip()]
