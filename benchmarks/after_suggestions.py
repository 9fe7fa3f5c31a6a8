"""Are errors and intervals true after suggestions? With probabilities of the labels, and without.

    python benchmarks/after_suggestions.py --data FOLDER --output FOLDER --draws 10
    python benchmarks/after_suggestions.py --output FOLDER --report          what is there so far

Sets are the contest's. In each draw 50 random rows of a table have labels, and 200 more are asked for
in batches by `suggest` with its default share of random rows, after a fit to the labels so far. The
last labels are fitted twice, with `label_probability` and without, and 250 random labels beside them.
The truth is on all rows without a label. What is finished is kept in the output folder, and a run that
is stopped goes on from there. Ten draws of all sets take hours: it is not in `make bench`.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from honesty import LEAST_OF_A_CLASS, SEED, holds, mean_of, raw_table
from twinviews import XNVClassifier, XNVRegressor, label_probabilities, suggest
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

FIRST, SUGGESTED, BATCH = 50, 200, 50
# Below it no label or no row was wrong, and a ratio tells nothing.
LEAST_ERROR = 1e-6
# How the last labels are fitted.
WITH, WITHOUT, RANDOM = "with probabilities", "without", "random labels"


class Job(NamedTuple):
    set_name: str
    draw: int


class Fit(NamedTuple):
    """One fit: what it told, and what was true."""

    set_name: str
    draw: int
    labels: str  # WITH, WITHOUT or RANDOM
    told: float  # root mean squared error, or error rate; cross-validated
    low: float
    high: float
    true: float
    coverage: float | None  # of 90% prediction intervals; of numbers only
    width: float | None  # median width, in deviations of the truth
    n_random: int  # labels of rows drawn at random


class Fits(ResultStore):
    tables = (
        """fits (
            set_name TEXT, draw INTEGER, labels TEXT, told REAL, low REAL, high REAL, true REAL,
            coverage REAL, width REAL, n_random INTEGER, PRIMARY KEY (set_name, draw, labels)
        )""",
    )


class Labeling:
    """A table whose labels are all known here, and those that a model has been given so far."""

    def __init__(self, task: str, X: np.ndarray, y: np.ndarray, seed: int) -> None:
        self.task, self.X, self.y, self.seed = task, X, y, seed
        self.how = np.full(len(y), None, dtype=object)  # None where there is no label

    def give(self, places: np.ndarray, how: np.ndarray | str) -> None:
        self.how[places] = how

    @property
    def is_labeled(self) -> np.ndarray:
        return self.how != None  # noqa: E711  # of each row

    def fitted(self, *, probabilities: bool):
        kind = XNVRegressor if self.task == "regression" else XNVClassifier
        model = kind(random_state=self.seed, n_threads=1, progress=False)
        known = self.is_labeled
        options = {}
        if probabilities:
            p = np.ones(len(self.y))
            p[known] = label_probabilities(self.how[known], len(self.y))
            options["label_probability"] = p
        return model.fit(self.X, np.where(known, self.y, np.nan), **options)

    def ask(self, k: int) -> None:
        """Label k more rows, as `suggest` chooses them."""
        labels = np.where(self.is_labeled, self.y, np.nan)
        found = suggest(self.fitted(probabilities=True), self.X, k, y=labels, random_state=self.seed)
        self.give(found.places, found.how)


def label_and_fit(job: Job, data: Path | None) -> list[Fit]:
    """Three fits; none where the set has too few rows, or is not here."""
    one = CONTEST_SETS_BY_NAME[job.set_name]
    try:
        rows = draw(raw_table(job.set_name, data), one.task, job.draw, SEED)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return []
    X, y = np.vstack([rows.X, rows.X_test]), np.concatenate([rows.y, rows.y_test])
    X, y = X[~np.isnan(y)], y[~np.isnan(y)]
    n_classes = len(np.unique(y)) if one.task == "classification" else 0
    if 0.5 * len(y) < FIRST + SUGGESTED or LEAST_OF_A_CLASS * n_classes > FIRST:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = (one.task, X, y, job.draw)
        return list(fits_of(job, Labeling(*table), Labeling(*table)))


def fits_of(job: Job, asked: Labeling, random: Labeling):
    """The rows are in random order, so the first are a random sample."""
    asked.give(np.arange(FIRST), "random")
    for start in range(0, SUGGESTED, BATCH):
        asked.ask(min(BATCH, SUGGESTED - start))
    random.give(np.arange(FIRST + SUGGESTED), "random")
    yield judged(job, WITH, asked, asked.fitted(probabilities=True))
    yield judged(job, WITHOUT, asked, asked.fitted(probabilities=False))
    yield judged(job, RANDOM, random, random.fitted(probabilities=False))


def judged(job: Job, labels: str, labeling: Labeling, model) -> Fit:
    X, truth = labeling.X[~labeling.is_labeled], labeling.y[~labeling.is_labeled]
    predicted = model.predict(X)
    coverage = width = None
    if labeling.task == "regression":
        error = float(np.sqrt(np.mean(np.square(predicted - truth))))
        low, high = model.predict_interval(X, coverage=0.9).T
        coverage = float(np.mean((low <= truth) & (truth <= high)))
        width = float(np.median(high - low) / truth.std())  # some have no end
    else:
        error = float(np.mean(predicted != truth))
    n_random = int((labeling.how == "random").sum())
    told = (model.cv_error_, *model.cv_error_interval_)
    return Fit(*job, labels, *told, error, coverage, width, n_random)


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
        print(f"\n{task}: {len(sets)} sets, {len(draws)} draws")
        for labels in (WITH, WITHOUT, RANDOM):
            tell_labels([fit for fit in some if fit.labels == labels], labels)
        against_random_labels(some)


def tell_labels(fits: list[Fit], labels: str) -> None:
    """Bars are for suggested labels with probabilities; the others are there to compare with."""
    if not fits:
        return
    n_random = np.mean([fit.n_random for fit in fits])
    ratio = mean_of(fit.true / fit.told for fit in fits if min(fit.told, fit.true) > LEAST_ERROR)
    print(f"  {labels}: {len(fits)} fits, {n_random:.0f} of the labels drawn at random")
    rows = [("geometric mean of true / told", ratio, "0.97 to 1.03", 0.97 <= ratio <= 1.03)]
    inside = float(np.mean([fit.low <= fit.true <= fit.high for fit in fits]))
    rows.append(("90% interval of the error holds it", inside, "0.87 to 0.94", holds(inside)))
    covered = np.array([fit.coverage for fit in fits if fit.coverage is not None])
    if len(covered):
        mean, low = float(covered.mean()), float(np.mean(covered < 0.84))
        width = np.median([fit.width for fit in fits])
        rows.append(("coverage of 90% intervals", mean, "0.89 to 0.92", 0.89 <= mean <= 0.92))
        rows.append((f"below 0.84 (width {width:.2f})", low, "at most 0.03", low <= 0.03))
    for what, value, bar, is_met in rows:
        if labels == WITH:
            report(f"    {what}", value, bar, is_met)
        else:
            print(f"{f'    {what}':<66}{value:>12,.3f}")


def against_random_labels(fits: list[Fit]) -> None:
    error = {fit[:3]: fit.true for fit in fits}
    pairs = sorted({fit[:2] for fit in fits})
    for labels in (WITH, WITHOUT):
        both = [
            error[*pair, labels] / error[*pair, RANDOM]
            for pair in pairs
            if error.get((*pair, labels), 0) > 0 and error.get((*pair, RANDOM), 0) > 0
        ]
        if both:
            print(f"{f'  error {labels} against 250 random labels':<66}{mean_of(both):>12,.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--task", choices=["regression", "classification"])
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Fits(options.output / "after_suggestions.sqlite") as store:
        if not options.report:
            run(store, options)
        fits = [Fit(*row) for row in store.rows("SELECT * FROM fits ORDER BY set_name, draw")]
    tell(fits, options.half)


def run(store: Fits, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT DISTINCT set_name, draw FROM fits")}
    jobs = [
        Job(one.name, number)
        for number in range(options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if options.task in (None, one.task)
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, fits in as_they_come(pool, label_and_fit, todo, options.data, "fits"):
            if fits:
                store.insert("fits", fits)


if __name__ == "__main__":
    main()
