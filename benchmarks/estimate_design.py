"""Estimates from labels that a plan has chosen, against as many labels of random rows.

    python benchmarks/estimate_design.py --data data --output design_figures --draws 10

50 random labels, then 150 by `plan_labels` for the mean (of classes: for their shares), against 150
more random ones; the first 50 are the same. Tables are those of `estimates.py`, where the truth is
known. With --quick the ensemble has three members instead of all, and a draw takes a sixth of the time.
What is finished is kept in the output folder, and a run that is stopped goes on from there.
"""

import argparse
import os
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV

from estimates import LEAST_OF_A_CLASS, SEED, Rows, all_rows, mean_of
from twinviews import XNVClassifier, XNVRegressor, estimate, plan_labels
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, workers
from workload import report

FIRST, MORE = 50, 150


class Job(NamedTuple):
    set_name: str
    draw: int


class Found(NamedTuple):
    """One interval from labels of each kind."""

    set_name: str
    draw: int
    what: str
    number: int
    design: str  # "planned" or "random"
    truth: float
    value: float
    low: float
    high: float
    alone_low: float
    alone_high: float


class Intervals(ResultStore):
    tables = (
        """designs (
            set_name TEXT, draw INTEGER, what TEXT, number INTEGER, design TEXT, truth REAL, value REAL,
            low REAL, high REAL, alone_low REAL, alone_high REAL,
            PRIMARY KEY (set_name, draw, what, number, design)
        )""",
    )


def quick_members(*, classes: bool) -> list[tuple[str, Any]]:
    """Beside the correlated views."""
    if classes:
        linear, trees = LogisticRegression(C=1.0), ExtraTreesClassifier
    else:
        linear, trees = RidgeCV(np.logspace(-2, 4, 7)), ExtraTreesRegressor
    return [("linear", linear), ("trees", trees(50, min_samples_leaf=2, random_state=0))]


def one_draw(job: Job, options: tuple[Path | None, bool]) -> list[Found] | None:
    """None where the set is not here, or has too few rows or labels of a class."""
    data, quick = options
    try:
        rows = all_rows(job.set_name, data)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    n, n_rows = FIRST + MORE, len(rows.y)
    chosen = np.random.default_rng([SEED, job.draw, n]).permutation(n_rows)[:n]
    classes = CONTEST_SETS_BY_NAME[job.set_name].task == "classification"
    n_first = np.unique(rows.y[chosen[:FIRST]])
    if n > 0.5 * n_rows or (classes and not 2 <= len(n_first) <= FIRST / LEAST_OF_A_CLASS):
        return None
    kind = XNVClassifier if classes else XNVRegressor

    def labeled(places: np.ndarray, probability: np.ndarray | None = None) -> tuple[Any, dict]:
        y = np.full(n_rows, np.nan)
        y[places] = rows.y[places]
        frame = rows.frame.assign(y=y)
        how = {}
        if probability is not None:
            frame, how = frame.assign(probability=probability), {"label_probability": "probability"}
        members = quick_members(classes=classes) if quick else "auto"
        model = kind(random_state=job.draw, members=members, n_threads=1, progress=False)
        model.fit_table(frame, target="y", columns=rows.inputs, **how)
        return model, {"model": model, "rows": frame, "target": "y", "assume_random": True} | how

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, ask = labeled(chosen[:FIRST])
        plan = plan_labels(k=MORE, random_state=job.draw, **ask)
        both = np.concatenate([chosen[:FIRST], plan.places])
        arms = {"random": labeled(chosen), "planned": labeled(both, plan.label_probability)}
        return [
            one
            for design, (model, ask) in arms.items()
            for one in answers(job, design, rows, model, ask, classes=classes)
        ]


