"""The section that answers for all rows: a mean or shares with intervals, and by groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twinviews.estimates.told_estimate import ToldEstimate
from twinviews.report.all_rows import AllRowsAnswers
from twinviews.report.blocks import DataTable, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Bar, BarChart, axis, bar_axis, plain, share
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import percent, short

_TITLE = "All rows"
_MARGIN = 0.05
_MOST_CLASSES = 12
_HOW = (
    "Rows without a label have a prediction. How far predictions are off is known from labels, each "
    "predicted without itself, so the interval holds however good the model is, if labels were given "
    "at random or it is known how. Labels alone: what the labeled rows say without any prediction."
)


def all_rows_section(evidence: Evidence) -> Section | None:
    """The mean, or the share of each class, with and without predictions; None if nothing is told."""
    found = evidence.all_rows
    if found is None:
        return None
    if found.refused:
        return Section(_TITLE, [f"No mean or share of all rows is told. {found.refused}"])
    overall = found.overall[:_MOST_CLASSES]
    blocks: list[str | PageBlock] = [row.words(found.coverage) for row in overall]
    blocks += [*found.notes, SideBySide(_charts(found, overall))]
    if found.groups:
        blocks.append(_groups_table(found))
    return Section(_TITLE, [*blocks, Note(_HOW)])


def _charts(found: AllRowsAnswers, overall: Sequence[ToldEstimate]) -> list[BarChart]:
    bars = []
    for row in overall:
        name = "" if len(overall) == 1 else f"{short(_class_of(row))}, "
        bars.append(_bar(f"{name}with predictions", row, alone=False))
        bars.append(_bar(f"{name}labels alone", row, alone=True))
    charts = [_chart(overall[0].title() if len(overall) == 1 else "Share of each class", bars, found)]
    # One class of several is enough for a picture; the table has them all.
    first = [row for row in found.groups if row.what == found.groups[-1].what]
    if first:
        own = [_bar(short(row.group[found.by]), row, alone=False) for row in first]
        charts.append(_chart(f"{first[0].title()} by {short(found.by)}", own, found))
    return charts


def _chart(title: str, bars: Sequence[Bar], found: AllRowsAnswers) -> BarChart:
    """From zero for shares; means may lie far from it."""
    is_share = _is_share(found)
    label = f"{found.coverage:.0%} interval"
    ends = [end for bar in bars for end in (bar.interval or (bar.value,))]
    low, high = np.min(ends), np.max(ends)
    near_zero = low <= 0 or low < 0.5 * high  # then zero costs little
    across = (
        bar_axis(label, bars, share if is_share else plain)
        if is_share or near_zero
        else axis(label, ends, margin=_MARGIN)
    )
    description = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    rows = [(bar.name, bar.text) for bar in bars]
    return BarChart(short(title), f"{description}.", across, bars, ("", "estimate"), rows)


def _bar(name: str, row: ToldEstimate, *, alone: bool) -> Bar:
    value, low, high = (
        (row.labels_alone, row.labels_alone_low, row.labels_alone_high)
        if alone
        else (row.estimate, row.low, row.high)
    )
    text = percent(value) if row.what.startswith("share") else _text(row, value)
    ends = (low, high) if np.isfinite([low, high]).all() else None
    return Bar(name, text, value, ends, highlighted=not alone)


def _groups_table(found: AllRowsAnswers) -> DataTable:
    rows = []
    several = len({row.what for row in found.groups}) > 1
    for row in found.groups:
        value, low, high, alone_low, alone_high = row.texts()
        name = short(row.group[found.by]) + (" *" if row.is_shrunk else "")
        name = f"{name}, {short(_class_of(row))}" if several else name
        alone = "unknown" if "unknown" in (alone_low, alone_high) else f"{alone_low} to {alone_high}"
        rows.append((name, value, f"{low} to {high}", alone, f"{row.n_labels:,}", f"{row.n_rows:,}"))
    star = "; * fewer than 10 labels: drawn towards all rows"
    title = f"By {short(found.by)}{star if any(row.is_shrunk for row in found.groups) else ''}"
    heads = (short(found.by), "estimate", f"{found.coverage:.0%} interval", "labels alone")
    return DataTable(title, (*heads, "labels", "rows"), rows, look="wide")


def _text(row: ToldEstimate, value: float) -> str:
    """With the digits of the estimate."""
    decimals = len(row.texts()[0].partition(".")[2])
    return f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _class_of(row: ToldEstimate) -> str:
    return row.what.partition(" = ")[2] or row.what


def _is_share(found: AllRowsAnswers) -> bool:
    return found.overall[0].what.startswith("share")
