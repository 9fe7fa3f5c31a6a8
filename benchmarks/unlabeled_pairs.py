"""Do unlabeled rows do harm? The default with them and without them, on all sets of the contest.

    python benchmarks/unlabeled_pairs.py --data FOLDER --output FOLDER --draws 5
    python benchmarks/unlabeled_pairs.py --output FOLDER --report          what is there so far

In each draw n random rows keep their labels. One fit has all the other rows as unlabeled rows, the
other has the labeled rows alone; both predict the other rows, whose labels are hidden. The bar is on
the error that a fit tells: root mean squared error of numbers, error rate of classes. Log losses stand
beside it. A ratio is the mean error with unlabeled rows over that without, means over draws; one
below 1 is what the rows bought. What is finished is kept in the output folder, and a run that is
stopped goes on from there.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import log_loss

from honesty import LEAST_OF_A_CLASS, SEED, hidden_rows, mean_of, raw_table
from twinviews import XNVClassifier, XNVRegressor
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import Draw, draw
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

LABELS = (100,)
# At this ratio a set counts as harmed, and at this mean the rows as worth their time.
MOST_HARM, GAIN = 1.02, 0.98


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int
    with_unlabeled: bool


class Trial(NamedTuple):
    set_name: str
    n: int
    draw: int
    with_unlabeled: bool
    error: float  # root mean squared error in deviations of the truth, or error rate
    log_loss: float | None  # of classes only
    told: float  # the error that the fit tells, in the same unit
    seconds: float


class Trials(ResultStore):
    tables = (
        """trials (
            set_name TEXT, n INTEGER, draw INTEGER, with_unlabeled INTEGER, error REAL,
            log_loss REAL, told REAL, seconds REAL, PRIMARY KEY (set_name, n, draw, with_unlabeled)
        )""",
    )


def try_once(job: Job, data: Path | None) -> Trial | None:
    """None where the set has too few rows for n labels, or is not here."""
    task = CONTEST_SETS_BY_NAME[job.set_name].task
    try:
        rows = draw(raw_table(job.set_name, data), task, job.draw, SEED)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    if job.n > 0.8 * np.sum(~np.isnan(rows.y)):
        return None
    if task == "classification" and job.n < LEAST_OF_A_CLASS * len(np.unique(rows.y[: job.n])):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _judged(job, rows, classes=task == "classification")


def _judged(job: Job, rows: Draw, *, classes: bool) -> Trial:
    X, truth = hidden_rows(rows, job.n)
    kind: Any = XNVClassifier if classes else XNVRegressor
    start = time.perf_counter()
    model = kind(random_state=job.draw, n_threads=1, progress=False).fit(
        rows.X[: job.n], rows.y[: job.n], X_unlabeled=X if job.with_unlabeled else None
    )
    seconds = time.perf_counter() - start
    if not classes:
        unit = truth.std()
        error = float(np.sqrt(np.mean(np.square(model.predict(X) - truth))) / unit)
        return Trial(*job, error, None, float(model.cv_error_ / unit), seconds)
    p = model.predict_proba(X)
    error = float(np.mean(model.classes_[p.argmax(axis=1)] != truth))
    known = np.isin(truth, model.classes_)
    loss = float(log_loss(truth[known], p[known], labels=model.classes_))
    return Trial(*job, error, loss, float(model.cv_error_), seconds)


# --- bars -------------------------------------------------------------------------------------------


def tell(trials: list[Trial]) -> None:
    for n in sorted({trial.n for trial in trials}):
        some = [trial for trial in trials if trial.n == n]
        print(f"\nn = {n}: error with unlabeled rows over the error without, and log losses")
        errors, losses = ratios(some, "error"), ratios(some, "log_loss")
        for name, (ratio, chance) in sorted(errors.items(), key=lambda item: -item[1][0]):
            loss = f"   log loss {losses[name][0]:.3f}" if name in losses else ""
            print(f"  {name:<20}{ratio:.3f} +- {chance:.3f}{loss}")
        for task in ("regression", "classification"):
            own = [r for name, (r, _) in errors.items() if CONTEST_SETS_BY_NAME[name].task == task]
            if own:
                print(f"  {task}: {len(own)} sets, geometric mean {mean_of(own):.3f}")
        if losses:
            print(f"  log loss: geometric mean {mean_of(r for r, _ in losses.values()):.3f}")
        all_ratios = [ratio for ratio, _ in errors.values()]
        if not all_ratios:
            continue
        harmed = sum(ratio > MOST_HARM for ratio in all_ratios)
        report(f"  worse by more than 2%, of {len(all_ratios)} sets", float(harmed), "0", harmed == 0)
        gain = mean_of(all_ratios)
        report("  geometric mean of the ratios", gain, "below 0.98", gain < GAIN)


def ratios(trials: list[Trial], measure: str) -> dict[str, tuple[float, float]]:
    """Of each set, the ratio of mean errors and its standard error over draws."""
    found: dict[str, tuple[float, float]] = {}
    values = {trial[:4]: getattr(trial, measure) for trial in trials}
    for name in sorted({trial.set_name for trial in trials}):
        pairs = np.array(
            [
                (value, values[one, n, number, False])
                for (one, n, number, with_unlabeled), value in values.items()
                if one == name and with_unlabeled and values.get((one, n, number, False)) is not None
            ]
        )
        if not len(pairs):
            continue
        with_rows, without = pairs.T
        ratio = with_rows.mean() / without.mean() if without.any() else 1.0
        # The delta method, with draws as the units.
        off = (with_rows - ratio * without) / (without.mean() or 1.0)
        chance = np.sqrt(np.mean(np.square(off)) / max(len(pairs) - 1, 1))
        found[name] = float(ratio), float(chance)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--task", choices=["regression", "classification"])
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--labels", default="", help="numbers of labels; default: 100")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Trials(options.output / "trials.sqlite") as store:
        if not options.report:
            run(store, options)
        trials = [Trial(*row) for row in store.rows("SELECT * FROM trials ORDER BY set_name, n, draw")]
    tell(
        [one for one in trials if options.half in (None, CONTEST_SETS_BY_NAME[one.set_name].half)],
    )


def run(store: Trials, options: argparse.Namespace) -> None:
    columns = "set_name, n, draw, with_unlabeled"
    done = {Job(*row) for row in store.rows(f"SELECT {columns} FROM trials")}
    asked = [int(n) for n in options.labels.split(",") if n]
    jobs = [
        Job(one.name, n, number, with_unlabeled)
        for number in range(options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if options.task in (None, one.task)
        for n in asked or LABELS
        for with_unlabeled in (True, False)
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, trial in as_they_come(pool, try_once, todo, options.data, "fits"):
            if trial is not None:
                store.insert("trials", [trial])


if __name__ == "__main__":
    main()
