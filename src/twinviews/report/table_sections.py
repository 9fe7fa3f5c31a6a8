"""Sections on what went into the model: the table, the parameters, the members of the ensemble."""

from __future__ import annotations

import platform
from itertools import pairwise

import numpy as np
import sklearn

import twinviews
from twinviews.report.blocks import DataTable, Note, PageBlock, Section
from twinviews.report.charts import Bar, BarChart, bar_axis
from twinviews.report.evidence import Evidence
from twinviews.report.sentences import number, only_a_part, percent, short, value

_MOST_BARS = 20
_MOST_COLUMNS_UNFOLDED = 30
_MEANINGS = {
    "n_components": "features of each view",
    "sigma": "width of the kernel: rows closer than this are similar",
    "ridge": "penalty on large coefficients",
    "correlation_ridge": "penalty on directions of small variance",
    "canonical_weight": "penalty on directions on which the views differ",
    "loo_error": "the model's own leave-one-out estimate of its error",
}


def table_section(evidence: Evidence) -> Section:
    """The target, the labels and the columns as they were read."""
    rows = evidence.rows
    taken = (
        f"a choice among {len(rows.classes)} classes" if rows.classes else "a number to be predicted"
    )
    many = len(rows.columns) > _MOST_COLUMNS_UNFOLDED
    columns = DataTable(
        "Columns and what was done with them",
        ("column", "taken as", "blanks", "how"),
        tuple(
            (short(column.name), column.kind, f"{column.blanks:,}", column.words)
            for column in rows.columns
        ),
        of_text=True,
        look="explained",
        folded=f"All {len(rows.columns)} columns, and what was done with them" if many else "",
    )
    part = only_a_part(evidence)
    text = f"The target {short(evidence.target)} was taken as {taken}."
    return Section(
        "What was found in the table",
        [*([part] if part else []), text, _labels_chart(evidence), columns],
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
    bars = tuple(Bar(names[j], f"{counts[j]:,}", float(counts[j])) for j in order)
    return BarChart(
        title,
        f"Labeled rows of each {unit}. The most, {counts.max()}, are of {names[counts.argmax()]}.",
        bar_axis("labeled rows", bars, "{:,.0f}".format),
        bars,
        (unit, "labeled rows"),
        tuple((bar.name, bar.text) for bar in bars),
    )


def fit_section(evidence: Evidence) -> Section:
    """How the model was fitted: members, parameters, seed and versions."""
    model, members = evidence.model, getattr(evidence.model, "members_", ())
    blocks: list[str | PageBlock] = [
        f"{type(model).__name__}, fitted with {model.n_labeled_:,} labels and {model.n_unlabeled_:,} "
        f"unlabeled rows; the sections on columns and views describe this model. The models that were "
        f"judged had fewer labels and the same parameters."
    ]
    if members:
        mean = "a weighted mean" if evidence.task == "regression" else "a weighted mixture"
        blocks += [
            f"The prediction is {mean} of the predictions of {len(members)} ensemble members. The "
            f"weights follow from how well each predicts labels that were left out of its fit.",
            DataTable(
                "Members of the ensemble",
                ("member, scale of its columns", "weight"),
                tuple((name, percent(weight)) for name, weight in members),
            ),
        ]
    chosen = {name: getattr(model, f"{name}_", None) for name in _MEANINGS}
    blocks += [
        DataTable(
            "Parameters that were chosen or given",
            ("name", "value", "meaning"),
            tuple(
                (name, number(float(amount)), _MEANINGS[name])
                for name, amount in chosen.items()
                if amount is not None
            ),
            of_text=True,
        ),
        DataTable(
            "Parameters",
            ("name", "as given"),
            tuple((name, repr(given)) for name, given in sorted(model.get_params().items())),
            of_text=True,
            folded="Numbers: all parameters",
        ),
        Note(f"Seed {evidence.seed}. {_versions()}."),
    ]
    return Section("How the model was fitted", blocks)


def _versions() -> str:
    libraries = (("twinviews", twinviews), ("scikit-learn", sklearn), ("NumPy", np))
    known = [f"{name} {library.__version__}" for name, library in libraries]
    return ", ".join([*known, f"Python {platform.python_version()}"])
