"""twinviews explain, as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from twinviews import explain, load_model
from twinviews.cli.actions.first_look import check_paths
from twinviews.cli.errors import say
from twinviews.encoding.sources import read_like_the_fit
from twinviews.explanations.explain import Explanation, Explanations
from twinviews.reading import Reading, ReadingOptions, write
from twinviews.tables.arrow import check_columns

_MOST_ROWS = 1000
# If none are named.
_FIRST = (1, 2, 3)
# Labeled rows among which similar ones are looked for.
_MOST_LABELED = 10_000


class _FoundRows(NamedTuple):
    rows: pa.Table  # in the order in which they were asked for
    numbers: Sequence[int]
    labeled: pa.Table | None
    labeled_numbers: list[int]


def explain_rows(
    model: Path,
    table: str,
    *,
    rows: Sequence[int] | None,
    target: str | None,
    output: str | None,
    seed: int,
    **reading: Any,
) -> dict[str, Any]:
    """Load, read, explain, say and write; what was found, for machines."""
    if rows is not None and len(rows) > _MOST_ROWS:
        raise ValueError(f"--rows names {len(rows):,} rows, and {_MOST_ROWS:,} are the most at once.")
    outputs = [] if output in (None, "-") else [Path(str(output))]
    check_paths([table], outputs, [model])
    fitted = load_model(model)
    found = read_like_the_fit(table, getattr(fitted, "about_", {}), ReadingOptions(**reading))
    say(str(found))
    inputs = fitted._input_names()
    if target is not None and target not in found.dataset.schema.names:
        target = target.strip()  # as names of columns are
    check_columns([*inputs, *([] if target is None else [target])], found.dataset.schema.names)
    with found.plain_errors():
        taken = _take(found, rows, inputs, target)
    rows = taken.numbers
    labeled = None
    if taken.labeled is not None:
        y = np.array(taken.labeled.column(target).to_pylist(), dtype=object)
        labeled = (taken.labeled.select(inputs), y)
    explained = explain(fitted, taken.rows.select(inputs), labeled=labeled, random_state=seed)
    for number, one in zip(rows, explained, strict=True):
        say(f"Row {number}: {_words(one, taken.labeled_numbers)}")
    if output is not None:
        result = _lines(explained, rows, taken.rows)
        write(result.to_batches(), result.schema, output)
        if output != "-":
            say(f"Wrote {output}: {result.num_rows:,} rows.")
    return {
        "rows": [_facts(*pair, taken.labeled_numbers) for pair in zip(rows, explained, strict=True)]
    }


def _words(one: Explanation, numbers: Sequence[int]) -> str:
    where = [str(numbers[each.place]) for each in one.similar if each.place is not None]
    said = one.words()
    return f"{said.removesuffix('.')} (rows {', '.join(where)})." if where else said


def _take(
    found: Reading, rows: Sequence[int] | None, inputs: Sequence[str], target: str | None
) -> _FoundRows:
    """The rows of these numbers, from 1, or some; and the first labeled ones."""
    columns = [*inputs, *([] if target is None or target in inputs else [target])]
    wanted, start = np.unique(_FIRST if rows is None else rows), 1
    parts, labeled = [], []
    numbers: list[int] = []
    for batch in found.dataset.scanner(columns=columns, use_threads=False).to_batches():
        here = wanted[(wanted >= start) & (wanted < start + batch.num_rows)] - start
        parts.append(pa.Table.from_batches([batch]).take(pa.array(here)))
        if target is not None and len(numbers) < _MOST_LABELED:
            known = np.flatnonzero(~np.asarray(batch.column(target).is_null(nan_is_null=True)))
            known = known[: _MOST_LABELED - len(numbers)]
            labeled.append(pa.Table.from_batches([batch]).take(pa.array(known)))
            numbers += [int(start + place) for place in known]
        start += batch.num_rows
        if start > wanted[-1] and (target is None or len(numbers) == _MOST_LABELED):
            break
    if len(numbers) == _MOST_LABELED:
        say(f"Similar rows are looked for among the first {_MOST_LABELED:,} rows with a label.")
    rows = [number for number in _FIRST if number < start] if rows is None else rows
    if not rows:
        raise ValueError(f"{found.source} has no rows to explain.")
    wanted = np.unique(rows)
    if wanted[0] < 1 or wanted[-1] >= start:
        outside = next(number for number in rows if not 1 <= number < start)
        raise ValueError(
            f"There is no row {outside:,}: rows are counted from 1, and the table has {start - 1:,}."
        )
    in_order = pa.concat_tables(parts).take(pa.array(np.searchsorted(wanted, rows)))
    return _FoundRows(in_order, rows, pa.concat_tables(labeled) if numbers else None, numbers)


def _lines(explained: Explanations, rows: Sequence[int], taken: pa.Table) -> pa.Table:
    """A line for each row, output and column, with the value that the table has there."""
    columns = explained.as_columns()
    places = columns["row"]
    value = [
        _as_written(taken.column(name)[place].as_py())
        for place, name in zip(places, columns["column"], strict=True)
    ]
    columns["row"] = [rows[place] for place in places]
    found = pa.table(columns)
    at = found.schema.get_field_index("column") + 1
    return found.add_column(at, "value", pa.array(value, pa.string()))


def _as_written(value: Any) -> str | None:
    if value is None:
        return None
    day = value.isoformat().removesuffix("T00:00:00") if hasattr(value, "isoformat") else value
    return str(day)


def _facts(number: int, one: Explanation, numbers: Sequence[int]) -> dict[str, Any]:
    return {
        "row": number,
        "predicted": dict(zip(one.outputs, one.predicted.tolist(), strict=True)),
        "base": dict(zip(one.outputs, one.base.tolist(), strict=True)),
        "contributions": {
            output: dict(zip(one.columns, one.contributions[:, place].tolist(), strict=True))
            for place, output in enumerate(one.outputs)
        },
        "standard_errors": {
            output: dict(zip(one.columns, one.standard_errors[:, place].tolist(), strict=True))
            for place, output in enumerate(one.outputs)
        },
        "similar": [
            {
                "label": str(each.label),
                "distance": each.distance,
                "row": None if each.place is None else numbers[each.place],
            }
            for each in one.similar
        ],
    }
