"""Sections on the model: which columns matter, how they act, where it is uncertain, how it was made."""

from __future__ import annotations

import platform
from itertools import pairwise

import numpy as np
import sklearn

import twinviews
from twinviews.report.blocks import DataTable, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Axis, Bar, BarChart, Line, XYChart, axis, bar_axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.inspection import Dependence
from twinviews.report.sentences import axis_ticks, growth, number, percent, short, value

_MOST_BARS = 20
_MOST_CURVES = 4
_MOST_COLUMNS_SHOWN = 12
_MOST_COLUMNS_UNFOLDED = 30
_MARGIN = 0.05
# An interval that ends so close to zero, as a share of its value, seems to reach zero.
_REACHES_ZERO = 0.01
_MEANINGS = {
    "n_components": "features of each view",
    "sigma": "width of the kernel: rows closer than this are similar",
    "ridge": "penalty on large coefficients",
    "correlation_ridge": "penalty on directions of small variance",
    "canonical_weight": "penalty on directions on which the views differ",
}


def columns_section(evidence: Evidence) -> Section:
    """Permutation importance of each column, and its share in the learned metric."""
    columns = [(short(one.name), one.growth, one.metric) for one in evidence.importance.columns]
    measure, label = (
        ("the error grows", "increase of the error")
        if evidence.task == "regression"
        else ("the probability of the true class falls", "decrease of probability")
    )
    bars = [
        Bar(
            name,
            growth(evidence, grown.value),
            grown.value,
            grown[1:],
            grown.low > _REACHES_ZERO * grown.value,
        )
        for name, grown, _ in columns
    ]
    blocks: list[str | PageBlock] = [
        f"One column at a time is shuffled among the hidden rows ({evidence.importance.n_shuffles} "
        f"times), and {measure} by as much as the model relied on it (permutation importance). Columns "
        f"with the same information share the importance: shuffling one of them does little harm. An "
        f"interval that reaches zero may be chance.",
        _columns_chart(
            f"Shuffling a column: {label}, with 95% intervals",
            bar_axis(label, bars[:_MOST_BARS], axis_ticks(evidence)),
            bars,
            ("column", "change", "lower end", "upper end"),
            [(name, *(growth(evidence, end) for end in grown)) for name, grown, _ in columns],
        ),
    ]
    shares = [Bar(name, percent(part), part) for name, _, part in columns if part is not None]
    if shares:
        shares.sort(key=lambda bar: -bar.value)
        blocks += [
            "Some members of the ensemble learn a metric: they stretch columns that the target depends "
            "on and shrink the others. This is each column's share of the squared distance between two "
            "rows.",
            _columns_chart(
                "Share of a column in the learned metric",
                bar_axis("share of the distance", shares[:_MOST_BARS], share),
                shares,
                ("column", "share"),
                [(bar.name, bar.text) for bar in shares],
            ),
        ]
    return Section("Which columns matter", blocks)


def _columns_chart(
    title: str, of_axis: Axis, bars: list[Bar], columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> BarChart:
    """The first bars; the table of numbers has all columns."""
    shown, first = bars[:_MOST_BARS], bars[0]
    description = (
        f"{len(shown)} of {len(bars)} columns, the most important first. The first is {first.name} "
        f"with {first.text}."
    )
    return BarChart(title, description, of_axis, shown, columns, rows)


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
            SideBySide([_dependence_chart(evidence, one, predictions) for one in evidence.dependence]),
        ],
    )


