"""twinviews plan, as a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews import load_model, plan_labels
from twinviews.cli.actions.estimate_rows import check_not_fitted, fitted_model
from twinviews.cli.actions.first_look import Task, check_paths
from twinviews.cli.actions.fit_model import PLAN_COLUMNS, labels_of_the_page
from twinviews.cli.errors import say
from twinviews.estimates.planned_labels import LabelPlan
from twinviews.reading import Reading, ReadingOptions, columnar_copy, read, write
from twinviews.tables.arrow import check_columns

_NEXT, _PROBABILITY = PLAN_COLUMNS
_ROW = "row"


def plan_rows(
    table: str,
    target: str,
    *,
    more: int | None,
    half_width: float | None,
    output: str,
    rows_file: str | None,
    model: Path | None,
    labels: Path | None,
    task: Task | None,
    classes: Sequence[str] | None,
    weight: str | None,
    label_probability: str | None,
    strata: str | None,
    by: Sequence[str],
    seed: int,
    what: str | None,
    above: float | None,
    below: float | None,
    quantile: float,
    coverage: float,
    assume_random: bool,
    **reading: Any,
) -> dict[str, Any]:
    """Read, fit unless there is a model, plan, write the table and the rows to label."""
    outputs = [Path(one) for one in (output, rows_file) if one is not None and str(one) != "-"]
    check_paths([table], outputs, [] if model is None else [model])
    check_not_fitted(model, task, classes)
    options = ReadingOptions(**reading)
    found = read(table, options)
    say(str(found))
    if labels is not None:
        labeled = labels_of_the_page(found, labels, target)
        found, task = labeled.reading, task or labeled.target.task
        label_probability = labeled.probability
    how = {"weight": weight, "label_probability": label_probability, "strata": strata}
    rows = columnar_copy(found)
    names = rows.dataset.schema.names
    check_columns([target, *by, *(one for one in how.values() if one is not None)], names)
    fitted = (
        fitted_model(rows, target, task, classes, [weight], how, seed, options)
        if model is None
        else load_model(model)
    )
    apart = {target, label_probability, *PLAN_COLUMNS}
    with rows.plain_errors():
        plan = plan_labels(
            fitted,
            rows,
            more,
            half_width=half_width,
            target=target,
            what=what,  # type: ignore[arg-type]
            by=list(by) or None,
            above=above,
            below=below,
            quantile=quantile,
            coverage=coverage,
            assume_random=assume_random,
            keep=[name for name in names if name not in apart],
            random_state=seed,
            **how,
        )
        for line in plan.words().split("\n"):
            say(line)
        _write_table(rows, plan, apart - {target}, output)
    _finish(plan, target, output, rows_file)
    return _facts(plan, target, by)


def _finish(plan: LabelPlan, target: str, output: str, rows_file: str | None) -> None:
    """Where the plan is, and what to do with it; the rows to label are written where asked for."""
    if output != "-":
        say(f"Wrote {output}: all rows; those to label next have a number in {_NEXT}.")
    if rows_file is not None:
        found_rows = rows_to_label(plan, target)
        write(found_rows.to_batches(), found_rows.schema, rows_file)
        say(f"Wrote {rows_file}: the {len(plan.places):,} rows to label.")
    if output != "-":
        say(
            f"Fill in {target}, then: twinviews estimate {output} --target {target} "
            f"--label-probability {_PROBABILITY}"
        )


def _facts(plan: LabelPlan, target: str, by: Sequence[str]) -> dict[str, Any]:
    """For machines."""
    groups = [{**one._asdict(), "group": dict(zip(by, one.group, strict=True))} for one in plan.groups]
    return {
        "target": target,
        "n_rows": len(plan.label_probability),
        "n_next": len(plan.places),
        "groups": groups,
        "notes": list(plan.notes),
    }


def rows_to_label(plan: LabelPlan, target: str) -> pa.Table:
    """The rows of a plan, to be filled in: their numbers from 1, what is known, and a blank column."""
    n = len(plan.places)
    taken = set(plan.rows.schema.names)
    row = _ROW if _ROW not in taken else f"{_ROW}_"
    columns = {row: pa.array(plan.places + 1), target: pa.nulls(n, pa.string())}
    columns |= {name: plan.rows.column(name) for name in plan.rows.schema.names}
    columns[_PROBABILITY] = pa.array(plan.label_probability[plan.places])
    return pa.table(columns)


def _write_table(rows: Reading, plan: LabelPlan, dropped: set[str | None], output: str) -> None:
    """All rows in their order, with the two columns of the plan at the end."""
    number = np.zeros(len(plan.label_probability), dtype=np.int64)
    number[plan.places] = np.arange(1, len(plan.places) + 1)
    kept = [name for name in rows.dataset.schema.names if name not in dropped]
    batches = _with_plan(rows.dataset.to_batches(columns=kept), number, plan.label_probability)
    fields = [rows.dataset.schema.field(name) for name in kept]
    schema = pa.schema([*fields, pa.field(_NEXT, pa.int64()), pa.field(_PROBABILITY, pa.float64())])
    write(batches, schema, output)


def _with_plan(
    batches: Iterator[pa.RecordBatch], number: np.ndarray, probability: np.ndarray
) -> Iterator[pa.RecordBatch]:
    start = 0
    for batch in batches:
        end = start + batch.num_rows
        some = number[start:end]
        yield batch.append_column(_NEXT, pa.array(some, mask=some == 0)).append_column(
            _PROBABILITY, pa.array(probability[start:end])
        )
        start = end
