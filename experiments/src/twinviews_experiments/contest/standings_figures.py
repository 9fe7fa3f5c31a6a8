"""The contest as pictures: who wins on which set, and how ranks fall out."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from twinviews._system.whole_files import whole_file
from twinviews.evaluation.paired_comparison import paired_ratio
from twinviews.plots.style import BLUE, FILE_STYLE, GREY, LIGHT_GREY, VERMILION, plain
from twinviews_experiments.contest.standings import BASELINE, OURS, Standings, mean_ranks
from twinviews_experiments.datasets.preparation import Task


def write_figures(standings: Standings, folder: Path) -> dict[str, str]:
    """Name of each figure written -> what it shows."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    tasks: tuple[Task, ...] = ("regression", "classification")
    for task in tasks:
        numbers = sorted({n for one in standings.sets for n in standings.labels[one.name]})
        numbers = [
            n
            for n in numbers
            if standings.sets_with(n, task) and _has_two_and_others(standings.methods_of(task, n))
        ]
        if not numbers:
            continue
        with matplotlib.rc_context(FILE_STYLE):
            _save(ratios_figure(standings, task, numbers), folder / f"{task}_ratios")
            _save(ranks_figure(standings, task, numbers), folder / f"{task}_ranks")
        written[f"{task}_ratios"] = (
            f"{task.capitalize()}: error of {OURS} and of the best other method over that of "
            f"{BASELINE}, set by set"
        )
        written[f"{task}_ranks"] = f"{task.capitalize()}: mean rank of each method over the sets"
    return written


def _has_two_and_others(names: list[str]) -> bool:
    return OURS in names and BASELINE in names and len(names) > 2


def _save(figure: Figure, path: Path) -> None:
    with whole_file(path.with_suffix(".svg")) as part:
        figure.savefig(part, format="svg", metadata={"Date": None})
    with whole_file(path.with_suffix(".png")) as part:
        figure.savefig(part, format="png", dpi=150)


def ratios_figure(standings: Standings, task: Task, numbers: list[int]) -> Figure:
    """A panel for each n, a line for each set: left of 1 is better than the baseline."""
    sets = [one for one in standings.sets if one.task == task]
    figure = Figure(figsize=(2.6 * len(numbers), 0.26 * len(sets) + 1.1), layout="constrained")
    panels = figure.subplots(1, len(numbers), sharex=True, sharey=True, squeeze=False)[0]
    for panel, n in zip(panels, numbers, strict=True):
        others = [name for name in standings.methods_of(task, n) if name not in (OURS, BASELINE)]
        for place, one in enumerate(sets):
            if n not in standings.labels[one.name]:
                continue
            base = standings.errors[one.name, n, BASELINE]
            best = min(others, key=lambda name: standings.mean(one, n, name))
            theirs = standings.mean(one, n, best) / base.mean()
            panel.plot(theirs, place, "D", color=VERMILION, markersize=3.5, zorder=2)
            ours = paired_ratio(standings.errors[one.name, n, OURS], base)
            middle = standings.mean(one, n, OURS) / base.mean()
            if np.isfinite(ours.high):
                panel.plot([ours.low, ours.high], [place, place], color=BLUE, linewidth=1)
            panel.plot(middle, place, "o", color=BLUE, markersize=4.5, zorder=3)
        panel.axvline(1, color=GREY, linewidth=0.8)
        panel.set_xscale("log")
        panel.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
        panel.minorticks_off()
        panel.set_title(f"n = {n}")
        panel.set_xlabel(f"error / {BASELINE}'s")
        panel.grid(axis="y", linewidth=0.3)
        plain(panel)
    panels[0].set_yticks(range(len(sets)), [one.name for one in sets])
    panels[0].invert_yaxis()
    panels[0].plot([], [], "o", color=BLUE, markersize=4.5, label=f"{OURS}, with 95% interval")
    panels[0].plot(
        [], [], "D", color=VERMILION, markersize=3.5, label="best other method, in hindsight"
    )
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def ranks_figure(standings: Standings, task: Task, numbers: list[int]) -> Figure:
    """A bar for each method, 1 is the lowest error; a dot for each n."""
    # Those that take part with each n: ranks among different methods are not comparable.
    methods = standings.methods_of(task, max(numbers))
    ranks = []
    for n in numbers:
        sets = standings.sets_with(n, task)
        errors = [[standings.mean(one, n, method) for method in methods] for one in sets]
        ranks.append(mean_ranks(np.array(errors)))
    mean = np.mean(ranks, axis=0)
    order = np.argsort(mean)
    figure = Figure(figsize=(5.2, 0.24 * len(methods) + 0.9), layout="constrained")
    axes = figure.add_subplot()
    colours = [BLUE if methods[j] == OURS else LIGHT_GREY for j in order]
    axes.barh(range(len(methods)), mean[order], color=colours, height=0.7)
    for row in ranks:
        axes.plot(row[order], range(len(methods)), ".", color="black", markersize=3)
    axes.set_yticks(range(len(methods)), [methods[j] for j in order])
    axes.invert_yaxis()
    axes.set_xlim(left=1)
    listed = ", ".join(map(str, numbers))
    axes.set_xlabel(f"mean rank over the sets; dots: n = {listed}")
    plain(axes)
    return figure