def answers(job: Job, design: str, rows: Rows, model: Any, ask: dict, *, classes: bool) -> list[Found]:
    """A mean and a share of numbers, or the shares of up to three classes."""
    if classes:
        told = list(estimate(**ask))[:3]
        asked = [
            ("share of a class", number, row, float(np.mean(rows.y == one)))
            for number, (row, one) in enumerate(zip(told, model.classes_, strict=False))
        ]
    else:
        high = float(np.quantile(rows.y, 0.75))
        asked = [
            ("mean", 0, estimate(**ask)[0], float(rows.y.mean())),
            ("share above a value", 0, estimate(**ask, above=high)[0], float(np.mean(rows.y > high))),
        ]
    return [
        Found(
            *job,
            what,
            number,
            design,
            truth,
            row.estimate,
            row.low,
            row.high,
            row.labels_alone_low,
            row.labels_alone_high,
        )
        for what, number, row, truth in asked
    ]


# --- bars ------------------------------------------------------------------------------------------


def tell(found: list[Found]) -> None:
    sets, draws = {one.set_name for one in found}, {one.draw for one in found}
    print(f"{len(sets)} sets, {len(draws)} draws: {FIRST} random labels and {MORE} more")
    for what in dict.fromkeys(one.what for one in found):
        some = [one for one in found if one.what == what]
        for design in ("random", "planned"):
            tell_of(f"{what}, {design}", [one for one in some if one.design == design])
        by_set: dict[str, list[float]] = defaultdict(list)
        errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        pairs: dict[tuple, dict[str, Found]] = defaultdict(dict)
        for one in some:
            pairs[one.set_name, one.draw, one.number][one.design] = one
            errors[one.set_name][one.design].append(np.square(one.value - one.truth))
        for (name, *_), pair in pairs.items():
            widths = [pair[d].high - pair[d].low for d in ("planned", "random") if d in pair]
            if len(widths) == 2 and min(widths) > 0:
                by_set[name].append(widths[0] / widths[1])
        ratios = {name: mean_of(of_set) for name, of_set in by_set.items()}
        ratio, worst = mean_of(list(ratios.values())), max(ratios, key=lambda name: ratios[name])
        report(f"  {what}: width against random labels", ratio, "at most 0.85", ratio <= 0.85)
        print(f"    widest: {worst} {ratios[worst]:.2f}; narrowest {min(ratios.values()):.2f}")
        of_error = mean_of(
            [
                float(np.sqrt(np.mean(one["planned"]) / np.mean(one["random"])))
                for one in errors.values()
                if np.mean(one["random"]) > 0 and np.mean(one["planned"]) > 0
            ]
        )
        print(f"    root mean squared error against random labels: {of_error:.2f}")


def tell_of(what: str, some: list[Found]) -> None:
    by_set = defaultdict(list)
    for one in some:
        by_set[one.set_name].append(one.low <= one.truth <= one.high)
    inside = float(np.mean([one.low <= one.truth <= one.high for one in some]))
    alone = float(np.mean([one.alone_low <= one.truth <= one.alone_high for one in some]))
    worst = min(by_set, key=lambda name: np.mean(by_set[name]))
    report(
        f"  {what}: coverage of 95% intervals ({len(some)}; labels alone {alone:.3f})",
        inside,
        "0.93 to 0.97",
        0.93 <= inside <= 0.97,
    )
    print(f"    least: {worst} {np.mean(by_set[worst]):.2f} of {len(by_set[worst])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--task", choices=["regression", "classification"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="three members instead of all")
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Intervals(options.output / "designs.sqlite") as store:
        if not options.report:
            run(store, options)
        rows = store.rows("SELECT * FROM designs ORDER BY set_name, draw, what, number, design")
    tell([Found(*row) for row in rows])


def run(store: Intervals, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT DISTINCT set_name, draw FROM designs")}
    jobs = [
        Job(one.name, draw)
        for draw in range(options.first, options.first + options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], None)
        if options.task in (None, one.task)
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, found in as_they_come(pool, one_draw, todo, (options.data, options.quick), "draws"):
            if found:
                store.insert("designs", found)


if __name__ == "__main__":
    main()
