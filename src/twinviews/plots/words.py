"""What a measure of error is called on an axis."""

from __future__ import annotations

from twinviews.evaluation.draws import LabeledTable, Measure


def error_words(table: LabeledTable, measure: Measure | None) -> str:
    if measure is None:
        return "error rate" if table.classes else "normalised squared error"
    return getattr(measure, "__name__", "error").replace("_", " ")
