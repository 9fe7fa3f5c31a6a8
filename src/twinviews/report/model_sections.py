"""Sections on what the model does: which columns matter, how they act, where it is uncertain."""

from __future__ import annotations

import numpy as np

from twinviews.report.blocks import DataTable, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Axis, Bar, BarChart, Line, XYChart, axis, bar_axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.inspection import Dependence
from twinviews.report.sentences import axis_ticks, growth, number, percent, short, value

_MOST_BARS = 20
_MOST_CURVES = 4
_MOST_COLUMNS_SHOWN = 12
_MARGIN = 0.05
# An interval that ends so close to zero, as a share of its value, seems to reach zero.
_REACHES_ZERO = 0.01


def columns_section(evidence: Evidence) -> Section:
    """Permutation importance of each column, and its share in the learned metric."""
    measure = (
        "the error grows by as much as the model relied on it"
        if evidence.task == "regression"
        else "the probability of the true class falls by as much as the model relied on it"
    )
    blocks: list[str | PageBlock] = [
        f"One column at a time is shuffled among the hidden rows ({evidence.importance.n_shuffles} "
        f"times), and {measure} (permutation importance). Columns with the same information share the "
        f"importance: shuffling one of them does little harm. An interval that reaches zero may be "
        f"chance.",
        _importance_chart(evidence),
    ]
    if evidence.importance.has_metric:
        blocks += [
            "Some members of the ensemble learn a metric: they stretch columns that the target depends "
            "on and shrink the others. This is each column's share of the squared distance between two "
            "rows.",
            _metric_chart(evidence),
        ]
    return Section("Which columns matter", blocks)


def _importance_chart(evidence: Evidence) -> BarChart:
    columns = evidence.importance.columns
    regression = evidence.task == "regression"
    label = "increase of the error" if regression else "decrease of probability"
    bars = tuple(
        Bar(
            short(one.name),
            growth(evidence, one.growth.value),
            one.growth.value,
            (one.growth.low, one.growth.high),
            one.growth.low > _REACHES_ZERO * one.growth.value,
        )
        for one in columns[:_MOST_BARS]
    )
    return BarChart(
        f"Shuffling a column: {label}, with 95% intervals",
        _of_columns(bars, len(columns)),
        bar_axis(label, bars, axis_ticks(evidence)),
        bars,
        ("column", "change", "lower end", "upper end"),
        tuple((short(one.name), *(growth(evidence, end) for end in one.growth)) for one in columns),
    )


def _metric_chart(evidence: Evidence) -> BarChart:
    shares = [(short(one.name), one.metric or 0.0) for one in evidence.importance.columns]
    shares.sort(key=lambda pair: -pair[1])
    bars = tuple(Bar(name, percent(part), part) for name, part in shares[:_MOST_BARS])
    return BarChart(
        "Share of a column in the learned metric",
        _of_columns(bars, len(shares)),
        bar_axis("share of the distance", bars, share),
        bars,
        ("column", "share"),
        tuple((name, percent(part)) for name, part in shares),
    )


def _of_columns(bars: tuple[Bar, ...], n_columns: int) -> str:
    return (
        f"{len(bars)} of {n_columns} columns, the most important first. The first is {bars[0].name} "
        f"with {bars[0].text}."
    )


def dependence_section(evidence: Evidence) -> Section | None:
    """Partial dependence on the most important columns, all on one scale of predictions."""
    if not evidence.dependence:
        return None
    curves = [_curves(evidence, one)[1].ravel() for one in evidence.dependence]
    label = "mean prediction" if evidence.task == "regression" else "mean probability"
    predictions = axis(label, np.concatenate(curves), margin=_MARGIN, write=axis_ticks(evidence))
    return Section(
        "How the most important columns act",
        [
            "The mean prediction if a column had this value in every row and all other columns stayed "
            "as they are (partial dependence). It shows what the model does, not always a cause.",
            SideBySide(
                tuple(_dependence_chart(evidence, one, predictions) for one in evidence.dependence)
            ),
        ],
    )


