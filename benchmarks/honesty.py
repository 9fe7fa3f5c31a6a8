"""Does the default keep its word? Told errors, their intervals, prediction intervals, learning curves.

    python benchmarks/honesty.py --data FOLDER --output FOLDER --draws 10
    python benchmarks/honesty.py --output FOLDER --report          what is there so far
    python benchmarks/honesty.py --output FOLDER --report --against OTHER      errors of two versions

Sets are the contest's. In each draw n random rows keep their labels, all the others are unlabeled rows
of the table, as a user has them, and their hidden labels are the truth. Labels are nested: those of n
are among those of every larger n. What is finished is kept in the output folder, and a run that is
stopped goes on from there. Ten draws of all sets take an hour of two cores: it is not in `make bench`.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from twinviews import XNVClassifier, XNVRegressor
from twinviews._system.cache_folder import default_cache
from twinviews.method.error_estimate import ErrorEstimate, is_rough
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import Draw, draw
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.public_sources import RawTable
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

LABELS = {
    "regression": (30, 50, 75, 100, 150, 200, 300, 500, 1000),
    "classification": (30, 50, 100, 200, 500),
}
CURVE = (50, 75, 100, 150, 200, 300, 500)
SEED = 7
# Labels of a class that a fit needs at the least, on average; below, folds would lack classes.
LEAST_OF_A_CLASS = 3


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int


class Fit(NamedTuple):
    """One fit: what it told, and what was true."""

    set_name: str
    n: int
    draw: int
    told: float  # root mean squared error, or error rate; cross-validated
    low: float
    high: float
    true: float
    spread: float  # the error of always saying the mean of the labels, or the commonest class
    coverage: float | None  # of 90% prediction intervals; of numbers only
    width: float | None  # mean width, in deviations of the truth
    seconds: float


class Fits(ResultStore):
    tables = (
        """fits (
            set_name TEXT, n INTEGER, draw INTEGER, told REAL, low REAL, high REAL, true REAL,
            spread REAL, coverage REAL, width REAL, seconds REAL, PRIMARY KEY (set_name, n, draw)
        )""",
    )


@cache
def raw_table(set_name: str, data: Path | None) -> RawTable:
    return CONTEST_SETS_BY_NAME[set_name].read(Files(data, default_cache(), online=False))


def fit_once(job: Job, data: Path | None) -> Fit | None:
    """None where the set has too few rows for n labels, or is not here."""
    one = CONTEST_SETS_BY_NAME[job.set_name]
    try:
        rows = draw(raw_table(job.set_name, data), one.task, job.draw, SEED)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    if job.n > 0.8 * np.sum(~np.isnan(rows.y)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = judge_numbers if one.task == "regression" else judge_classes
        return judge(job, rows)


def hidden_rows(rows: Draw, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows without a label for the model, whose labels are known here."""
    X, y = np.vstack([rows.X[n:], rows.X_test]), np.concatenate([rows.y[n:], rows.y_test])
    return X[~np.isnan(y)], y[~np.isnan(y)]


def judge_numbers(job: Job, rows: Draw) -> Fit:
    X, truth = hidden_rows(rows, job.n)
    start = time.perf_counter()
    model = XNVRegressor(random_state=job.draw, n_threads=1, progress=False)
    model.fit(rows.X[: job.n], rows.y[: job.n], X_unlabeled=X)
    seconds = time.perf_counter() - start
    low, high = model.predict_interval(X, coverage=0.9).T
    error = float(np.sqrt(np.mean(np.square(model.predict(X) - truth))))
    spread = float(np.sqrt(np.mean(np.square(rows.y[: job.n].mean() - truth))))
    inside = float(np.mean((low <= truth) & (truth <= high)))
    width = float(np.mean(high - low) / truth.std())
    told = (model.cv_error_, *model.cv_error_interval_)
    return Fit(*job, *told, error, spread, inside, width, seconds)


def judge_classes(job: Job, rows: Draw) -> Fit | None:
    known, counts = np.unique(rows.y[: job.n], return_counts=True)
    if job.n < LEAST_OF_A_CLASS * len(known):
        return None
    X, truth = hidden_rows(rows, job.n)
    start = time.perf_counter()
    model = XNVClassifier(random_state=job.draw, n_threads=1, progress=False)
    model.fit(rows.X[: job.n], rows.y[: job.n], X_unlabeled=X)
    seconds = time.perf_counter() - start
    error = float(np.mean(model.predict(X) != truth))
    spread = float(np.mean(known[counts.argmax()] != truth))
    told = (model.cv_error_, *model.cv_error_interval_)
    return Fit(*job, *told, error, spread, None, None, seconds)


# --- bars ------------------------------------------------------------------------------------------


def tell(fits: list[Fit], half: str | None) -> None:
    for task in ("regression", "classification"):
        some = [
            fit
            for fit in fits
            if CONTEST_SETS_BY_NAME[fit.set_name].task == task
            and half in (None, CONTEST_SETS_BY_NAME[fit.set_name].half)
        ]
        if not some:
            continue
        sets, draws = {fit.set_name for fit in some}, {fit.draw for fit in some}
        print(f"\n{task}: {len(some)} fits, {len(sets)} sets, {len(draws)} draws")
        told_errors(some, task)
        intervals_of_the_error(some)
        if task == "regression":
            prediction_intervals(some)
        learning_curves(some)


