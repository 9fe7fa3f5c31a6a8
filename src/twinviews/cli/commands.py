"""The commands: words and options. What they do is imported late, because it needs heavy packages."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from twinviews._system.visible_text import visible
from twinviews.cli.errors import plain_errors, say

KINDS = ("number", "category", "date", "boolean", "skip")
_FILE = click.Path(dir_okay=False, path_type=Path)
_CLUSTER = click.option(
    "--cluster",
    metavar="COLUMN",
    help="Rows with the same value depend on each other, such as those of one patient.",
)
_TASK = click.Choice(["regression", "classification"])
_FIT_TASK = click.Choice(["regression", "classification", "ordinal", "count"])
_DEMO = Path("twinviews-demo")


def _words(context: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """The words in a text, separated by commas; one that holds a comma is in quotes."""
    if text is None:
        return None
    return tuple(word.strip() for row in csv.reader([text]) for word in row if word.strip())


_ORDER = click.option(
    "--classes",
    metavar="NAMES",
    callback=_words,
    help="For --task ordinal: all classes in their order, the lowest first, separated by commas.",
)


def _row_numbers(context: click.Context, option: click.Parameter, text: str | None) -> list[int] | None:
    """The numbers in 1,5,20-25, in this order."""
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(first + last) > 18:
            raise click.BadParameter(f"{part.strip()!r} must be a row or a range of rows: 1,5,20-25")
        if dash and not 0 <= int(last) - int(first) < 1_000_000:
            raise click.BadParameter(f"{part.strip()!r} must rise, by less than a million: 20-25")
        found += range(int(first), int(last if dash else first) + 1)
    return found


def _kinds(context: click.Context, option: click.Parameter, given: Iterable[str]) -> dict[str, str]:
    kinds = {}
    for text in given:
        name, _, kind = text.rpartition("=")
        if not name or kind.partition(":")[0] not in KINDS:
            raise click.BadParameter(
                f"{text!r} must be a column, = and one of {', '.join(KINDS)}: --kind zip=category"
            )
        kinds[name] = kind
    return kinds


def _reads_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of ``ReadingOptions``: what to believe instead of what is found out."""
    for option in reversed(_READING):
        command = option(command)
    return command


