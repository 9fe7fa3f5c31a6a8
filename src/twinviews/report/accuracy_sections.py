"""Sections on how good the predictions are: errors, unlabeled rows, residuals, uncertainty."""

from __future__ import annotations

import numpy as np

from twinviews.report.blocks import DataTable, Definitions, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Bar, BarChart, Dot, Line, XYChart, axis, bar_axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import (
    axis_ticks,
    between,
    calibration,
    error,
    gain,
    how_judged,
    number,
    percent,
    value,
)
from twinviews.report.tasks import HeldOutClasses, HeldOutNumbers

THIS_MODEL = "this model"
# Half of a dot on the edge of a picture would be cut off.
_MARGIN = 0.05
_MOST_ROWS_LISTED = 200
_HELD_OUT_COLUMNS = ("row of the table", "true value", "predicted", "residual")


def errors_section(evidence: Evidence) -> Section:
    """The error of the model beside those of the baselines."""
    outcome = evidence.outcome
    blocks: list[str | PageBlock] = [
        how_judged(evidence),
        _errors_chart(evidence),
        Definitions(tuple((one.name.capitalize(), one.words) for one in outcome.baselines)),
        Note(
            "A dot is the measured error, its line the 95% confidence interval. Methods are compared "
            "row by row, so two methods can differ clearly although their lines overlap: the table of "
            "numbers has the interval of each difference."
        ),
    ]
    if isinstance(outcome.held_out, HeldOutNumbers):
        absolute = number(float(np.abs(outcome.held_out.residuals).mean()))
        blocks.append(f"The mean absolute error, which weighs large errors less, is {absolute}.")
    return Section("Error compared with simple methods", blocks)


def _errors_chart(evidence: Evidence) -> BarChart:
    outcome = evidence.outcome
    others = [*outcome.baselines, *([] if outcome.alone is None else [outcome.alone])]
    errors = [(THIS_MODEL, outcome.error), *((other.name, other.error) for other in others)]
    gains = [("", ""), *(gain(evidence, other) for other in others)]
    bars = tuple(
        Bar(name, error(evidence, one.value), one.value, (one.low, one.high), name == THIS_MODEL)
        for name, one in errors
    )
    label = "root mean squared error" if evidence.task == "regression" else "share of rows wrong"
    listed = "; ".join(f"{bar.name} {bar.text}" for bar in bars)
    return BarChart(
        "Error on hidden labels, with 95% intervals",
        f"The error of each method with its interval: {listed}.",
        bar_axis(label, bars, axis_ticks(evidence)),
        bars,
        ("method", "error", "lower end", "upper end", "this model is lower by", "interval of that"),
        tuple(
            (name, *(error(evidence, end) for end in one), *gained)
            for (name, one), gained in zip(errors, gains, strict=True)
        ),
    )


def unlabeled_section(evidence: Evidence) -> Section:
    """The error with and without the unlabeled rows."""
    title = "What the unlabeled rows contributed"
    outcome, alone = evidence.outcome, evidence.outcome.alone
    if alone is None:
        return Section(title, [f"Not known. {outcome.why_not_alone}"])
    gained, interval = gain(evidence, alone)
    rows = [
        (name, error(evidence, one.value), between(evidence, one))
        for name, one in ((THIS_MODEL, outcome.error), (alone.name, alone.error))
    ]
    verdict = {
        "better": "They helped: the gain is larger than chance would explain.",
        "worse": "They did harm: the error is lower without them, by more than chance would explain.",
        "level": f"{outcome.n_test} rows are too few to tell whether they helped: the interval of the "
        "gain contains zero. Unlabeled rows help most where they form groups, or where labels are very "
        "few.",
    }[alone.verdict]
    return Section(
        title,
        [
            f"The same model was fitted twice, with the {evidence.rows.n_unlabeled_used:,} unlabeled "
            f"rows and without them, and judged on the same hidden labels.",
            DataTable(
                "Error with and without the unlabeled rows",
                ("model", "error", "95% interval"),
                (*rows, ("gain, row by row", gained, interval)),
            ),
            verdict,
        ],
    )


def mistakes_section(evidence: Evidence) -> Section:
    """Residuals of numbers, or the confusion matrix of classes."""
    held_out = evidence.outcome.held_out
    if isinstance(held_out, HeldOutNumbers):
        charts = SideBySide((_truth_chart(held_out), _residuals_chart(held_out)))
        return Section("Where it is wrong", ["Each dot is a row whose label was hidden.", charts])
    counts = held_out.confusion()
    names = [value(name) for name in evidence.rows.classes]
    rows = [
        (name, *map(str, row), percent(row[place] / row.sum()) if row.sum() else "none hidden")
        for place, (name, row) in enumerate(zip(names, counts, strict=True))
    ]
    return Section(
        "Where it is wrong",
        [
            "Hidden rows of each true class, by the predicted class. The diagonal is right.",
            DataTable(
                f"Confusion matrix of {evidence.outcome.n_test} hidden rows",
                ("true class", *(f"predicted {name}" for name in names), "recall"),
                tuple(rows),
                look="confusion",
            ),
            Note("Recall, the last column, is the share of the class that was predicted as such."),
        ],
    )


