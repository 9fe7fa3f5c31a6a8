"""What a few wild labels do to the default: its error on clean rows, and its intervals.

    python benchmarks/outlying_labels.py --data FOLDER

On each regression set of the contest, 100 random labels are learned from as they are and spoiled in
four ways. The truth is never spoiled.
"""

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from honesty import hidden_rows, mean_of, raw_table
from twinviews import XNVRegressor
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

N_LABELS, SEED = 100, 13


def one_far(y: np.ndarray, rng: np.random.Generator) -> None:
    y[rng.integers(len(y))] = np.median(y) + 1000 * y.std()


def slips(y: np.ndarray, rng: np.random.Generator) -> None:
    y[_some(y, 0.03, rng)] *= 10


def noisy(y: np.ndarray, rng: np.random.Generator) -> None:
    some = _some(y, 0.03, rng)
    y[some] += 10 * y.std() * rng.normal(size=len(some))


def moved(y: np.ndarray, rng: np.random.Generator) -> None:
    some = _some(y, 0.05, rng)
    y[some] += 5 * y.std() * rng.choice([-1, 1], len(some))


def _some(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(len(y))[: round(share * len(y))]


SPOILED: dict[str, Callable[[np.ndarray, np.random.Generator], None]] = {
    "as they are": lambda y, rng: None,
    "one is 1,000 deviations off": one_far,
    "3% are multiplied by 10": slips,
    "3% have noise of 10 deviations": noisy,
    "5% are moved by 5 deviations": moved,
}


class Job(NamedTuple):
    set_name: str
    draw: int
    kind: str


class Fit(NamedTuple):
    error: float  # root mean squared, over the deviation of the truth
    left_out: int
    coverage: float  # of 90% intervals


def fit_once(job: Job, data: Path | None) -> Fit:
    rows = draw(raw_table(job.set_name, data), "regression", job.draw, SEED)
    X, truth = hidden_rows(rows, N_LABELS)
    labels = rows.y[:N_LABELS].copy()
    SPOILED[job.kind](labels, np.random.default_rng([SEED, job.draw]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = XNVRegressor(random_state=job.draw, n_threads=1, progress=False)
        model.fit(rows.X[:N_LABELS], labels, X_unlabeled=X)
        low, high = model.predict_interval(X, coverage=0.9).T
        error = np.sqrt(np.mean(np.square(model.predict(X) - truth))) / truth.std()
    (ensemble,) = model._ensembles
    left_out = 0 if ensemble.outlying is None else len(ensemble.outlying)
    return Fit(float(error), left_out, float(np.mean((low <= truth) & (truth <= high))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    options = parser.parse_args()
    sets = [one.name for one in choose_contest_sets([], None) if one.task == "regression"]
    jobs = [Job(name, d, kind) for d in range(options.draws) for name in sets for kind in SPOILED]
    with workers(options.jobs) as pool:
        fits = dict(as_they_come(pool, fit_once, jobs, options.data, "fits"))
    for kind in SPOILED:
        some = {job: fit for job, fit in fits.items() if job.kind == kind}
        clean = {job: fits[job._replace(kind="as they are")] for job in some}
        ratios = np.array([fit.error / clean[job].error for job, fit in some.items()])
        coverage = np.mean([fit.coverage for fit in some.values()])
        left_out = sum(fit.left_out for fit in some.values())
        print(f"\n{kind}: {len(some)} fits, {left_out} labels left out, coverage {coverage:.3f}")
        if kind == "as they are":
            touched = float(sum(fit.left_out > 0 for fit in some.values()))
            report("  fits that leave labels out", touched / len(some), "none set", True)
        else:
            mean, worst = mean_of(ratios), float(ratios.max())
            report("  error against labels as they are, mean", mean, "at most 1.1", mean <= 1.1)
            report("  worst fit", worst, "none set", True)


if __name__ == "__main__":
    main()
