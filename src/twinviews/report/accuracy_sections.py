"""Sections on how good the predictions are: errors, unlabeled rows, residuals, uncertainty."""

from __future__ import annotations

import numpy as np

from twinviews.report.blocks import DataTable, Definitions, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Bar, BarChart, Dot, Line, XYChart, axis, bar_axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import (
    axis_ticks,
    capital,
    error,
    gain,
    gain_in_words,
    number,
    percent,
    value,
)
from twinviews.report.tasks import COVERAGES, HeldOutClasses, HeldOutNumbers

THIS_MODEL = "this model"
# Half of a dot on the edge of a picture would be cut off.
_MARGIN = 0.05
_MOST_ROWS_LISTED = 200


_MEANINGS = {
    "root mean squared error": "the root of the mean squared difference between prediction and true "
    "value, in units of the target; large errors count more",
    "error rate": "the share of rows that are put in a wrong class",
    "cross-validated": "each label was predicted by a fit that had not seen it",
    "90% interval": "holds the error on the rows without a label in nine of ten fits",
    "R\N{SUPERSCRIPT TWO}": "the share of the variance of the target that is predicted; at 0 the model "
    "is no better than always saying the mean",
    "mean error rate of a class": "the mean over the classes of the share of their rows that is put in "
    "another class (balanced error); 50% is guessing between two classes",
    "AUC": "the probability that a row of a class is ranked above a row of another class; 0.5 is "
    "guessing, 1 is perfect",
    "log loss": "the mean of the negative logarithm of the probability of the true class; 0 is perfect",
    "average precision": "the mean, over the rows of the class, of the share of rows of the class "
    "among those at least as likely; guessing has the share of the class",
    "lift": "how many times as many rows of the class are in the tenth of the rows that is likeliest "
    "to be of it as in a random tenth; 1 is guessing, 10 the most",
}
# A confusion matrix of more classes would be larger than the page: its largest errors are listed.
_MOST_CLASSES_CROSSED = 20
_MOST_CONFUSIONS = 20


def error_section(evidence: Evidence) -> Section:
    """The error to expect, in the words of the command line, and what they mean."""
    told = evidence.told
    words = f"{told.name}, {told.words()}"
    told_of = [(name, meaning) for name, meaning in _MEANINGS.items() if name in words]
    return Section(
        "The error to expect",
        [
            f"Error to expect: {told.words()}.",
            Definitions([(capital(name), meaning) for name, meaning in told_of]),
            Note("It is the error that twinviews fit and twinviews inspect tell of this model."),
        ],
    )


def comparison_section(evidence: Evidence) -> Section:
    """By how much the errors of the baselines are larger."""
    return Section(
        "Compared with simple methods, on hidden labels",
        [
            _how_judged(evidence),
            _comparison_chart(evidence),
            Definitions([(one.name.capitalize(), one.words) for one in evidence.outcome.baselines]),
            Note(
                "A dot says by how much the error of a method is larger than that of this model, row "
                "by row; left of zero the method is better. A line is the 95% interval of the "
                "difference: one that reaches zero may be chance."
            ),
        ],
    )


def _how_judged(evidence: Evidence) -> str:
    """How the labels were split into fitting and judging."""
    outcome, rows = evidence.outcome, evidence.rows
    if outcome.n_folds == 1:
        hidden = f"{outcome.n_test:,} of {rows.n_labeled_used:,} labels were hidden at random."
        fitted = f"The model was fitted on the other {outcome.n_train:,}"
    else:
        hidden = f"The {rows.n_labeled_used} labels were hidden in turn, a fifth at a time."
        fitted = f"Each time the model was fitted on the others (about {outcome.n_train})"
    with_others = rows.n_unlabeled_used and not evidence.n_left_out
    unlabeled = f" and {rows.n_unlabeled_used:,} unlabeled rows" if with_others else ""
    return (
        f"{hidden} {fitted}{unlabeled}, and judged on the hidden ones. The simple methods were fitted "
        f"on the same labels and judged on the same rows. All had fewer labels than the model of this "
        f"report, so what counts are the differences.{_what_counts(evidence)}"
    )


def _what_counts(evidence: Evidence) -> str:
    """Said where errors cost differently; empty otherwise."""
    if evidence.judged_by == evidence.told.name:
        return ""
    return (
        f" The error is the {evidence.judged_by}, as class_weight says what errors cost; every method "
        f"predicts the class of least expected cost."
    )