def _truth_chart(held_out: HeldOutNumbers) -> XYChart:
    ends = [*held_out.truth, *held_out.predicted]
    x, y = axis("predicted", ends, margin=_MARGIN), axis("true value", ends, margin=_MARGIN)
    flat = min(np.ptp(held_out.predicted), np.ptp(held_out.truth)) == 0
    r = 0.0 if flat else np.corrcoef(held_out.predicted, held_out.truth)[0, 1]
    return XYChart(
        "True values against predictions",
        f"A dot for each of {len(held_out.truth)} hidden rows. On the line the prediction is right. "
        f"The correlation of predicted and true values is {r:.2f}.",
        x,
        y,
        _HELD_OUT_COLUMNS,
        _held_out_rows(held_out),
        dots=tuple(map(Dot, held_out.predicted, held_out.truth)),
        reference=Line("prediction is right", ((x.low, x.low), (x.high, x.high))),
    )


def _residuals_chart(held_out: HeldOutNumbers) -> XYChart:
    residuals = held_out.residuals
    x = axis("predicted", held_out.predicted, margin=_MARGIN)
    low, middle, high = (number(end) for end in np.quantile(residuals, [0.05, 0.5, 0.95]))
    return XYChart(
        "Residuals against predictions",
        f"A dot for each of {len(residuals)} hidden rows: above the line the prediction was too low. "
        f"The median residual is {middle}; nine in ten lie from {low} to {high}.",
        x,
        axis("true value less prediction", residuals, zero=True, margin=_MARGIN),
        _HELD_OUT_COLUMNS,
        _held_out_rows(held_out),
        dots=tuple(map(Dot, held_out.predicted, residuals)),
        reference=Line("prediction is right", ((x.low, 0), (x.high, 0))),
    )


def _held_out_rows(held_out: HeldOutNumbers) -> tuple[tuple[str, ...], ...]:
    """The hidden rows, the largest residuals first."""
    columns = np.stack([held_out.truth, held_out.predicted, held_out.residuals], axis=1)
    order = np.argsort(-np.abs(held_out.residuals), kind="stable")[:_MOST_ROWS_LISTED]
    return tuple((str(held_out.number[j]), *map(number, columns[j])) for j in order)


def uncertainty_section(evidence: Evidence) -> Section:
    """Whether intervals hold what they promise, or probabilities what they say."""
    held_out = evidence.outcome.held_out
    if isinstance(held_out, HeldOutNumbers):
        chart = _coverage_chart(held_out)
        meaning = "The true value should be inside the interval as often as promised."
    else:
        chart = _reliability_chart(held_out)
        meaning = "Hidden rows are grouped by the probability of the predicted class."
    note = Note(f"{meaning} Vertical lines are 95% confidence intervals.")
    return Section("Can its uncertainty be trusted?", [calibration(evidence), chart, note])


def _coverage_chart(held_out: HeldOutNumbers) -> XYChart:
    coverage = held_out.coverage()
    x, y = axis("promised", [0.4, 1.0], write=share), axis("observed", [0, 1], write=share)
    listed = "; ".join(f"{one.promised:.0%}: {percent(one.inside.value)}" for one in coverage)
    return XYChart(
        "Prediction intervals: promised and observed coverage",
        f"For intervals of each promised coverage, the share of hidden rows inside. {listed}.",
        x,
        y,
        ("promised", "observed", "lower end", "upper end", "mean width"),
        tuple(
            (f"{one.promised:.0%}", *map(percent, one.inside), number(one.width)) for one in coverage
        ),
        dots=tuple(
            Dot(one.promised, one.inside.value, (one.inside.low, one.inside.high)) for one in coverage
        ),
        reference=Line("observed as promised", ((x.low, x.low), (x.high, x.high))),
    )


def _reliability_chart(held_out: HeldOutClasses) -> XYChart:
    bins = held_out.reliability()
    least = min(0.5, *(one.confidence for one in bins), 1.0)
    x = axis("probability of the predicted class", [least, 1], write=share)
    listed = "; ".join(
        f"{one.n_rows} rows of mean probability {percent(one.confidence)}, "
        f"{percent(one.accuracy.value)} right"
        for one in bins
    )
    return XYChart(
        "Predicted probability and accuracy",
        f"Hidden rows in groups of similar probability: {listed}.",
        x,
        axis("share that is right", [0, 1], write=share),
        ("rows", "mean probability", "share right", "lower end", "upper end"),
        tuple((str(one.n_rows), percent(one.confidence), *map(percent, one.accuracy)) for one in bins),
        dots=tuple(
            Dot(one.confidence, one.accuracy.value, (one.accuracy.low, one.accuracy.high))
            for one in bins
        ),
        reference=Line("perfectly calibrated", ((least, least), (1, 1))),
    )