def _dependence_chart(evidence: Evidence, one: Dependence, predictions: Axis) -> PageBlock:
    names, curves = _curves(evidence, one)
    write = number if evidence.task == "regression" else percent
    title, first = short(one.name), curves[:, 0]
    columns = (title, *names)
    rows = tuple(
        (value(at), *(write(level) for level in row))
        for at, row in zip(one.values, curves, strict=True)
    )
    description = (
        f"{predictions.label.capitalize()} of {names[0]} if {title} had one value in every row: from "
        f"{write(first[0])} at {value(one.values[0])} to {write(first[-1])} at {value(one.values[-1])}."
    )
    of_one = predictions._replace(label=f"{predictions.label} of {names[0]}")
    if one.at is None:
        bars = tuple(
            Bar(value(level), write(said), said) for level, said in zip(one.values, first, strict=True)
        )
        return BarChart(title, description, of_one, bars, columns, rows)
    lines = tuple(
        Line(name, tuple(zip(one.at, curve, strict=True)))
        for name, curve in zip(names, curves.T, strict=True)
    )
    y = predictions if len(names) > 1 else of_one
    return XYChart(title, description, _value_axis(one), y, columns, rows, lines=lines)


def _curves(evidence: Evidence, one: Dependence) -> tuple[list[str], np.ndarray]:
    """The prediction; of two classes the second; of more those that most labels are of."""
    classes = evidence.rows.classes
    if not classes:
        return [short(evidence.target)], one.curves
    if len(classes) == 2:
        return [value(classes[1])], one.curves[:, 1:]
    counts = np.bincount(evidence.rows.y, minlength=len(classes))
    shown = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CURVES])
    return [value(classes[j]) for j in shown], one.curves[:, shown]


def _value_axis(one: Dependence) -> Axis:
    """Ticks of numbers are round; of dates they are dates of the table."""
    assert one.at is not None, "levels have no axis"
    across = axis(short(one.name), one.at)
    if isinstance(one.values[0], (int, float)):
        return across
    some = sorted({0, len(one.values) // 2, len(one.values) - 1})
    return across._replace(ticks=tuple((one.at[j], value(one.values[j])) for j in some))


def uncertain_rows_section(evidence: Evidence) -> Section | None:
    """The unlabeled rows that the model is least certain of."""
    if not evidence.uncertain:
        return None
    names = [column.name for column in evidence.importance.columns][:_MOST_COLUMNS_SHOWN]
    if evidence.task == "regression":
        columns = ("row", "prediction", "standard deviation")
        meaning = "The standard deviation is how far the true value is expected to be off."
        said = [(number(row.prediction), number(row.uncertainty)) for row in evidence.uncertain]
    else:
        columns = ("row", "prediction", "probability")
        meaning = "The probability is that of the predicted class."
        said = [(value(row.prediction), percent(1 - row.uncertainty)) for row in evidence.uncertain]
    return Section(
        "Rows with the most uncertain predictions",
        [
            f"The unlabeled rows to look at, or to label, first. {meaning}",
            DataTable(
                "Most uncertain rows first; columns in order of importance",
                (*columns, *map(short, names)),
                tuple(
                    (str(row.number), *told, *(value(row.values[name]) for name in names))
                    for row, told in zip(evidence.uncertain, said, strict=True)
                ),
                look="wide",
            ),
            Note("Rows are counted from 1, in the order of the table."),
        ],
    )


def views_section(evidence: Evidence) -> Section | None:
    """Canonical correlations of the two views, for a model that has two."""
    if not hasattr(evidence.model, "correlations_"):
        return None
    correlations = np.asarray(evidence.model.correlations_)
    dimension = float(evidence.model.effective_dimension_)
    strong = int(np.sum(correlations > 0.5))
    points = tuple(enumerate(map(float, correlations), start=1))
    chart = XYChart(
        "Canonical correlations, largest first",
        f"A falling line: {strong} of {len(correlations)} directions have a correlation above 0.5. "
        f"The sum of the squares, the effective dimension, is {number(dimension)}.",
        axis("direction", [1.0, max(2.0, float(len(correlations)))], write="{:,.0f}".format),
        axis("correlation", [0, 1]),
        ("direction", "correlation"),
        tuple((str(j), f"{r:.3f}") for j, r in points),
        lines=(Line("correlation", points),),
    )
    text = (
        f"Two views describe every row, each by its own random landmarks. Directions on which both "
        f"views agree are likely to be real. The correlations say how far they agree, one by one; "
        f"the effective dimension, {number(dimension)}, is the sum of the squared correlations. The "
        f"lower it is, the fewer labels are needed."
    )
    return Section("What the two views agree on", [text, chart])
