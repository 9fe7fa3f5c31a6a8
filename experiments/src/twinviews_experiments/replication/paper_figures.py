"""The paper's figures: error against the number of labels, per set, with one standard deviation."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from twinviews._system.whole_files import replace_file, whole_file
from twinviews.plots.style import BLUE, FILE_STYLE, GREEN, GREY, ORANGE, VERMILION, plain
from twinviews_experiments.datasets.paper_sets import PaperSet
from twinviews_experiments.replication.comparison import Results, our_reduction
from twinviews_experiments.replication.paper_tables import AGAINST_SSSL
from twinviews_experiments.replication.published_numbers import (
    FIGURE_LABELS,
    TABLE_LABELS,
    published_averages,
)

# One marker each.
_LOOKS = {
    "XNV": (BLUE, "o", "-"),
    "XKS": (BLUE, "o", "-"),
    "SSSL_M": (ORANGE, "s", "-"),
    "RFF_M": (ORANGE, "s", "-"),
    "SSSL_2M": (VERMILION, "^", "-"),
    "RFF_2M": (VERMILION, "^", "-"),
    "XNV literal": (GREY, "x", ":"),
    "XKS literal": (GREY, "x", ":"),
    "KRR": (GREEN, "v", "--"),
}
XNV_FIGURE = ("SSSL_M", "SSSL_2M", "KRR", "XNV literal", "XNV")
XKS_FIGURE = ("RFF_M", "RFF_2M", "XKS literal", "XKS")


def error_figure(results: Results, one: PaperSet, methods: Sequence[str]) -> Figure:
    """Lines are ours, open markers the paper's printed means."""
    with matplotlib.rc_context(FILE_STYLE):
        figure = Figure(figsize=(4.2, 3.0), layout="constrained")
        axes = figure.add_subplot()
        for method in methods:
            _draw_ours(axes, results, one, method)
        for method in methods:
            if not method.endswith("literal"):
                _draw_paper(axes, results, one, method)
        axes.set_ylim(0, _top(results, one, methods))
        axes.set_xlabel("labels n")
        measure = "error rate" if one.task == "classification" else "normalised squared error"
        axes.set_ylabel(measure)
        axes.set_title(f"{one.number} {one.name}")
        axes.legend(frameon=False, fontsize=7)
        plain(axes)
    return figure


def _draw_ours(axes: Axes, results: Results, one: PaperSet, method: str) -> None:
    colour, marker, line = _LOOKS[method]
    cells = [results.cell(one, method, n) for n in FIGURE_LABELS]
    # Beside each other, so that bars do not hide one another.
    shift = 5 * (list(_LOOKS).index(method) - 4)
    x, errors = np.array(FIGURE_LABELS) + shift, np.array([cell.error for cell in cells])
    deviations = np.array([cell.deviation for cell in cells])
    axes.plot(
        x,
        errors,
        color=colour,
        marker=marker,
        markersize=3,
        linestyle=line,
        linewidth=1.6 if method in ("XNV", "XKS") else 1,
        label=method,
    )
    # All bars as one broken line: a path for each would make the page twice as large.
    ends = np.column_stack([errors - deviations, errors + deviations, np.full(len(x), np.nan)])
    axes.plot(np.repeat(x, 3), ends.ravel(), color=colour, linewidth=0.6)


def _draw_paper(axes: Axes, results: Results, one: PaperSet, method: str) -> None:
    printed = [(n, results.paper_cell(one, method, n)) for n in TABLE_LABELS]
    known = [(n, cell.error) for n, cell in printed if cell is not None]
    if known:
        colour, marker, _ = _LOOKS[method]
        n, errors = zip(*known, strict=True)
        axes.plot(
            n,
            errors,
            linestyle="none",
            marker=marker,
            markersize=6,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=f"{method}, paper",
        )


def _top(results: Results, one: PaperSet, methods: Sequence[str]) -> float:
    """Room for all but the literal algorithms, which may leave the picture at few labels."""
    heights = []
    for method in methods:
        if method.endswith("literal"):
            continue
        first = results.cell(one, method, FIGURE_LABELS[0])
        heights.append(first.error + first.deviation)
        printed = results.paper_cell(one, method, FIGURE_LABELS[0])
        if printed is not None:
            heights.append(printed.error)
    # A baseline that is far off, as some Fourier features are, would flatten all the others.
    return 1.1 * min(max(heights), 3 * float(np.median(heights)))


def averages_figure(results: Results) -> Figure:
    """How much lower XNV's error and spread are than those of the better SSSL: ours and the paper's."""
    with matplotlib.rc_context(FILE_STYLE):
        figure = Figure(figsize=(6.4, 2.6), layout="constrained")
        printed = published_averages()
        for place, what in enumerate(("error", "spread"), start=1):
            axes = figure.add_subplot(1, 2, place)
            ours = [
                getattr(our_reduction(results, "XNV", AGAINST_SSSL.baselines, n), what)
                for n in TABLE_LABELS
            ]
            paper = printed["XNV against SSSL", what]
            axes.axhline(0, color=GREY, linewidth=0.8)
            axes.plot(TABLE_LABELS, ours, color=BLUE, marker="o", label="ours")
            axes.plot(
                TABLE_LABELS,
                [paper[n] for n in TABLE_LABELS],
                color=ORANGE,
                marker="s",
                label="paper",
            )
            axes.set_title(f"XNV's {what} below the better SSSL's")
            axes.set_xlabel("labels n")
            axes.set_ylabel("percent")
            axes.set_xticks(TABLE_LABELS)
            axes.legend(frameon=False)
            plain(axes)
    return figure


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, path: Path) -> str:
    """As SVG and as PNG; returns the SVG for a page to hold."""
    with matplotlib.rc_context(FILE_STYLE):
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        svg = _smaller(text.getvalue())
        replace_file(path.with_suffix(".svg"), svg.encode())
        with whole_file(path.with_suffix(".png")) as part:
            figure.savefig(part, format="png", dpi=150)
    return svg


def _smaller(svg: str) -> str:
    """Without metadata, and with two decimals of a point: more than a screen shows, half the size."""
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return re.sub(r"(\d\.\d\d)\d+", r"\1", svg)
