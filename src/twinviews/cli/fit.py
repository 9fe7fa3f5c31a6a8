"""twinviews fit"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from twinviews.cli.errors import plain_errors, say
from twinviews.cli.table_options import TableOptions, table_options


@click.command(
    short_help="Learn from a table; write a model file.",
    epilog="""
\b
Examples:
  twinviews fit prices.csv --target price -o prices.twinviews
  twinviews fit lab.xlsx --target result --unlabeled all.parquet -o lab.twinviews
  zcat big.csv.gz | twinviews fit - --target class --kind zip=category -o model.twinviews
""",
)
@click.argument("table")
@click.option(
    "--target", required=True, metavar="COLUMN", help="Column to predict; blank where unknown."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Model file."
)
@click.option(
    "--unlabeled",
    multiple=True,
    metavar="TABLE",
    help="More rows without labels, with the same columns; repeatable.",
)
@click.option(
    "--task",
    type=click.Choice(["regression", "classification"]),
    help="Numbers or classes to predict; by default found out from the column.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PAGE",
    help="Also write a page (.html) on how good the predictions are and what they depend on.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="The paper's method alone, without the ensemble: several times faster.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found and done as JSON.")
@table_options
def fit(
    table: str,
    target: str,
    output: Path,
    unlabeled: tuple[str, ...],
    task: Literal["regression", "classification"] | None,
    report: Path | None,
    quick: bool,
    seed: int,
    as_json: bool,
    reading: TableOptions,
) -> None:
    """Learn from TABLE to predict one of its columns, and write a model file.

    TABLE is a CSV, TSV, Excel, Parquet, Arrow or JSON-lines file, a folder of files that make up one
    table (all of one format, but not workbooks), or - for standard input. Rows with a blank target are
    used too, as unlabeled rows. Columns may hold numbers, words, dates and blanks. Everything that is
    found out about the table is printed, with the option that overrides it.
    """
    with plain_errors("files"):
        from twinviews.cli.actions.fit_model import fit_model

        done = fit_model(
            table, target, output, unlabeled=unlabeled, task=task, report=report, quick=quick,
            seed=seed, reading=reading._asdict(), say=say,
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(done, indent=2, ensure_ascii=False))
