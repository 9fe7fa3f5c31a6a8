"""The evidence as charts, each with a sentence for who cannot see it and a table of its numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from twinviews.report.charts import (
    Axis,
    Bar,
    BarChart,
    DataTable,
    Dot,
    Line,
    Plane,
    Tick,
    axis,
    plain,
    share,
)
from twinviews.report.dependence import Dependence
from twinviews.report.evidence import Evidence
from twinviews.report.held_out import HeldOutClasses, HeldOutNumbers
from twinviews.report.making import Spectrum
from twinviews.report.sentences import error, gain, growth, number, percent, short, value

THIS_MODEL = "this model"
_MOST_BARS = 20
# Dots on the edge of a picture are cut in half to the eye.
_MARGIN = 0.05
_MOST_CURVES = 4
# An interval that ends so close to zero, as a share of its value, reaches it to the eye.
_REACHES_ZERO = 0.01
_MOST_ROWS_LISTED = 200


# --- what was found ---------------------------------------------------------------------------------


def labels_figure(evidence: Evidence) -> BarChart:
    """How many labels of each class, or in each range of numbers."""
    found = evidence.found
    if found.classes:
        counts = np.bincount(found.labels, minlength=len(found.classes))
        names = [value(name) for name in found.classes]
        column = "class"
    else:
        counts, edges = np.histogram(found.labels, bins=min(8, max(2, len(found.labels) // 8)))
        names = [f"{number(low)} to {number(high)}" for low, high in pairwise(edges)]
        column = "range"
    order = np.argsort(-counts, kind="stable")[:_MOST_BARS] if found.classes else np.arange(len(counts))
    across = axis("labeled rows", [float(counts.max())], write="{:,.0f}".format, zero=True)
    most = names[int(counts.argmax())]
    return BarChart(
        "Labels of each class" if found.classes else "How the labels are spread",
        f"Bars: labeled rows of each {column}. The most, {counts.max()}, are of {most}.",
        across,
        tuple(Bar(names[j], f"{counts[j]:,}", 0, across.at(counts[j]), None, True) for j in order),
        DataTable((column, "labeled rows"), tuple((names[j], f"{counts[j]:,}") for j in order)),
    )


# --- how good ---------------------------------------------------------------------------------------


def errors_figure(evidence: Evidence) -> BarChart:
    """Of the model, the baselines and the model without unlabeled rows."""
    outcome = evidence.outcome
    rivals = [*outcome.baselines, *([] if outcome.alone is None else [outcome.alone])]
    errors = [(THIS_MODEL, outcome.error), *((rival.name, rival.error) for rival in rivals)]
    label = (
        "typical error, in units of the target"
        if evidence.task == "regression"
        else "share of rows wrong"
    )
    across = axis(
        label,
        [end for _, one in errors for end in (one.low, one.high)],
        zero=True,
        write=_ticks(evidence),
    )
    bars = tuple(
        Bar(
            name,
            error(evidence, one.value),
            0,
            across.at(one.value),
            (across.at(one.low), across.at(one.high)),
            name == THIS_MODEL,
        )
        for name, one in errors
    )
    listed = "; ".join(f"{name} {error(evidence, one.value)}" for name, one in errors)
    gains = [("", ""), *(gain(evidence, rival) for rival in rivals)]
    rows = tuple(
        (name, error(evidence, one.value), error(evidence, one.low), error(evidence, one.high), *gained)
        for (name, one), gained in zip(errors, gains, strict=True)
    )
    columns = (
        "method",
        "error",
        "lower end",
        "upper end",
        "this model is lower by",
        "interval of that",
    )
    return BarChart(
        "Error on hidden labels, with 95% intervals",
        f"Intervals of the error of each method: {listed}.",
        across,
        bars,
        DataTable(columns, rows),
        dots=True,
    )


def truth_figure(held_out: HeldOutNumbers) -> Plane:
    ends = [*held_out.truth, *held_out.predicted]
    x, y = axis("predicted", ends, margin=_MARGIN), axis("true value", ends, margin=_MARGIN)
    dots = zip(held_out.predicted, held_out.truth, strict=True)
    flat = min(np.ptp(held_out.predicted), np.ptp(held_out.truth)) == 0
    r = 0.0 if flat else np.corrcoef(held_out.predicted, held_out.truth)[0, 1]
    return Plane(
        "True values against predictions",
        f"A dot for each of {len(held_out.truth)} hidden rows. On the line the prediction is right. "
        f"The correlation of predicted and true values is {r:.2f}.",
        x,
        y,
        tuple(Dot(x.at(said), y.from_top(true)) for said, true in dots),
        (),
        Line("prediction is right", ((0, 100), (100, 0))),
        _held_out_table(held_out),
    )


def residuals_figure(held_out: HeldOutNumbers) -> Plane:
    residuals = held_out.residuals
    x = axis("predicted", held_out.predicted, margin=_MARGIN)
    y = axis("true value less prediction", residuals, zero=True, margin=_MARGIN)
    level = y.from_top(0)
    low, middle, high = np.quantile(residuals, [0.05, 0.5, 0.95])
    return Plane(
        "What is left over, against predictions",
        f"A dot for each of {len(residuals)} hidden rows: above the line the prediction was too low. "
        f"The middle of what is left over is {number(middle)}; nine in ten lie from {number(low)} to "
        f"{number(high)}.",
        x,
        y,
        tuple(
            Dot(x.at(said), y.from_top(left))
            for said, left in zip(held_out.predicted, residuals, strict=True)
        ),
        (),
        Line("nothing left over", ((0, level), (100, level))),
        _held_out_table(held_out),
    )


def _held_out_table(held_out: HeldOutNumbers) -> DataTable:
    """The worst misses first."""
    order = np.argsort(-np.abs(held_out.residuals), kind="stable")[:_MOST_ROWS_LISTED]
    columns = ("row of the table", "true value", "predicted", "true less predicted")
    rows = tuple(
        (
            str(held_out.number[j]),
            number(held_out.truth[j]),
            number(held_out.predicted[j]),
            number(held_out.residuals[j]),
        )
        for j in order
    )
    return DataTable(columns, rows)


# --- doubts -----------------------------------------------------------------------------------------


def coverage_figure(held_out: HeldOutNumbers) -> Plane:
    coverage = held_out.coverage()
    x = axis("promised", [0.4, 1.0], write=share)
    y = axis("true values inside", [0, 1], write=share)
    dots = tuple(
        Dot(
            x.at(one.promised),
            y.from_top(one.inside.value),
            (y.from_top(one.inside.low), y.from_top(one.inside.high)),
        )
        for one in coverage
    )
    listed = "; ".join(f"{one.promised:.0%}: {percent(one.inside.value)}" for one in coverage)
    return Plane(
        "Intervals: promised and kept",
        f"For intervals of each promised coverage, the share of hidden rows inside. {listed}.",
        x,
        y,
        dots,
        (),
        Line("kept as promised", ((0, y.from_top(0.4)), (100, y.from_top(1.0)))),
        DataTable(
            ("promised", "inside", "lower end", "upper end", "mean width"),
            tuple(
                (f"{one.promised:.0%}", *map(percent, one.inside), number(one.width))
                for one in coverage
            ),
        ),
    )


def reliability_figure(held_out: HeldOutClasses) -> Plane:
    bins = held_out.reliability()
    least = min(0.5, *(one.sureness for one in bins), 1.0)
    x = axis("how sure the model was", [least, 1], write=share)
    y = axis("how often it was right", [0, 1], write=share)
    dots = tuple(
        Dot(
            x.at(one.sureness),
            y.from_top(one.right.value),
            (y.from_top(one.right.low), y.from_top(one.right.high)),
        )
        for one in bins
    )
    listed = "; ".join(
        f"{one.n_rows} rows at {percent(one.sureness)} sure, {percent(one.right.value)} right"
        for one in bins
    )
    return Plane(
        "Sureness and being right",
        f"Hidden rows in groups of like sureness: {listed}.",
        x,
        y,
        dots,
        (),
        Line("as sure as right", ((0, y.from_top(least)), (100, 0))),
        DataTable(
            ("rows", "how sure", "how often right", "lower end", "upper end"),
            tuple((str(one.n_rows), percent(one.sureness), *map(percent, one.right)) for one in bins),
        ),
    )


# --- what the predictions rest on -------------------------------------------------------------------


def importance_figure(evidence: Evidence) -> BarChart:
    columns = evidence.importance.columns
    shown = columns[:_MOST_BARS]
    regression = evidence.task == "regression"
    label = "how much the error grows" if regression else "how much less sure of the truth"
    ends = [end for one in shown for end in (one.growth.low, one.growth.high)]
    across = axis(label, ends, zero=True, write=_ticks(evidence))
    zero = across.at(0)
    bars = tuple(
        Bar(
            short(one.name),
            growth(evidence, one.growth.value),
            zero,
            across.at(one.growth.value),
            (across.at(one.growth.low), across.at(one.growth.high)),
            one.growth.low > _REACHES_ZERO * one.growth.value,
        )
        for one in shown
    )
    best = shown[0]
    return BarChart(
        f"Shuffling a column: {label}, with 95% intervals",
        f"Bars for {len(shown)} of {len(columns)} columns, most important first. The first "
        f"is {short(best.name)} with {growth(evidence, best.growth.value)}.",
        across,
        bars,
        DataTable(
            ("column", "growth", "lower end", "upper end"),
            tuple((short(one.name), *(growth(evidence, end) for end in one.growth)) for one in columns),
        ),
        dots=True,
    )


def metric_figure(evidence: Evidence) -> BarChart | None:
    shares = [
        (short(one.name), one.metric) for one in evidence.importance.columns if one.metric is not None
    ]
    if not shares:
        return None
    shares.sort(key=lambda pair: -pair[1])
    across = axis("share of the distance", [shares[0][1]], write=share, zero=True)
    return BarChart(
        "How much a column counts when rows are compared",
        f"Bars for {min(len(shares), _MOST_BARS)} of {len(shares)} columns, largest first. The first "
        f"is {shares[0][0]} with {percent(shares[0][1])}.",
        across,
        tuple(
            Bar(name, percent(share), 0, across.at(share), None, True)
            for name, share in shares[:_MOST_BARS]
        ),
        DataTable(("column", "share"), tuple((name, percent(share)) for name, share in shares)),
    )


def dependence_figures(evidence: Evidence) -> list[Plane | BarChart]:
    """With one axis of answers for all, so that a column that changes little looks so."""
    curves = [_curves(evidence, one)[1].ravel() for one in evidence.dependence]
    said = "mean prediction" if evidence.task == "regression" else "mean probability"
    answers = (
        axis(said, np.concatenate(curves), margin=_MARGIN, write=_ticks(evidence)) if curves else None
    )
    return [_dependence_figure(evidence, one, answers) for one in evidence.dependence if answers]


def _dependence_figure(evidence: Evidence, one: Dependence, answers: Axis) -> Plane | BarChart:
    names, curves = _curves(evidence, one)
    write = number if evidence.task == "regression" else percent
    title, first = short(one.name), curves[:, 0]
    table = DataTable(
        (title, *names),
        tuple(
            (value(at), *(write(level) for level in row))
            for at, row in zip(one.values, curves, strict=True)
        ),
    )
    description = (
        f"{answers.label.capitalize()} of {names[0]} if {title} had one value in every row: from "
        f"{write(first[0])} at {value(one.values[0])} to {write(first[-1])} at {value(one.values[-1])}."
    )
    if one.at is None:
        bars = [
            Bar(value(level), write(said), 0, answers.at(said), None, True)
            for level, said in zip(one.values, first, strict=True)
        ]
        across = answers._replace(label=f"{answers.label} of {names[0]}")
        return BarChart(title, description, across, tuple(bars), table)
    x = _value_axis(one)
    lines = [
        Line(
            name,
            tuple((x.at(at), answers.from_top(said)) for at, said in zip(one.at, curve, strict=True)),
        )
        for name, curve in zip(names, curves.T, strict=True)
    ]
    across = answers if len(names) > 1 else answers._replace(label=f"{answers.label} of {names[0]}")
    return Plane(title, description, x, across, (), tuple(lines), None, table)


def _ticks(evidence: Evidence) -> Callable[[float], str]:
    """How an axis is written on which errors or answers lie."""
    return plain if evidence.task == "regression" else share


def _curves(evidence: Evidence, one: Dependence) -> tuple[list[str], np.ndarray]:
    """The prediction; of two classes the second; of more those that most labels are of."""
    classes = evidence.found.classes
    if not classes:
        return [short(evidence.target)], one.curves
    if len(classes) == 2:
        return [value(classes[1])], one.curves[:, 1:]
    counts = np.bincount(evidence.found.labels, minlength=len(classes))
    shown = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CURVES])
    return [value(classes[j]) for j in shown], one.curves[:, shown]


def _value_axis(one: Dependence) -> Axis:
    """Ticks of numbers are round; of dates they are dates of the table."""
    assert one.at is not None, "levels have no axis"
    across = axis(short(one.name), one.at)
    if isinstance(one.values[0], (int, float)):
        return across
    some = sorted({0, len(one.values) // 2, len(one.values) - 1})
    ticks = tuple(Tick(across.at(one.at[j]), value(one.values[j])) for j in some)
    return across._replace(ticks=ticks)


def spectrum_figure(spectrum: Spectrum) -> Plane:
    correlations = spectrum.correlations
    x = axis("direction", [1.0, max(2.0, float(len(correlations)))], write="{:,.0f}".format)
    y = axis("correlation", [0, 1])
    points = tuple((x.at(j), y.from_top(one)) for j, one in enumerate(correlations, start=1))
    strong = int(np.sum(correlations > 0.5))
    return Plane(
        "Canonical correlations, largest first",
        f"A falling line: {strong} of {len(correlations)} directions have a correlation above a half. "
        f"The sum of the squares, the effective dimension, is {number(spectrum.effective_dimension)}.",
        x,
        y,
        (),
        (Line("correlation", points),),
        None,
        DataTable(
            ("direction", "correlation"),
            tuple((str(j), f"{one:.3f}") for j, one in enumerate(correlations, start=1)),
        ),
    )