def _comparison_chart(evidence: Evidence) -> BarChart:
    outcome = evidence.outcome
    others = [*outcome.baselines, *([] if outcome.alone is None else [outcome.alone])]
    bars = [
        Bar(
            other.name,
            gain(evidence, other)[0],
            other.difference.value,
            other.difference[1:],
            other.verdict == "better",
        )
        for other in others
    ]
    listed = "; ".join(f"{bar.name} {bar.text}" for bar in bars)
    rows = [(one.name, *gain(evidence, one), error(evidence, one.error.value)) for one in others]
    return BarChart(
        "How much larger the error of other methods is, with 95% intervals",
        f"By how much the error of each method is larger than that of this model: {listed}.",
        bar_axis(f"{evidence.judged_by}, larger by", bars, axis_ticks(evidence)),
        bars,
        ("method", "larger by", "95% interval of that", "error on hidden labels"),
        [*rows, (THIS_MODEL, "", "", error(evidence, outcome.error.value))],
    )


def unlabeled_section(evidence: Evidence) -> Section:
    """The difference that the unlabeled rows make."""
    title = "What the unlabeled rows contributed"
    outcome, alone = evidence.outcome, evidence.outcome.alone
    if alone is None:
        n = evidence.n_left_out
        begin = f"{n:,} rows without a label were left out." if n else "Not known."
        return Section(title, [f"{begin} {outcome.why_not_alone}"])
    verdict = {
        "better": "The gain is larger than chance would explain.",
        "worse": "They did harm: the error is lower without them, by more than chance would explain.",
        "level": f"{outcome.n_test:,} rows are too few to tell whether they helped: the interval "
        "contains zero. Unlabeled rows help most where they form groups, or where labels are very few.",
    }[alone.verdict]
    return Section(
        title,
        [
            f"The same model was fitted twice, with the {evidence.rows.n_unlabeled_used:,} unlabeled "
            f"rows and without them, and judged on the same hidden labels.",
            f"{gain_in_words(evidence, alone)}. {verdict}",
        ],
    )


def mistakes_section(evidence: Evidence) -> Section:
    """Residuals of numbers, or the confusion matrix of classes."""
    held_out = evidence.outcome.held_out
    if isinstance(held_out, HeldOutNumbers):
        charts = SideBySide(_residual_charts(held_out))
        return Section("Where it is wrong", ["Each dot is a row whose label was hidden.", charts])
    names = [value(name) for name in evidence.rows.classes]
    judged = f"{evidence.outcome.n_test} hidden rows"
    if len(names) > _MOST_CLASSES_CROSSED:
        return Section("Where it is wrong", _largest_confusions(held_out, names))
    rows = [
        (name, *map(str, row), percent(row[place] / row.sum()) if row.sum() else "none hidden")
        for place, (name, row) in enumerate(zip(names, held_out.confusion(), strict=True))
    ]
    return Section(
        "Where it is wrong",
        [
            "Hidden rows of each true class, by the predicted class. The diagonal is right.",
            DataTable(
                f"Confusion matrix of {judged}",
                ("true class", *(f"predicted {name}" for name in names), "recall"),
                rows,
                look="confusion",
            ),
            Note("Recall, the last column, is the share of the class that was predicted as such."),
        ],
    )


def _largest_confusions(held_out: HeldOutClasses, names: list[str]) -> list[str | PageBlock]:
    """The classes that are taken for one another most often."""
    wrong = held_out.truth != held_out.predicted
    pairs = np.column_stack([held_out.truth, held_out.predicted])[wrong]
    if not len(pairs):
        return ["No hidden row was put in a wrong class."]
    found, counts = np.unique(pairs, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CONFUSIONS]
    of_class = np.bincount(held_out.truth, minlength=len(names))
    rows = [
        (names[true], names[said], f"{counts[j]:,}", f"{of_class[true]:,}")
        for j in order
        for true, said in [found[j]]
    ]
    return [
        f"{len(pairs):,} of {len(wrong):,} hidden rows were put in a wrong class. The most frequent "
        f"errors:",
        DataTable(
            "Classes taken for one another",
            ("true class", "predicted", "rows", "hidden rows of the true class"),
            rows,
        ),
    ]