def told_errors(fits: list[Fit], task: str) -> None:
    ratio = np.array([fit.true / fit.told if fit.told > 0 else np.inf for fit in fits])
    rate = task == "classification"
    estimates = [ErrorEstimate(fit.told, fit.low, fit.high) for fit in fits]
    clear = np.array([not is_rough(estimate, rate=rate) for estimate in estimates])
    good = np.array([1 - (fit.told / fit.spread) ** 2 > 0.5 for fit in fits])
    for what, chosen in (("told as a number", clear), ("all", np.ones(len(fits), bool))):
        bars = what == "told as a number" and task == "regression"
        print(
            f"  {what}: {chosen.sum()} fits; geometric mean of true / told {mean_of(ratio[chosen]):.3f}"
        )
        if not chosen.any():
            continue
        far, off = float(np.sum(ratio[chosen & good] > 1.5)), float(np.mean(ratio[chosen] > 1.25))
        if bars:
            report("  true / told above 1.5 where R2 is above 0.5, fits", far, "0", far == 0)
            report("  true / told above 1.25, share of fits", off, "at most 0.02", off <= 0.02)
        else:
            print(f"    above 1.5 where R2 is above 0.5: {far:.0f} fits; above 1.25: {off:.1%}")


def intervals_of_the_error(fits: list[Fit]) -> None:
    for n in sorted({fit.n for fit in fits}):
        inside = float(np.mean([fit.low <= fit.true <= fit.high for fit in fits if fit.n == n]))
        report(f"  90% interval of the error holds it, n = {n}", inside, "0.87 to 0.94", holds(inside))


def holds(inside: float) -> bool:
    return 0.87 <= inside <= 0.94


def prediction_intervals(fits: list[Fit]) -> None:
    for n in sorted({fit.n for fit in fits}):
        inside = np.array([fit.coverage for fit in fits if fit.n == n and fit.coverage is not None])
        if not len(inside):
            continue
        mean, low = float(inside.mean()), float(np.mean(inside < 0.84))
        width = np.median([fit.width for fit in fits if fit.n == n and fit.width is not None])
        report(f"  coverage of 90% intervals, n = {n}", mean, "0.89 to 0.92", 0.89 <= mean <= 0.92)
        report(f"  below 0.84, share of fits (width {width:.2f})", low, "at most 0.03", low <= 0.03)


def learning_curves(fits: list[Fit]) -> None:
    """Means over draws from one n to the next, and single draws."""
    error = {(fit.set_name, fit.n, fit.draw): fit.true for fit in fits}
    worst, where, doubled = 0.0, "", 0
    for name in sorted({fit.set_name for fit in fits}):
        for before, after in pairwise(CURVE):
            both = [d for s, n, d in error if (s, n) == (name, after) and (name, before, d) in error]
            if not both:
                continue
            rise = np.mean([error[name, after, d] for d in both]) / np.mean(
                [error[name, before, d] for d in both]
            )
            doubled += sum(error[name, after, d] > 2 * error[name, before, d] for d in both)
            if rise > worst:
                worst, where = float(rise), f"{name}, {before} to {after}"
    report(f"  largest rise of a mean error ({where})", worst, "at most 1.05", worst <= 1.05)
    report("  single draws whose error more than doubles", float(doubled), "0", doubled == 0)


def against(fits: list[Fit], before: list[Fit]) -> None:
    """True errors of this version over those of another, on the same draws."""
    then = {fit[:3]: fit.true for fit in before}
    by_set: dict[str, list[float]] = {}
    for fit in fits:
        if then.get(fit[:3], 0) > 0 and fit.true > 0:
            by_set.setdefault(fit.set_name, []).append(fit.true / then[fit[:3]])
    if not by_set:
        print("\nno draw is in both folders")
        return
    ratios = {name: mean_of(some) for name, some in by_set.items()}
    worst = max(ratios, key=lambda name: ratios[name])
    n_fits = sum(map(len, by_set.values()))
    print(f"\nerror against the other version: {n_fits} fits, {len(ratios)} sets")
    print("  " + ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()))
    median = float(np.median(list(ratios.values())))
    report("  median over sets", median, "below 1", median < 1)
    report("  geometric mean", mean_of(ratios.values()), "below 1", mean_of(ratios.values()) < 1)
    report(f"  worst set ({worst})", ratios[worst], "at most 1", ratios[worst] <= 1)


def mean_of(ratios: Iterable[float]) -> float:
    logs = np.log(np.fromiter(ratios, float))
    return float(np.exp(np.mean(logs[np.isfinite(logs)])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=7, help="draws 0 to 6 chose constants")
    parser.add_argument("--task", choices=list(LABELS))
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--labels", default="", help="numbers of labels; default: all of the bars")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--against", type=Path, help="folder with the fits of another version")
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Fits(options.output / "fits.sqlite") as store:
        if not options.report:
            run(store, options)
        fits = all_fits(store)
    tell(fits, options.half)
    if options.against is not None:
        with Fits(options.against / "fits.sqlite") as other:
            against(fits, all_fits(other))


def all_fits(store: Fits) -> list[Fit]:
    return [Fit(*row) for row in store.rows("SELECT * FROM fits ORDER BY set_name, n, draw")]


def run(store: Fits, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT set_name, n, draw FROM fits")}
    asked = [int(n) for n in options.labels.split(",") if n]
    jobs = [
        Job(one.name, n, number)
        for number in range(options.first, options.first + options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if options.task in (None, one.task)
        for n in asked or LABELS[one.task]
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, fit in as_they_come(pool, fit_once, todo, options.data, "fits"):
            if fit is not None:
                store.insert("fits", [fit])


if __name__ == "__main__":
    main()
