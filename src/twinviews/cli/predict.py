"""twinviews predict"""

from __future__ import annotations

import json
from pathlib import Path

import click

from twinviews.cli.errors import plain_errors, say
from twinviews.cli.table_options import TableOptions, table_options


@click.command(
    short_help="Predict for the rows of a table.",
    epilog="""
\b
Examples:
  twinviews predict prices.twinviews more.csv -o predicted.csv
  twinviews predict prices.twinviews more.parquet --keep id -o predicted.parquet
  cat more.csv | twinviews predict prices.twinviews - -o - | head
""",
)
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("table")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="By its ending: .csv, .tsv, .parquet, .arrow, .jsonl, .xlsx; - is CSV on standard output.",
)
@click.option("--keep", metavar="COLUMNS", help="Columns to keep, separated by commas; by default all.")
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Coverage of the intervals of predicted numbers.",
)
@click.option("--no-intervals", is_flag=True, help="No intervals, which is faster.")
@click.option(
    "--formulas",
    is_flag=True,
    help="Write text that looks like a formula as it is, without an apostrophe in front.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@table_options
def predict(
    model: Path,
    table: str,
    output: str,
    keep: str | None,
    coverage: float,
    no_intervals: bool,
    formulas: bool,
    as_json: bool,
    reading: TableOptions,
) -> None:
    """Predict for every row of TABLE with MODEL, a file that `twinviews fit` wrote.

    The output has the columns of TABLE and those of the predictions: `prediction` with `lower` and
    `upper`, or `prediction` with the probability of each class. It appears when it is complete.
    """
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both mean standard output: name a file.")
    with plain_errors("files"):
        from twinviews.cli.actions.predict_rows import predict_rows

        done = predict_rows(
            model, table, output,
            keep=None if keep is None else [name.strip() for name in keep.split(",") if name.strip()],
            coverage=None if no_intervals else coverage,
            formulas=formulas, reading=reading._asdict(), say=say,
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(done, indent=2, ensure_ascii=False))
