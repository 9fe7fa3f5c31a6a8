"""Do unlabeled rows help? Error of the default against their number, at 100 labels, set by set.

    python benchmarks/unlabeled.py --data FOLDER        writes docs/contest/unlabeled.csv, .svg and .png

The labels, the test rows and every seed stay the same while rows without labels are added, so the
curves of a set differ by those rows alone. Ratios below 1 are what the rows bought.
"""

import argparse
import csv
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # draws run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from twinviews import XNVClassifier, XNVRegressor
from twinviews._system.cache_folder import default_cache
from twinviews.evaluation.measures import error_rate, normalised_squared_error
from twinviews.plots.style import BLUE, FILE_STYLE, GREY, VERMILION, plain
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.datasets.downloads import Files

FOLDER = Path(__file__).parent.parent / "docs" / "contest"
LABELS = 100
UNLABELED = (0, 100, 300, 1000, 3000, 9000)


def one_draw(job: tuple[str, int, Path | None]) -> list[tuple[str, int, int, float]]:
    name, repetition, data = job
    one = CONTEST_SETS_BY_NAME[name]
    rows = draw(one.read(Files(data, default_cache(), online=False)), one.task, repetition, seed=77)
    found = []
    for extra in UNLABELED:
        if LABELS + extra > len(rows.X):
            break
        X = rows.X[: LABELS + extra]
        y = np.where(np.arange(len(X)) < LABELS, rows.y[: len(X)], np.nan)
        model = (XNVRegressor if one.task == "regression" else XNVClassifier)(random_state=repetition)
        predicted = model.set_params(progress=False).fit(X, y).predict(rows.X_test)
        measure = normalised_squared_error if one.task == "regression" else error_rate
        found.append((name, repetition, extra, measure(rows.y_test, predicted)))
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, help="folder with data files")
    arguments.add_argument("--repetitions", type=int, default=5)
    options = arguments.parse_args()
    names = [one.name for one in choose_contest_sets([], "untouched")]
    jobs = [(name, r, options.data) for name in names for r in range(options.repetitions)]
    with ProcessPoolExecutor() as pool:
        rows = [row for found in pool.map(one_draw, jobs) for row in found]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "unlabeled.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("set", "draw", "unlabeled", "error"))
        writer.writerows(rows)
    draw_figure(rows)
    ratios = curves(rows)
    for name, curve in ratios.items():
        print(f"{name:<16}", "  ".join(f"{extra:,}: {ratio:.3f}" for extra, ratio in curve.items()))
    last = [list(curve.values())[-1] for curve in ratios.values()]
    print(f"geometric mean at the most rows: {np.exp(np.mean(np.log(last))):.3f}")


def curves(rows: list[tuple[str, int, int, float]]) -> dict[str, dict[int, float]]:
    """Mean error over that without any unlabeled row."""
    found: dict[str, dict[int, float]] = {}
    for name in sorted({row[0] for row in rows}):
        mean = {
            extra: float(np.mean(values))
            for extra in UNLABELED
            if (values := [row[3] for row in rows if row[0] == name and row[2] == extra])
        }
        found[name] = {extra: error / mean[UNLABELED[0]] for extra, error in mean.items()}
    return found


def draw_figure(rows: list[tuple[str, int, int, float]]) -> None:
    with matplotlib.rc_context(FILE_STYLE):
        figure = Figure(figsize=(9, 5.4), layout="constrained")
        ratios = curves(rows)
        panels = figure.subplots(3, 6, sharex=True, sharey=True).ravel()
        for panel in panels[len(ratios) :]:
            panel.set_visible(False)
        for panel, (name, curve) in zip(panels, ratios.items(), strict=False):
            helps = list(curve.values())[-1] < 0.99
            colour = BLUE if helps else VERMILION
            places = [UNLABELED.index(extra) for extra in curve]
            panel.plot(places, list(curve.values()), "o-", color=colour, markersize=3)
            panel.axhline(1, color=GREY, linewidth=0.6)
            panel.set_xticks(range(len(UNLABELED)), [f"{extra:,}" for extra in UNLABELED], rotation=60)
            panel.set_ylim(0.6, 1.4)
            panel.set_title(name)
            plain(panel)
        figure.supxlabel(f"rows without a label, beside {LABELS} with one")
        figure.supylabel("error / error with none of them")
        figure.savefig(FOLDER / "unlabeled.svg", metadata={"Date": None})
        figure.savefig(FOLDER / "unlabeled.png", dpi=150)


if __name__ == "__main__":
    main()
