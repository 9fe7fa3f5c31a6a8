"""twinviews estimate, as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from twinviews import estimate, load_model
from twinviews.cli.actions.first_look import Task, check_paths
from twinviews.cli.actions.fit_model import (
    columns_to_use,
    estimator_for,
    labels_of_the_page,
    look_at_labels,
    order_of_classes,
    questions_of_the_fit,
)
from twinviews.cli.errors import say
from twinviews.estimates.told_estimate import Estimates, ToldEstimate
from twinviews.reading import Reading, ReadingOptions, columnar_copy, read, write
from twinviews.tables.arrow import check_columns

# More estimates than this are told as a table.
_SENTENCES = 3


def estimate_rows(
    table: str,
    targets: Sequence[str],
    *,
    model: Path | None,
    labels: Path | None,
    task: Task | None,
    classes: Sequence[str] | None,
    weight: str | None,
    label_probability: str | None,
    strata: str | None,
    cluster: str | None,
    half_width: float | None,
    output: str | None,
    picture: Path | None,
    seed: int,
    what: str | None,
    by: Sequence[str],
    above: float | None,
    below: float | None,
    quantile: float,
    columns: Sequence[str] | None,
    versus: str | None,
    coverage: float,
    population: bool,
    assume_random: bool,
    **reading: Any,
) -> dict[str, Any]:
    """Read, fit unless there is a model, estimate, and say so; for machines, too."""
    outputs = [Path(one) for one in (output, picture) if one is not None and str(one) != "-"]
    check_paths([table], outputs, [] if model is None else [model])
    if model is not None and len(targets) != 1:
        raise ValueError("--model has one target. Name it once, or leave --model out.")
    check_not_fitted(model, task, classes)
    options = ReadingOptions(**reading)
    found = read(table, options)
    say(str(found))
    question = _Question(what, by, above, below, quantile, columns, versus)
    asked: dict[str, Any] = question.asked() | {
        "coverage": coverage,
        "population": population,
        "assume_random": assume_random,
    }
    design = {
        "weight": weight,
        "label_probability": label_probability,
        "strata": strata,
        "cluster": cluster,
    }
    parts = []
    for target in targets:
        rows, how = found, dict(design)
        if labels is not None:
            labeled = labels_of_the_page(found, labels, target)
            rows, task = labeled.reading, task or labeled.target.task
            how["label_probability"] = labeled.probability
        rows = columnar_copy(rows)
        check_columns([target, *question.names(how)], rows.dataset.schema.names)
        apart = [name for name in targets if name != target] + [weight, cluster]
        fitted = (
            fitted_model(rows, target, task, classes, apart, how, seed, options)
            if model is None
            else load_model(model)
        )
        with rows.plain_errors():
            parts.append(estimate(fitted, rows, target=target, **(asked | how)))
    return _tell(_together(parts, coverage), half_width, output, picture)


class _Question(NamedTuple):
    """What is asked about a target."""

    what: str | None
    by: Sequence[str]
    above: float | None
    below: float | None
    quantile: float
    columns: Sequence[str] | None
    versus: str | None

    def names(self, how: Mapping[str, str | None]) -> list[str]:
        """Of columns that must be in the table."""
        named = (*how.values(), *self.by, *(self.columns or ()))
        return [name for name in named if name is not None]

    def asked(self) -> dict[str, Any]:
        return {**self._asdict(), "by": list(self.by) or None}


def _together(parts: Sequence[Estimates], coverage: float) -> Estimates:
    """Estimates of several targets as one."""
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Estimates(tuple(row for part in parts for row in part), coverage, notes)


def _tell(
    estimates: Estimates, half_width: float | None, output: str | None, picture: Path | None
) -> dict[str, Any]:
    """Say the estimates and write them; plain values come back."""
    for line in [*lines_of(estimates), *plan_lines(estimates, half_width)]:
        say(line)
    if output is not None:
        result = pa.table(estimates.as_columns())
        write(result.to_batches(), result.schema, output)
        if output != "-":
            say(f"Wrote {output}: {len(estimates):,} {'row' if len(estimates) == 1 else 'rows'}.")
    if picture is not None:
        _draw(estimates, picture)
        say(f"Wrote {picture}.")
    facts = estimates.as_dicts()
    if half_width is not None:
        for row, fact in zip(estimates, facts, strict=True):
            fact["labels_for_half_width"] = row.labels_for(half_width)
    return {"coverage": estimates.coverage, "notes": list(estimates.notes), "estimates": facts}


def check_not_fitted(model: Path | None, task: Task | None, classes: Sequence[str] | None) -> None:
    """Refuse what only a fit can follow."""
    for option, given in (("--task", task), ("--classes", classes)):
        if model is not None and given is not None:
            raise ValueError(f"{option} is for a fit, and --model is fitted. Leave one of them out.")


def fitted_model(
    rows: Reading,
    target: str,
    task: Task | None,
    classes: Sequence[str] | None,
    apart: Sequence[str | None],
    how: dict[str, str | None],
    seed: int,
    options: ReadingOptions,
) -> Any:
    """A model of the labels of the table, as `twinviews fit` makes it."""
    goal = look_at_labels(rows, target, task)
    say(goal.words(found_out=task is None))
    order = order_of_classes(goal, classes)
    used = columns_to_use(rows, [target, how["label_probability"], *apart], options.kinds)
    model = estimator_for(goal.task, seed, order=order)
    with rows.plain_errors(), questions_of_the_fit() as questions:
        model.fit_table(rows, target=target, columns=used, encode=True, reading=options, **how)
    for question in questions:
        say(question.for_command_line())
    return model


def lines_of(estimates: Estimates) -> list[str]:
    """A sentence for each estimate, or a table if there are many; then what a reader should know."""
    if len(estimates) <= _SENTENCES:
        return estimates.words().split("\n")
    rows = [_cells(row) for row in estimates]
    head = ["", "estimate", f"{estimates.coverage:.0%} interval", "labels alone", "labels", "as if"]
    widths = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
    lines.append("as if: how many random labels alone would tell as much.")
    if any(row.is_shrunk for row in estimates):
        lines.append("* fewer than 10 labels: drawn towards all rows.")
    return [*lines, *estimates.notes]


def plan_lines(estimates: Estimates, half_width: float | None) -> list[str]:
    """How many more labels intervals of plus or minus this would need, and which rows to label."""
    if half_width is None:
        return []
    lines = []
    for row in estimates:
        needed = row.labels_for(half_width)
        name = ", ".join([row.title(), *row.group.values()])
        more = f"{needed - row.n_labels:,} more" if needed > row.n_labels else "no more"
        lines.append(f"{name}: for plus or minus {half_width:g}, about {needed:,} labels, {more}.")
    names = ", ".join(dict.fromkeys(name for row in estimates for name in row.group))
    where = f"within each {names}, then use --strata {names}" if names else "from all rows"
    return [*lines, f"Draw the rows to label at random {where}."]


def _cells(row: ToldEstimate) -> list[str]:
    value, low, high, alone_low, alone_high = row.texts()
    name = ", ".join([row.title(), *row.group.values()])
    star = "*" if row.is_shrunk else ""
    worth = f"{row.labels_worth:,.0f}" if row.labels_worth == row.labels_worth else ""
    alone = "" if "unknown" in (alone_low, alone_high) else f"{alone_low} to {alone_high}"
    return [f"{name}{star}", value, f"{low} to {high}", alone, f"{row.n_labels:,}", worth]


def _draw(estimates: Estimates, picture: Path) -> None:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "For --picture matplotlib is needed, which is not installed: pip install twinviews[plots]"
        ) from error
    from twinviews.plots import EstimateDisplay
    from twinviews.plots.style import FILE_STYLE

    with matplotlib.rc_context(FILE_STYLE):
        figure = Figure(figsize=(6.4, 1.6 + 0.3 * len(estimates)), layout="constrained")
        EstimateDisplay.from_estimates(estimates, ax=figure.subplots())
        figure.savefig(picture, dpi=150, metadata={})
