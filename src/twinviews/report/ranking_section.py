"""Section on how well classes are told apart: curves of two classes, a table of more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from twinviews.evaluation.confidence import Interval, share_interval
from twinviews.report.blocks import DataTable, Note, PageBlock, Section, SideBySide
from twinviews.report.charts import Dot, Line, XYChart, axis, share
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import percent, value
from twinviews.report.tasks import HeldOutClasses

_TOP = 0.1
_MOST_POINTS = 200  # of a curve
_MOST_NUMBERS = 20  # in the table below it
_MOST_CLASSES_SHOWN = 30
_LEAST_PROBABILITY = 0.01
_ROOM = 0.1  # above the highest point


def ranking_section(evidence: Evidence) -> Section | None:
    """How well hidden rows of a class are ranked above others; None for numbers."""
    held_out = evidence.outcome.held_out
    if not isinstance(held_out, HeldOutClasses):
        return None
    names = [value(name) for name in evidence.rows.classes]
    if len(names) > 2:
        return Section("How well each class is found", _of_many(held_out, names))
    rarer = int(np.bincount(evidence.rows.y, minlength=2).argmin())
    is_rarer = held_out.truth == rarer
    if is_rarer.all() or not is_rarer.any():
        return None
    ranked = Ranked(names[rarer], is_rarer, held_out.p[:, rarer])
    title = f"How well “{ranked.name}” is told from the others"
    return Section(title, _of_two(evidence, ranked))


class Ranked(NamedTuple):
    """Hidden rows of a class and others, and the probability of that class."""

    name: str
    of_class: np.ndarray  # (n,) bool
    p: np.ndarray  # (n,)

    def found_in_top(self) -> Interval:
        """Share of the class that is in the likeliest tenth."""
        order = np.argsort(-self.p, kind="stable")
        found = self.of_class[order][: round(_TOP * len(order))].sum()
        return share_interval(found, int(self.of_class.sum()))

    def above(self, threshold: float) -> tuple[Interval, Interval, int]:
        """Share of the class found, share of the found that are of it, and how many are found."""
        said = self.p >= threshold
        right, n_said = int((said & self.of_class).sum()), int(said.sum())
        nothing = Interval(np.nan, np.nan, np.nan)
        precision = share_interval(right, n_said) if n_said else nothing
        return share_interval(right, int(self.of_class.sum())), precision, n_said


def _of_two(evidence: Evidence, ranked: Ranked) -> list[str | PageBlock]:
    n, top = len(ranked.p), ranked.found_in_top()
    threshold = _threshold(evidence)
    text = (
        f"Of {n:,} hidden rows {ranked.of_class.sum():,} are “{ranked.name}” "
        f"({percent(ranked.of_class.mean())}). The tenth of the rows that is likeliest to be "
        f"“{ranked.name}” has {percent(top.value)} of them (95% interval {percent(top.low)} to "
        f"{percent(top.high)}): a lift of {top.value / _TOP:.1f}, where a random tenth has a lift of 1."
    )
    charts = [
        _gain_chart(ranked, top),
        _roc_chart(ranked),
        _precision_chart(ranked),
        _threshold_chart(ranked, threshold),
    ]
    return [
        text,
        f"The model of this report predicts “{ranked.name}” from a probability of "
        f"{percent(threshold)} on. The table says what other thresholds would come to.",
        _thresholds_table(ranked, threshold),
        SideBySide(charts),
        Note(
            "All is of rows whose labels were hidden, by models with fewer labels than that of this "
            "report. Intervals are of 95%."
        ),
    ]


def _threshold(evidence: Evidence) -> float:
    """The probability of the rarer class from which on the model of the report predicts it."""
    rarity = evidence.told.rarity
    assert rarity is not None, "there are two classes"
    return rarity.threshold


def _thresholds_table(ranked: Ranked, own: float) -> DataTable:
    """What is found and what is right, at round thresholds and at the model's own."""
    rows = []
    for threshold in sorted({*_round_thresholds(ranked.p), own}):
        found, right, n_said = ranked.above(threshold)
        mark = " (this model)" if threshold == own else ""
        rows.append(
            (
                f"{_digits(threshold)}{mark}",
                f"{n_said:,} ({percent(n_said / len(ranked.p))})",
                _with_interval(found),
                _with_interval(right) if n_said else "none said",
            )
        )
    columns = (
        "threshold",
        f"rows predicted “{ranked.name}”",
        f"of all “{ranked.name}”, found (recall)",
        "of those predicted, right (precision)",
    )
    return DataTable(f"What “{ranked.name}” from a given probability on comes to", columns, rows)


def _digits(threshold: float) -> str:
    return f"{threshold:.2f}" if threshold >= 0.1 else f"{threshold:.2g}"


def _with_interval(part: Interval) -> str:
    return f"{percent(part.value)} ({percent(part.low)} to {percent(part.high)})"


def _round_thresholds(p: np.ndarray) -> list[float]:
    """Those between which some rows lie."""
    some = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
    return [one for one in some if p.min() < one <= p.max()]


def _gain_chart(ranked: Ranked, top: Interval) -> XYChart:
    order = np.argsort(-ranked.p, kind="stable")
    looked_at = np.arange(len(order) + 1) / len(order)
    found = np.concatenate([[0], ranked.of_class[order].cumsum()]) / ranked.of_class.sum()
    return _chart(
        "Looking at the likeliest rows first",
        f"In the likeliest tenth of the rows are {percent(top.value)} of them.",
        ("rows looked at", f"found of all “{ranked.name}”"),
        looked_at,
        found,
        reference=Line("rows in random order", [(0, 0), (1, 1)]),
        dots=[Dot(_TOP, top.value, (top.low, top.high))],
    )


