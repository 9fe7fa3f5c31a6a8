"""twinviews predict, as a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from twinviews import load_model
from twinviews.commands.fit import options_of
from twinviews.commands.paths import check_paths
from twinviews.reading import read, write


def predict_rows(
    model_file: Path,
    table: str,
    output: str,
    *,
    keep: Sequence[str] | None,
    coverage: float | None,
    formulas: bool,
    reading: Mapping[str, Any],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Load, read, predict, write; what was done, for machines."""
    check_paths([table], [] if output == "-" else [Path(output)], [model_file])
    model = load_model(model_file)
    about = getattr(model, "about_", {})
    if reading["missing"] is None:  # as it was said to the fit
        reading = {**reading, "missing": about.get("missing")}
    found = read(table, options_of(reading, expected=about.get("kinds")))
    say(str(found))
    kept = found.dataset.schema.names if keep is None else keep
    with found.plain_errors():
        batches = model.predict_batches(found.dataset, keep=kept, coverage=coverage)
        first = next(batches, None)
        if first is None:
            raise ValueError(f"{found.source} has no rows to predict for.")
        n_rows = write(chain([first], batches), first.schema, output, formulas=formulas)
    if output != "-":
        say(f"Wrote {output}: {n_rows:,} rows.")
    added = [name for name in first.schema.names if name not in kept]
    return {"output": output, "n_rows": n_rows, "predictions": added}
