"""The section on whether the labeled rows are like all rows."""

from __future__ import annotations

from typing import Any

from twinviews.report.blocks import DataTable, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Bar, BarChart, axis, bar_axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import percent, short

_MOST_CHARTS = 4
_MARGIN = 0.05
_CORRECTED = (
    "In the error to expect and in the intervals of predictions, labels count by how many rows they "
    "stand for; rows that no label is like have no interval. Label some of the other rows, drawn at "
    "random: then less depends on these weights."
)
_NOT_CORRECTED = (
    "The other rows were left out of the fit, so the error to expect and the intervals hold for rows "
    "like the labeled ones. Elsewhere they are too good. Label some of the other rows, drawn at random."
)


def shift_section(evidence: Evidence) -> Section | None:
    """Which columns differ and how much, and levels without a label; None where it is unknown."""
    shift = getattr(evidence.model, "shift_", None)
    if shift is None:
        return None
    blocks: list[str | PageBlock] = [shift.words()]
    if shift.is_shifted:
        blocks.append(_NOT_CORRECTED if evidence.n_left_out else _CORRECTED)
    if shift.columns:
        blocks.append(SideBySide([_chart(column) for column in shift.columns[:_MOST_CHARTS]]))
    if len(shift.columns) > _MOST_CHARTS:
        blocks.append(
            DataTable(
                "All columns that differ, those that differ most first",
                ("column", "how"),
                [(short(column.name), column.words()) for column in shift.columns],
                of_text=True,
                look="explained",
                folded=f"All {len(shift.columns)} columns that differ",
            )
        )
    if shift.unlabeled_levels:
        blocks.append(
            DataTable(
                "Levels that rows have and no labeled row has",
                ("column", "level", "rows"),
                [
                    (short(one.column), short(one.level), f"{one.n_rows:,}")
                    for one in shift.unlabeled_levels
                ],
            )
        )
        blocks.append("What is predicted there is a guess from other columns and other levels.")
    blocks.append(
        Note(
            "A classifier was asked to tell labeled rows from the others, each by a fit without it. "
            "The p-value is the share of random choices of labels for which it does as well."
        )
    )
    return Section("Are the labeled rows like all rows?", blocks)


def _chart(column: Any) -> BarChart:
    """Both samples on the axis of one column."""
    both = (("labeled rows", column.labeled), ("all rows", column.all_rows))
    name, description = short(column.name), f"{column.words()}."
    if column.level is not None:
        bars = [Bar(of, percent(part[0]), part[0]) for of, part in both]
        return BarChart(
            f"{name}: {short(column.level)}",
            description,
            bar_axis("share of the rows", bars, share),
            bars,
            ("rows", "share"),
            [(bar.name, bar.text) for bar in bars],
        )
    ends = [end for _, quantiles in both for end in quantiles]
    return BarChart(
        name,
        description,
        axis("median, and from the 5% to the 95% quantile", ends, write=column.text, margin=_MARGIN),
        [Bar(of, column.text(middle), middle, (low, high)) for of, (low, middle, high) in both],
        ("rows", "5% quantile", "median", "95% quantile"),
        [(of, *map(column.text, quantiles)) for of, quantiles in both],
    )