_READING = [
    click.option("--delimiter", metavar="SIGN", help="Between cells: one character, or tab."),
    click.option("--quote", metavar="SIGN", help="Around cells that hold the delimiter."),
    click.option("--encoding", metavar="NAME", help="Of text files: utf-8, cp1252, ..."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Sign before the decimals."),
    click.option("--sheet", metavar="NAME", help="Of a workbook; the first one if not said."),
    click.option(
        "--missing",
        metavar="WORDS",
        callback=_words,
        help="Words that mean a blank, with commas between, instead of the usual (NA, n/a, ?, ...).",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COLUMN=KIND",
        callback=_kinds,
        help=f"What a column is, again and again for several: {', '.join(KINDS)}, or a date with its "
        f"form such as date:%m/%d/%Y.",
    ),
]


def _print_json(facts: dict[str, Any]) -> None:
    _print(json.dumps(facts, indent=2, ensure_ascii=False).split("\n"))


def _print(lines: Iterable[str]) -> None:
    """Names come from strangers, and a terminal obeys some characters."""
    click.echo("\n".join(map(visible, lines)))


@click.command(
    short_help="Learn from a table; write a model file.",
    epilog="""
\b
Examples:
  twinviews fit prices.csv --target price -o prices.twinviews
  twinviews fit lab.xlsx --target result --unlabeled all.parquet -o lab.twinviews
  twinviews fit lab.csv --target result --labels lab.csv.labels.sqlite -o lab.twinviews
  twinviews fit hotels.csv --target stars --task ordinal --classes low,mid,high -o m.twinviews
  zcat big.csv.gz | twinviews fit - --target class --kind zip=category -o model.twinviews
""",
)
@click.argument("table")
@click.option(
    "--target", required=True, metavar="COLUMN", help="Column to predict; blank where unknown."
)
@click.option("-o", "--output", type=_FILE, required=True, help="Model file.")
@click.option(
    "--unlabeled",
    multiple=True,
    metavar="TABLE",
    help="More rows without labels, with the same columns; repeatable.",
)
@click.option(
    "--labels",
    type=_FILE,
    metavar="FILE",
    help="Labels from the page, as `twinviews label` keeps them: TABLE.labels.sqlite.",
)
@click.option(
    "--without-unlabeled",
    is_flag=True,
    help="Learn from the labeled rows alone; rows without a label are only compared with them.",
)
@click.option(
    "--task",
    type=_FIT_TASK,
    help="Numbers or classes to predict, by default found out from the column; ordinal for classes "
    "that have an order, such as ratings; count for whole numbers from 0 up.",
)
@_ORDER
@click.option(
    "--strata",
    metavar="COLUMN",
    help="Within each of its values, rows were chosen at random for a label.",
)
@click.option(
    "--label-probability",
    metavar="COLUMN",
    help="With what probability a labeled row was given a label: a number above 0, at most 1.",
)
@_CLUSTER
@click.option(
    "--class-weight",
    metavar="balanced | CLASS=COST,...",
    help="What an error on each class costs, such as yes=10; balanced: rare classes count as others.",
)
@click.option(
    "--report",
    type=_FILE,
    metavar="PAGE",
    help="Also write a page (.html) on how good the predictions are and what they depend on.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="The paper's method alone, without the ensemble: several times faster.",
)
@click.option(
    "--max-labels",
    type=click.IntRange(min=2),
    help="Labels to hold; of more, a sample is used. Default: a million, fewer of wide tables.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found and done as JSON.")
@_reads_a_table
def fit(as_json: bool, **options: Any) -> None:
    """Learn from TABLE to predict one of its columns, and write a model file.

    TABLE is a CSV, TSV, Excel, Parquet, Arrow or JSON-lines file, a folder of files that make up one
    table (all of one format, but not workbooks), or - for standard input. Rows with a blank target are
    used too, as unlabeled rows. Columns may hold numbers, words, dates and blanks. Everything that is
    found out about the table is printed, with the option that overrides it.
    """
    from twinviews.cli.actions.fit_model import fit_model

    done = fit_model(**options)
    if as_json:
        _print_json(done)


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
@click.argument("model", type=_FILE)
@click.argument("table")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="By its ending: .csv, .tsv, .parquet, .arrow, .jsonl, .xlsx; - is CSV on standard output.",
)
@click.option(
    "--keep",
    metavar="COLUMNS",
    callback=_words,
    help="Columns to keep, separated by commas; by default all.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Coverage of the intervals of predicted numbers.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Intervals that hold within each value of this column, from its labels alone.",
)
@click.option("--no-intervals", is_flag=True, help="No intervals, which is faster.")
@click.option("--no-outside", is_flag=True, help="No column `outside`.")
@click.option(
    "--formulas",
    is_flag=True,
    help="Write text that looks like a formula as it is, without an apostrophe in front.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@_reads_a_table
def predict(as_json: bool, **options: Any) -> None:
    """Predict for every row of TABLE with MODEL, a file that `twinviews fit` wrote.

    The output has the columns of TABLE and those of the predictions: `prediction` with `lower` and
    `upper`, or `prediction` with the probability of each class. `outside` names the columns in which
    the row has a value unlike all that the fit saw. The file appears when it is complete.
    """
    if as_json and options["output"] == "-":
        raise click.UsageError("--json and -o - both mean standard output: name a file.")
    from twinviews.cli.actions.predict_rows import predict_rows

    done = predict_rows(**options)
    if as_json:
        _print_json(done)


@click.command(
    name="explain",
    short_help="Why a row is predicted as it is.",
    epilog="""
\b
Examples:
  twinviews explain prices.twinviews more.csv --rows 1,5,20-25
  twinviews explain prices.twinviews prices.csv --target price --rows 7 -o because.csv
""",
)
@click.argument("model", type=_FILE)
@click.argument("table")
@click.option(
    "--rows",
    metavar="NUMBERS",
    callback=_row_numbers,
    help="Which rows of TABLE, counted from 1; by default the first three.",
)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the labels in TABLE: the labeled rows most like a row are named by it.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Also write a line for each row and column, by its ending: .csv, .parquet, ...; - is CSV.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@_reads_a_table
def explain(as_json: bool, **options: Any) -> None:
    """Say which columns moved the prediction of a row of TABLE, and which labeled rows are like it.

    What columns add to the mean prediction sums to the prediction of the row (Shapley values).
    """
    if as_json and options["output"] == "-":
        raise click.UsageError("--json and -o - both mean standard output: name a file.")
    from twinviews.cli.actions.explain_rows import explain_rows

    done = explain_rows(**options)
    if as_json:
        _print_json(done)


@click.command(
    name="estimate",
    short_help="A mean, total or share of all rows, with an interval.",
    epilog="""
\b
Examples:
  twinviews estimate prices.csv --target price
  twinviews estimate prices.csv --target price --what quantile --by district --picture prices.png
  twinviews estimate patients.csv --target result --by clinic --versus Bergen
  twinviews estimate patients.csv --target days --above 30 -o long_stays.csv
""",
)
@click.argument("table")
@click.option(
    "--target",
    "targets",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="Column to estimate, blank where unknown; repeatable.",
)
@click.option(
    "--what",
    type=click.Choice(["mean", "total", "share", "quantile", "coefficients"]),
    help="By default the mean of numbers, and the share of each class.",
)
@click.option("--by", multiple=True, metavar="COLUMN", help="For each of its values; repeatable.")
@click.option("--versus", metavar="VALUE", help="Differences from this value of --by.")
@click.option("--above", type=float, metavar="NUMBER", help="The share of rows above it.")
@click.option("--below", type=float, metavar="NUMBER", help="The share of rows of at most that.")
@click.option(
    "--quantile",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Which quantile; 0.5 is the median.",
)
@click.option(
    "--columns",
    metavar="COLUMNS",
    callback=_words,
    help="For coefficients: columns of numbers to regress on, separated by commas.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Coverage of the intervals.",
)
@click.option(
    "--population",
    is_flag=True,
    help="For the population that the rows were drawn from, instead of these rows.",
)
@click.option("--weight", metavar="COLUMN", help="Weights of the rows.")
@click.option(
    "--strata",
    metavar="COLUMN",
    help="Within each of its values, rows were chosen at random for a label.",
)
@click.option(
    "--label-probability",
    metavar="COLUMN",
    help="With what probability a labeled row was given a label: a number above 0, at most 1.",
)
@_CLUSTER
@click.option(
    "--labels",
    type=_FILE,
    metavar="FILE",
    help="Labels from the page, as `twinviews label` keeps them: TABLE.labels.sqlite.",
)
@click.option(
    "--assume-random",
    is_flag=True,
    help="Take labels for a random sample even if they do not look like one.",
)
@click.option(
    "--half-width",
    type=click.FloatRange(0, min_open=True),
    metavar="NUMBER",
    help="Also say how many labels an interval of plus or minus this needs.",
)
@click.option(
    "--model", type=_FILE, metavar="MODEL", help="A model of these labels; else one is fitted."
)
@click.option("--task", type=_FIT_TASK, help="What it is; numbers or classes are found out.")
@_ORDER
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Also write a table, by its ending: .csv, .tsv, .parquet, .arrow, .jsonl, .xlsx; - is CSV.",
)
@click.option(
    "--picture", type=_FILE, metavar="FILE", help="Also draw the intervals: .png, .svg or .pdf."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
@_reads_a_table
def estimate(as_json: bool, **options: Any) -> None:
    """Estimate a mean, total, share, quantile or coefficients of a column over all rows of TABLE.

    Few rows have a value in the column, the others have a prediction. Together they give a narrower
    interval than the values alone, and it holds however good the predictions are, if the rows with a
    value are a random sample or it is known how they were chosen.
    """
    if as_json and options["output"] == "-":
        raise click.UsageError("--json and -o - both mean standard output: name a file.")
    from twinviews.cli.actions.estimate_rows import estimate_rows

    done = estimate_rows(**options)
    if as_json:
        _print_json(done)


@click.command(
    name="plan",
    short_help="Which rows to label next, for a narrower interval.",
    epilog="""
\b
Examples:
  twinviews plan prices.csv --target price --more 100 -o planned.csv
  twinviews plan prices.csv --target price --by district --half-width 5 -o planned.csv
  twinviews estimate planned.csv --target price --label-probability label_probability
""",
)
@click.argument("table")
@click.option(
    "--target", required=True, metavar="COLUMN", help="Column to estimate, blank where unknown."
)
@click.option("--more", type=click.IntRange(1), metavar="K", help="How many rows to label.")
@click.option(
    "--half-width",
    type=click.FloatRange(0, min_open=True),
    metavar="NUMBER",
    help="Instead of --more: as many as an interval of plus or minus this needs.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="The table with label_next and label_probability, by its ending: .csv, .parquet, .xlsx, ...",
)
@click.option(
    "--rows",
    "rows_file",
    metavar="FILE",
    help="Also write the rows to label alone, with their numbers.",
)
@click.option(
    "--what",
    type=click.Choice(["mean", "total", "share", "quantile"]),
    help="By default the mean of numbers, and the share of each class.",
)
@click.option(
    "--by", multiple=True, metavar="COLUMN", help="An interval for each of its values; repeatable."
)
@click.option("--above", type=float, metavar="NUMBER", help="The share of rows above it.")
@click.option("--below", type=float, metavar="NUMBER", help="The share of rows of at most that.")
@click.option(
    "--quantile",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Which quantile; 0.5 is the median.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Coverage of the intervals.",
)
@click.option("--weight", metavar="COLUMN", help="Weights of the rows.")
@click.option(
    "--strata",
    metavar="COLUMN",
    help="Within each of its values, rows were chosen at random for a label so far.",
)
@click.option(
    "--label-probability",
    metavar="COLUMN",
    help="With what probability each row was given a label so far, as the last plan has told it.",
)
@click.option(
    "--labels",
    type=_FILE,
    metavar="FILE",
    help="Labels from the page, as `twinviews label` keeps them: TABLE.labels.sqlite.",
)
@click.option(
    "--assume-random",
    is_flag=True,
    help="Take the labels so far for a random sample even if they do not look like one.",
)
@click.option(
    "--model", type=_FILE, metavar="MODEL", help="A model of these labels; else one is fitted."
)
@click.option("--task", type=_FIT_TASK, help="What it is; numbers or classes are found out.")
@_ORDER
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print what was planned as JSON.")
@_reads_a_table
def plan(as_json: bool, **options: Any) -> None:
    """Choose the rows of TABLE to label next so that `twinviews estimate` tells a narrow interval.

    Rows are drawn at random, more often where the model expects large errors, and where a group of --by
    needs labels. Each row's probability is written beside it: with it the interval holds.
    """
    if (options["more"] is None) == (options["half_width"] is None):
        raise click.UsageError("Say --more K or --half-width NUMBER.")
    if as_json and "-" in (options["output"], options["rows_file"]):
        raise click.UsageError("--json and - both mean standard output: name a file.")
    from twinviews.cli.actions.plan_rows import plan_rows

    done = plan_rows(**options)
    if as_json:
        _print_json(done)


@click.command(short_help="Show what is in a model file.")
@click.argument("model", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def inspect(model: Path, as_json: bool) -> None:
    """Show what MODEL predicts, from which columns, how well, and how it was made."""
    from twinviews.cli.actions.describe_model import facts_of_model, lines_of

    facts = facts_of_model(model)
    if as_json:
        _print_json(facts)
    else:
        _print(lines_of(facts))


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
    "targets",
    multiple=True,
    metavar="COLUMN",
    help="Column to label, of the table or a new one; repeatable. By default the ones labeled before.",
)
@click.option(
    "--task", type=_TASK, help="Numbers or classes; needed for a target that has no label yet."
)
@click.option(
    "--classes",
    metavar="NAMES",
    callback=_words,
    help="Classes of a new target, separated by commas.",
)
@click.option(
    "--labels",
    type=_FILE,
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
@_reads_a_table
def label(demo: bool, **options: Any) -> None:
    """Label rows of TABLE in the browser, the most useful ones first, while a model learns.

    The page shows one row at a time with the model's guess, and the error so far. Each label is stored
    at once in a file beside TABLE, which itself is never changed; the page exports both together. Only
    this machine can open the page, by an address that contains a secret.
    """
    if demo == (options["table"] is not None):
        raise click.UsageError("Name a TABLE, or say --demo.")
    with plain_errors(when_stopped="Every label is kept."):
        from twinviews.cli.actions.demo_tables import FRUITS, write_fruit
        from twinviews.cli.actions.label_rows import label_rows

        if demo:
            options["table"] = str(_DEMO / "fruit.csv")
            options["targets"] = options["targets"] or ["fruit"]
            options["classes"] = options["classes"] or sorted(FRUITS)
            write_fruit(_DEMO / "fruit.csv")
        label_rows(**options)


@click.command(short_help="Try every step on a real table.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=_DEMO,
    show_default=True,
    help="Folder for the table, the model, the predictions and the report.",
)
def demo(output: Path) -> None:
    """Fit, predict and report on a real table: 442 patients, of whom 120 have a result.

    The table is scikit-learn's diabetes data with most results blanked. An id, words, dates and blanks
    were added, because real tables have them.
    """
    from twinviews.cli.actions.demo_tables import against_the_truth, write_patients

    table, model, page, predicted = (
        str(output / name)
        for name in ("patients.csv", "patients.twinviews", "report.html", "predicted.csv")
    )
    truth = write_patients(Path(table))
    _show(fit, table, "--target", "progression", "-o", model, "--report", page)
    say("")
    _show(predict, model, table, "-o", predicted)
    say(f"\n{against_the_truth(Path(predicted), truth)}")
    say(f"The report is {page}: open it in a browser.")


def _show(command: click.Command, *words: str) -> None:
    say(f"$ twinviews {command.name} {' '.join(words)}")
    command.main(words, standalone_mode=False)