def _roc_chart(ranked: Ranked) -> XYChart:
    false, found, _ = roc_curve(ranked.of_class, ranked.p)
    area = roc_auc_score(ranked.of_class, ranked.p)
    return _chart(
        f"ROC curve, AUC {area:.2f}",
        f"The area under the curve is {area:.2f}.",
        ("of the others, predicted in error", "found (recall)"),
        false,
        found,
        reference=Line("guessing", [(0, 0), (1, 1)]),
    )


def _precision_chart(ranked: Ranked) -> XYChart:
    precision, recall, _ = precision_recall_curve(ranked.of_class, ranked.p)
    precision, recall = precision[-2::-1], recall[-2::-1]  # without the point at which nothing is said
    mean = average_precision_score(ranked.of_class, ranked.p)
    base = float(ranked.of_class.mean())
    return _chart(
        f"Precision and recall, average precision {mean:.2f}",
        f"The mean precision at the rows of the class is {mean:.2f}; guessing has {percent(base)}.",
        ("found (recall)", "right among those predicted (precision)"),
        recall,
        precision,
        reference=Line("guessing", [(0, base), (1, base)]),
    )


def _threshold_chart(ranked: Ranked, own: float) -> XYChart:
    """Recall and precision by threshold."""
    end = max(float(np.quantile(ranked.p, 0.995)), min(1.0, 1.5 * own), _LEAST_PROBABILITY)
    at = np.linspace(0, end, _MOST_POINTS)
    above = [ranked.above(float(threshold)) for threshold in at]
    found = [(x, one[0].value) for x, one in zip(at, above, strict=True)]
    right = [(x, one[1].value) for x, one in zip(at, above, strict=True) if one[2]]
    recall, precision, n_said = ranked.above(own)
    rows = [
        (_digits(float(at[j])), percent(above[j][0].value), percent(above[j][1].value))
        for j in range(0, len(at), len(at) // _MOST_NUMBERS)
        if above[j][2]
    ]
    is_right = f", {percent(precision.value)} of those predicted are right" if n_said else ""
    return XYChart(
        "By threshold; the dots are this model's",
        f"Recall falls with the threshold. At that of this model {percent(recall.value)} are "
        f"found{is_right}.",
        axis("predicted from this probability on", [0, end], write=share),
        axis("share", [0, 1], write=share),
        ("threshold", "found (recall)", "right (precision)"),
        rows,
        lines=[Line("found (recall)", found), Line("right (precision)", right)],
        dots=[Dot(own, one.value, one[1:]) for one in (recall, precision) if np.isfinite(one.value)],
    )


def _chart(
    title: str,
    description: str,
    labels: tuple[str, str],
    x: np.ndarray,
    y: np.ndarray,
    *,
    reference: Line,
    dots: list[Dot] | None = None,
) -> XYChart:
    """A curve of shares, drawn with a limited number of points."""
    some = np.unique(np.linspace(0, len(x) - 1, _MOST_POINTS).round().astype(int))
    few = np.unique(np.linspace(0, len(x) - 1, _MOST_NUMBERS).round().astype(int))
    return XYChart(
        title,
        description,
        axis(labels[0], [0, 1], write=share),
        axis(labels[1], [0, min(1.0, float(y.max()) * (1 + _ROOM))], write=share),
        labels,
        [(percent(float(x[j])), percent(float(y[j]))) for j in few],
        dots=dots or [],
        lines=[Line("this model", [(float(x[j]), float(y[j])) for j in some])],
        reference=reference,
    )


def _of_many(held_out: HeldOutClasses, names: list[str]) -> list[str | PageBlock]:
    """A row for each class, the most frequent first."""
    counts = np.bincount(held_out.truth, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    rows = [_class_row(held_out, names, int(k)) for k in order]
    n_absent = int((counts == 0).sum())
    absent = f" {n_absent} classes have no hidden row: of a class with one label none is hidden."
    return [
        f"Hidden rows of each class against the rest, the most frequent class first. Recall is the "
        f"share of the class that was predicted as such, precision the share of rows predicted as the "
        f"class that are of it, AUC the probability that a row of the class is ranked above another, "
        f"lift how many times as many of the class are in the likeliest tenth of the rows as in any."
        f"{absent if n_absent else ''}",
        DataTable(
            "Classes, one against the rest",
            ("class", "hidden rows", "recall", "precision", "AUC", "average precision", "lift"),
            rows,
            folded=f"All {len(names)} classes" if len(names) > _MOST_CLASSES_SHOWN else "",
        ),
    ]


def _class_row(held_out: HeldOutClasses, names: list[str], k: int) -> tuple[str, ...]:
    ranked = Ranked(names[k], held_out.truth == k, held_out.p[:, k])
    said = held_out.predicted == k
    n, right = int(ranked.of_class.sum()), int((ranked.of_class & said).sum())
    precision = percent(right / said.sum()) if said.any() else "never said"
    if n in (0, len(said)):
        return names[k], f"{n:,}", "none hidden", precision, "", "", ""
    area = roc_auc_score(ranked.of_class, ranked.p)
    mean = average_precision_score(ranked.of_class, ranked.p)
    lift = ranked.found_in_top().value / _TOP
    return (
        names[k],
        f"{n:,}",
        percent(right / n),
        precision,
        f"{area:.2f}",
        f"{mean:.2f}",
        f"{lift:.1f}",
    )