def _residual_charts(held_out: HeldOutNumbers) -> list[XYChart]:
    """True values, and residuals, against predictions."""
    truth, predicted, residuals = held_out.truth, held_out.predicted, held_out.residuals
    dots = f"A dot for each of {len(truth)} hidden rows"
    flat = min(np.ptp(predicted), np.ptp(truth)) == 0
    r = 0.0 if flat else np.corrcoef(predicted, truth)[0, 1]
    low, middle, high = (number(end) for end in np.quantile(residuals, [0.05, 0.5, 0.95]))
    largest_first = np.argsort(-np.abs(residuals), kind="stable")[:_MOST_ROWS_LISTED]
    columns = ("row of the table", "true value", "predicted", "residual")
    cells = np.stack([truth, predicted, residuals], axis=1)
    rows = [(str(held_out.number[j]), *map(number, cells[j])) for j in largest_first]
    both, across = [*truth, *predicted], axis("predicted", predicted, margin=_MARGIN)
    x = axis("predicted", both, margin=_MARGIN)
    return [
        XYChart(
            "True values against predictions",
            f"{dots}. On the line the prediction is right. The correlation of predicted and true "
            f"values is {r:.2f}.",
            x,
            x._replace(label="true value"),
            columns,
            rows,
            dots=list(map(Dot, predicted, truth)),
            reference=Line("prediction is right", [(x.low, x.low), (x.high, x.high)]),
        ),
        XYChart(
            "Residuals against predictions",
            f"{dots}: above the line the prediction was too low. The median residual is {middle}; nine "
            f"in ten lie from {low} to {high}.",
            across,
            axis("true value less prediction", residuals, zero=True, margin=_MARGIN),
            columns,
            rows,
            dots=list(map(Dot, predicted, residuals)),
            reference=Line("prediction is right", [(across.low, 0), (across.high, 0)]),
        ),
    ]


def uncertainty_section(evidence: Evidence) -> Section:
    """Whether intervals hold what they promise, or probabilities what they say."""
    held_out = evidence.outcome.held_out
    if isinstance(held_out, HeldOutNumbers):
        finding, chart = _coverage(held_out)
        meaning = "The true value should be inside the interval as often as promised."
    else:
        finding, chart = _reliability(held_out)
        meaning = "Hidden rows are grouped by the probability of the predicted class."
    note = Note(f"{meaning} Vertical lines are 95% confidence intervals.")
    return Section("Can its uncertainty be trusted?", [finding, chart, note])


def _coverage(held_out: HeldOutNumbers) -> tuple[str, XYChart]:
    coverage = held_out.coverage()
    ninety = coverage[COVERAGES.index(0.9)]
    observed, low, high = map(percent, ninety.inside)
    holds = ninety.inside.low <= ninety.promised <= ninety.inside.high
    verdict = "as promised, within chance" if holds else "not as promised"
    finding = (
        f"Its 90% intervals contained the true value of {observed} of the hidden rows (95% interval "
        f"of that share: {low} to {high}): {verdict}. Their mean width is {number(ninety.width)}."
    )
    listed = "; ".join(f"{one.promised:.0%}: {percent(one.inside.value)}" for one in coverage)
    return finding, XYChart(
        "Prediction intervals: promised and observed coverage",
        f"For intervals of each promised coverage, the share of hidden rows inside. {listed}.",
        axis("promised", [0.4, 1.0], write=share),
        axis("observed", [0, 1], write=share),
        ("promised", "observed", "lower end", "upper end", "mean width"),
        [(f"{one.promised:.0%}", *map(percent, one.inside), number(one.width)) for one in coverage],
        dots=[Dot(one.promised, one.inside.value, one.inside[1:]) for one in coverage],
        reference=Line("observed as promised", [(0.4, 0.4), (1, 1)]),
    )


def _reliability(held_out: HeldOutClasses) -> tuple[str, XYChart]:
    finding = (
        f"Its probabilities are off by {percent(held_out.calibration_error)} on average (expected "
        f"calibration error): of rows predicted with 80% probability, about 80% should be right."
    )
    bins = held_out.reliability()
    least = min(0.5, *(one.confidence for one in bins), 1.0)
    listed = "; ".join(
        f"{one.n_rows} rows of mean probability {percent(one.confidence)}, "
        f"{percent(one.accuracy.value)} right"
        for one in bins
    )
    return finding, XYChart(
        "Predicted probability and accuracy",
        f"Hidden rows in groups of similar probability: {listed}.",
        axis("probability of the predicted class", [least, 1], write=share),
        axis("share that is right", [0, 1], write=share),
        ("rows", "mean probability", "share right", "lower end", "upper end"),
        [(str(one.n_rows), percent(one.confidence), *map(percent, one.accuracy)) for one in bins],
        dots=[Dot(one.confidence, one.accuracy.value, one.accuracy[1:]) for one in bins],
        reference=Line("perfectly calibrated", [(least, least), (1, 1)]),
    )
