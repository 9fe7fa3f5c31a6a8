"""twinviews predict, as a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinviews import load_model
from twinviews.cli.actions.first_look import check_paths
from twinviews.cli.errors import say
from twinviews.encoding.sources import read_like_the_fit
from twinviews.estimators._outside import OUTSIDE, input_columns, profile_of, told_of
from twinviews.estimators._table_methods import counted_batches
from twinviews.passes.outside_rows import OutsideCounts
from twinviews.reading import ReadingOptions, write
from twinviews.tables.base import merge_all


def predict_rows(
    model: Path,
    table: str,
    output: str,
    *,
    keep: Sequence[str] | None,
    coverage: float,
    no_intervals: bool,
    by: str | None,
    no_outside: bool,
    formulas: bool,
    **reading: Any,
) -> dict[str, Any]:
    """Load, read, predict, write; what was done, for machines."""
    check_paths([table], [] if output == "-" else [Path(output)], [model])
    fitted = load_model(model)
    found = read_like_the_fit(table, getattr(fitted, "about_", {}), ReadingOptions(**reading))
    say(str(found))
    kept = found.dataset.schema.names if keep is None else keep
    width = None if no_intervals else coverage
    # Of a model that an earlier version saved nothing is known.
    named = not no_outside and profile_of(fitted) is not None
    batches = counted_batches(fitted, found, keep=kept, coverage=width, by=by, outside=named)
    counted = _Counted(batches, kept)
    with found.plain_errors():
        first = next(counted, None)
        if first is None:
            raise ValueError(f"{found.source} has no rows to predict for.")
        n_rows = write(chain([first], counted), first.schema, output, formulas=formulas)
    outside = _say_what_is_outside(fitted, counted.counts, named=named)
    if counted.n_without_interval:
        say(_why_no_interval(counted.n_without_interval, n_rows, by))
    if output != "-":
        say(f"Wrote {output}: {n_rows:,} rows.")
    added = [name for name in first.schema.names if name not in kept]
    return {
        "output": output,
        "n_rows": n_rows,
        "predictions": added,
        "n_without_interval": counted.n_without_interval,
        **outside,
    }


class _Counted:
    """Tables of predictions, and how much is outside, or without an interval, in those given out."""

    def __init__(
        self, batches: Iterator[tuple[pa.Table, OutsideCounts | None]], kept: Sequence[str]
    ) -> None:
        self.batches, self.kept = batches, kept
        self.counts: OutsideCounts | None = None
        self.n_without_interval = 0

    def __iter__(self) -> Iterator[pa.Table]:
        return self

    def __next__(self) -> pa.Table:
        table, of_block = next(self.batches)
        self.counts = merge_all([self.counts, of_block])
        return self._with_blanks(table)

    def _with_blanks(self, table: pa.Table) -> pa.Table:
        """Infinite ends of intervals as blanks, which is what they mean to a reader."""
        without = np.zeros(table.num_rows, dtype=bool)
        for place, name in enumerate(table.schema.names):
            if name in self.kept or not name.startswith(("lower", "upper")):
                continue
            known = np.isfinite(table.column(name).to_numpy())
            without |= ~known
            if not known.all():
                blank = pc.if_else(pa.array(known), table.column(name), pa.scalar(None, pa.float64()))
                table = table.set_column(place, name, blank)
        self.n_without_interval += int(without.sum())
        return table


def _why_no_interval(n_without: int, n_rows: int, by: str | None) -> str:
    if n_without == n_rows:
        return "lower and upper are blank: labels are too few, or too unlike these rows, for intervals."
    why = "no label is like them" if by is None else f"too few labels have their {by}, or are like them"
    return f"{n_without:,} of {n_rows:,} rows have no interval (lower and upper are blank): {why}."


def _say_what_is_outside(model: Any, counts: OutsideCounts | None, *, named: bool) -> dict[str, Any]:
    """Columns with more rows outside than chance explains, then single rows; both for machines, too."""
    if counts is None:
        return {"never_seen": {}, "outside": None}
    told, sentences = told_of(model, counts)
    for sentence in sentences:
        say(sentence)
    names, rows = input_columns(model), counts.by_column()
    others = [names[j] for j in np.flatnonzero(rows) if names[j] not in told]
    if others:
        where = f" (column {OUTSIDE})" if named else ""
        say(f"Single rows are outside what the fit has seen, in {', '.join(others)}{where}.")
    return {
        "never_seen": {names[j]: int(counts.unseen[j]) for j in np.flatnonzero(counts.unseen)},
        "outside": {
            "n_rows": counts.n_outside,
            "rows_by_column": {names[j]: int(rows[j]) for j in np.flatnonzero(rows)},
            "told": dict(zip(told, sentences, strict=True)),
        },
    }