def _dependence_chart(evidence: Evidence, one: Dependence, predictions: Axis) -> PageBlock:
    names, curves = _curves(evidence, one)
    write = number if evidence.task == "regression" else percent
    title, first = short(one.name), curves[:, 0]
    values = [value(cell) for cell in one.values]
    columns = (title, *names)
    rows = [(at, *map(write, row)) for at, row in zip(values, curves, strict=True)]
    description = (
        f"{predictions.label.capitalize()} of {names[0]} if {title} had one value in every row: from "
        f"{write(first[0])} at {values[0]} to {write(first[-1])} at {values[-1]}."
    )
    of_one = predictions._replace(label=f"{predictions.label} of {names[0]}")
    if one.at is None:
        bars = [Bar(at, write(said), said) for at, said in zip(values, first, strict=True)]
        return BarChart(title, description, of_one, bars, columns, rows)
    x = axis(title, one.at)
    if not isinstance(one.values[0], (int, float)):  # ticks at dates of the table
        some = sorted({0, len(values) // 2, len(values) - 1})
        x = x._replace(ticks=[(one.at[j], values[j]) for j in some])
    lines = [
        Line(name, list(zip(one.at, curve, strict=True)))
        for name, curve in zip(names, curves.T, strict=True)
    ]
    y = predictions if len(names) > 1 else of_one
    return XYChart(title, description, x, y, columns, rows, lines=lines)


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


def uncertain_rows_section(evidence: Evidence) -> Section | None:
    """The unlabeled rows that the model is least certain of."""
    if not evidence.uncertain:
        return None
    names = [column.name for column in evidence.importance.columns][:_MOST_COLUMNS_SHOWN]
    if evidence.task == "regression":
        doubt = "standard deviation"
        meaning = "The standard deviation is how far the true value is expected to be off."
        said = [(number(row.prediction), number(row.uncertainty)) for row in evidence.uncertain]
    else:
        doubt, meaning = "probability", "The probability is that of the predicted class."
        if evidence.model.class_weight is not None:
            meaning += " With costs, those are the rows at which another class costs hardly more."
        said = [(value(row.prediction), percent(1 - row.uncertainty)) for row in evidence.uncertain]
    return Section(
        "Rows with the most uncertain predictions",
        [
            f"The unlabeled rows to look at, or to label, first. {meaning}",
            DataTable(
                "Most uncertain rows first; columns in order of importance",
                ("row", "prediction", doubt, *map(short, names)),
                [
                    (str(row.number), *told, *(value(row.values[name]) for name in names))
                    for row, told in zip(evidence.uncertain, said, strict=True)
                ],
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
    dimension = number(float(evidence.model.effective_dimension_))
    points = list(enumerate(map(float, correlations), start=1))
    chart = XYChart(
        "Canonical correlations, largest first",
        f"A falling line: {np.sum(correlations > 0.5)} of {len(points)} directions have a correlation "
        f"above 0.5. The sum of the squares, the effective dimension, is {dimension}.",
        axis("direction", [1.0, max(2.0, len(points))], write="{:,.0f}".format),
        axis("correlation", [0, 1]),
        ("direction", "correlation"),
        [(str(j), f"{r:.3f}") for j, r in points],
        lines=[Line("correlation", points)],
    )
    text = (
        f"Two views describe every row, each by its own random landmarks. Directions on which both "
        f"views agree are likely to be real. The correlations say how far they agree, one by one; "
        f"the effective dimension, {dimension}, is the sum of the squared correlations. The lower it "
        f"is, the fewer labels are needed."
    )
    return Section("What the two views agree on", [text, chart])


def table_section(evidence: Evidence) -> Section:
    """The target, the labels and the columns as they were read."""
    rows = evidence.rows
    parts = []
    if rows.n_labeled_used < rows.n_labeled:
        parts.append(f"{rows.n_labeled_used:,} of the {rows.n_labeled:,} labeled rows")
    if rows.n_unlabeled_used < rows.n_unlabeled:
        parts.append(f"{rows.n_unlabeled_used:,} of the {rows.n_unlabeled:,} rows without a label")
    part = f"To save time, this report uses {' and '.join(parts)}, drawn at random."
    choice = f"a choice among {len(rows.classes)} classes"
    many = len(rows.columns) > _MOST_COLUMNS_UNFOLDED
    return Section(
        "What was found in the table",
        [
            *([part] if parts else []),
            f"The target {short(evidence.target)} was taken as "
            f"{choice if rows.classes else 'a number to be predicted'}.",
            _labels_chart(evidence),
            DataTable(
                "Columns and what was done with them",
                ("column", "taken as", "blanks", "how"),
                [(short(one.name), one.kind, f"{one.blanks:,}", one.words) for one in rows.columns],
                of_text=True,
                look="explained",
                folded=f"All {len(rows.columns)} columns, and what was done with them" if many else "",
            ),
        ],
    )


def _labels_chart(evidence: Evidence) -> BarChart:
    """How many labels of each class, or in each range of numbers."""
    rows = evidence.rows
    if rows.classes:
        counts = np.bincount(rows.y, minlength=len(rows.classes))
        names = [value(name) for name in rows.classes]
        order = np.argsort(-counts, kind="stable")[:_MOST_BARS]
        title, unit = "Labels of each class", "class"
    else:
        counts, edges = np.histogram(rows.y, bins=min(8, max(2, len(rows.y) // 8)))
        names = [f"{number(low)} to {number(high)}" for low, high in pairwise(edges)]
        order = np.arange(len(counts))
        title, unit = "Distribution of the labels", "range"
    bars = [Bar(names[j], f"{counts[j]:,}", float(counts[j])) for j in order]
    return BarChart(
        title,
        f"Labeled rows of each {unit}. The most, {counts.max()}, are of {names[counts.argmax()]}.",
        bar_axis("labeled rows", bars, "{:,.0f}".format),
        bars,
        (unit, "labeled rows"),
        [(bar.name, bar.text) for bar in bars],
    )


def fit_section(evidence: Evidence) -> Section:
    """How the model was fitted: members, parameters, seed and versions."""
    model, members = evidence.model, getattr(evidence.model, "members_", ())
    left_out = f" ({evidence.n_left_out:,} were left out)" if evidence.n_left_out else ""
    blocks: list[str | PageBlock] = [
        f"{type(model).__name__}, fitted with {model.n_labeled_:,} labels and {model.n_unlabeled_:,} "
        f"unlabeled rows{left_out}; the error to expect and the sections on columns and views are of "
        f"this model. The models of the comparison on hidden labels had fewer labels and the same "
        f"parameters."
    ]
    if members:
        mean = "a weighted mean" if evidence.task == "regression" else "a weighted mixture"
        blocks += [
            f"The prediction is {mean} of the predictions of {len(members)} ensemble members. The "
            f"weights follow from how well each predicts labels that were left out of its fit.",
            DataTable(
                "Members of the ensemble",
                ("member, scale of its columns", "weight"),
                [(name, percent(weight)) for name, weight in members],
            ),
        ]
    chosen = {name: getattr(model, f"{name}_", None) for name in _MEANINGS}
    libraries = (("twinviews", twinviews), ("scikit-learn", sklearn), ("NumPy", np))
    versions = ", ".join(f"{name} {library.__version__}" for name, library in libraries)
    blocks += [
        DataTable(
            "Parameters that were chosen or given",
            ("name", "value", "meaning"),
            [
                (name, number(float(amount)), _MEANINGS[name])
                for name, amount in chosen.items()
                if amount is not None
            ],
            of_text=True,
        ),
        DataTable(
            "Parameters",
            ("name", "as given"),
            [(name, repr(given)) for name, given in sorted(model.get_params().items())],
            of_text=True,
            folded="Numbers: all parameters",
        ),
        Note(f"Seed {evidence.seed}. {versions}, Python {platform.python_version()}."),
    ]
    return Section("How the model was fitted", blocks)
