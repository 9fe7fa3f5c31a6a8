"""twinviews predict, as a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from twinviews import load_model
from twinviews.cli.actions.first_look import check_paths
from twinviews.cli.errors import say
from twinviews.encoding.sources import read_like_the_fit
from twinviews.reading import Reading, ReadingOptions, write


def predict_rows(
    model: Path,
    table: str,
    output: str,
    *,
    keep: Sequence[str] | None,
    coverage: float,
    no_intervals: bool,
    formulas: bool,
    **reading: Any,
) -> dict[str, Any]:
    """Load, read, predict, write; what was done, for machines."""
    check_paths([table], [] if output == "-" else [Path(output)], [model])
    fitted = load_model(model)
    found = read_like_the_fit(table, getattr(fitted, "about_", {}), ReadingOptions(**reading))
    say(str(found))
    kept = found.dataset.schema.names if keep is None else keep
    unseen: Counter[str] = Counter()
    with found.plain_errors():
        batches = _predicted(fitted, found, kept, None if no_intervals else coverage, unseen)
        first = next(batches, None)
        if first is None:
            raise ValueError(f"{found.source} has no rows to predict for.")
        n_rows = write(chain([first], batches), first.schema, output, formulas=formulas)
    for name, rows in unseen.items():
        say(f"{name}: {rows:,} of {n_rows:,} rows hold a value that the fit has not seen.")
    if output != "-":
        say(f"Wrote {output}: {n_rows:,} rows.")
    added = [name for name in first.schema.names if name not in kept]
    return {"output": output, "n_rows": n_rows, "predictions": added, "never_seen": dict(unseen)}


def _predicted(
    model: Any, found: Reading, kept: Sequence[str], coverage: float | None, unseen: Counter[str]
) -> Iterator[pa.Table]:
    """Columns kept and predictions, block by block; counts in ``unseen`` rows with unknown levels."""
    of_levels = [code for code in model.columns_ if code.kind == "category"]
    names = list(dict.fromkeys([*kept, *(code.name for code in of_levels)]))
    for table in model.predict_batches(found, keep=names, coverage=coverage):
        for code in of_levels:
            for chunk in table.column(code.name).chunks:
                if rows := code.never_seen(chunk):
                    unseen[code.name] += rows
        yield table.drop_columns([name for name in names if name not in kept])
