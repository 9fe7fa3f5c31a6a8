"""How many labels does `suggest` save? Labels it needs for the error that 500 random ones have, by set.

    python benchmarks/label_next.py --data FOLDER --output FOLDER --repetitions 3
    python benchmarks/label_next.py --output FOLDER --write       figures into docs/labeling

Sets, rows and test rows are the contest's. Labeling starts with 25 random rows; then the default
estimator is fitted again at 50, 100, 150 ... labels, and until the next fit one row in five is drawn at
random, as on the labeling page, and the others are those that a strategy suggests. What is finished is
kept in the output folder, and a run that is stopped goes on from there.
"""

import argparse
import csv
import json
import os
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.isotonic import IsotonicRegression

from twinviews import XNVClassifier, XNVRegressor, suggest
from twinviews._system.cache_folder import default_cache
from twinviews.evaluation.measures import error_rate, normalised_squared_error
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import Draw, draw
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers

FOLDER = Path(__file__).parent.parent / "docs" / "labeling"
FIRST, ONE_IN, REFERENCE = 25, 5, 500
FITS = (25, 50, *range(100, 601, 50))


class Job(NamedTuple):
    set_name: str
    repetition: int
    strategy: str
    most: int
    chosen: list[int]  # so far, in order


class Step(NamedTuple):
    n: int
    error: float
    chosen: list[int]


class Steps(ResultStore):
    tables = (
        """steps (
            set_name TEXT, repetition INTEGER, strategy TEXT, n INTEGER, error REAL, chosen TEXT,
            PRIMARY KEY (set_name, repetition, strategy, n)
        )""",
    )


def fitted(task: str, rows: Draw, chosen: np.ndarray, seed: int):
    y = np.full(len(rows.X), np.nan)
    y[chosen] = rows.y[chosen]
    kind = XNVRegressor if task == "regression" else XNVClassifier
    return kind(random_state=seed, progress=False).fit(rows.X, y)


def next_rows(strategy: str, model, rows: Draw, chosen: np.ndarray, k: int, rng) -> np.ndarray:
    """k more rows, one in five of them at random."""
    free = np.setdiff1d(np.flatnonzero(~np.isnan(rows.y)), chosen)
    if strategy == "random":
        return free[:k]  # the draw is in random order
    if strategy == "scikit-activeml":
        return free[_of_scikit_activeml(model, rows, chosen, free, k)]
    at_random = rng.choice(free, k // ONE_IN, replace=False)
    free = np.setdiff1d(free, at_random)
    seed = int(rng.integers(2**31))
    k -= len(at_random)
    found = suggest(model, rows.X[free], k, rule=strategy, random_share=0, random_state=seed)
    return np.concatenate([at_random, free[found.places]])


def _of_scikit_activeml(model, rows: Draw, chosen: np.ndarray, free: np.ndarray, k: int) -> np.ndarray:
    """The peer's own choice with models of its own: margins of classes, greedy sampling of numbers."""
    from skactiveml.classifier import ParzenWindowClassifier
    from skactiveml.pool import GreedySamplingTarget, UncertaintySampling
    from skactiveml.regressor import NICKernelRegressor

    X = np.vstack([rows.X[chosen], rows.X[free]])
    y = np.concatenate([rows.y[chosen], np.full(len(free), np.nan)])
    if isinstance(model, XNVClassifier):
        query = UncertaintySampling(method="margin_sampling", random_state=0)
        picked = query.query(X, y, ParzenWindowClassifier(classes=model.classes_), batch_size=k)
    else:
        picked = GreedySamplingTarget(random_state=0).query(X, y, NICKernelRegressor(), batch_size=k)
    return picked - len(chosen)


def label(job: Job, data: Path | None) -> list[Step]:
    """The fits of one set, draw and strategy that are still to be made."""
    one = CONTEST_SETS_BY_NAME[job.set_name]
    rows = draw(one.read(Files(data, default_cache(), online=False)), one.task, job.repetition, seed=0)
    measure = normalised_squared_error if one.task == "regression" else error_rate
    n_known = int(np.sum(~np.isnan(rows.y)))
    if job.strategy == "random":  # nothing is chosen: one fit tells
        if n_known < job.most:
            return []
        chosen = np.arange(job.most)
        model = fitted(one.task, rows, chosen, job.repetition)
        return [Step(job.most, measure(rows.y_test, model.predict(rows.X_test)), chosen.tolist())]
    steps: list[Step] = []
    chosen = np.array(job.chosen or range(FIRST))
    while len(chosen) <= min(job.most, n_known - 1):
        model = fitted(one.task, rows, chosen, job.repetition)
        steps.append(
            Step(len(chosen), measure(rows.y_test, model.predict(rows.X_test)), chosen.tolist())
        )
        later = [n for n in FITS if n > len(chosen)]
        if not later or later[0] > min(job.most, n_known - 1):
            break
        rng = np.random.default_rng([job.repetition, len(chosen)])
        more = next_rows(job.strategy, model, rows, chosen, later[0] - len(chosen), rng)
        chosen = np.concatenate([chosen, more])
    return steps if not job.chosen else steps[1:]


def jobs_of(ledger: Steps, options: argparse.Namespace) -> list[Job]:
    found = []
    for one in choose_contest_sets(options.sets.split(",") if options.sets else [], options.half):
        for repetition in range(options.repetitions):
            for strategy in ["random", *options.strategies.split(",")]:
                most = REFERENCE if strategy == "random" else options.most
                done = ledger.rows(
                    "SELECT n, chosen FROM steps WHERE set_name = ? AND repetition = ? AND "
                    "strategy = ? ORDER BY n DESC LIMIT 1",
                    one.name, repetition, strategy,
                )  # fmt: skip
                if not done or done[0][0] < most:
                    chosen = json.loads(done[0][1]) if done else []
                    found.append(Job(one.name, repetition, strategy, most, chosen))
    return sorted(found, key=lambda job: job.repetition)


def labels_needed(n: np.ndarray, errors: np.ndarray, level: float) -> float:
    """Where a curve first reaches the level; infinite if it does not.

    The curve is made to fall by isotonic regression: a running minimum would take luck for skill.
    """
    best = IsotonicRegression(increasing=False).fit_transform(n, errors)
    reached = np.flatnonzero(best <= level)
    if len(reached) == 0:
        return np.inf
    place = int(reached[0])
    if place == 0:
        return float(n[0])
    before, after = np.log([max(best[place - 1], 1e-12), max(best[place], 1e-12)])
    share = (before - np.log(max(level, 1e-12))) / (before - after)
    return float(n[place - 1] + share * (n[place] - n[place - 1]))


class Needed(NamedTuple):
    set_name: str
    strategy: str
    draws: int
    level: float  # the error of 500 random labels
    labels: float  # needed for it; the most that were tried if that was not enough
    reached: bool

    def words(self) -> str:
        return f"{self.labels:.0f}" if self.reached else f"over {self.labels:.0f}"


def needed_by_set(ledger: Steps) -> list[Needed]:
    """Of the means over draws, where the random labels are known too."""
    found = []
    pairs = ledger.rows("SELECT DISTINCT set_name, strategy FROM steps WHERE strategy != 'random'")
    for name, strategy in sorted(pairs):
        reference = dict(
            ledger.rows(
                "SELECT repetition, error FROM steps WHERE set_name = ? AND strategy = 'random'", name
            )
        )
        curves: dict[int, dict[int, float]] = {}
        for repetition, n, error in ledger.rows(
            "SELECT repetition, n, error FROM steps WHERE set_name = ? AND strategy = ?", name, strategy
        ):
            curves.setdefault(repetition, {})[n] = error
        draws = sorted(set(curves) & set(reference))
        if not draws:
            continue
        sizes = sorted(set.intersection(*(set(curves[one]) for one in draws)))
        errors = np.array([np.mean([curves[one][n] for one in draws]) for n in sizes])
        level = float(np.mean([reference[one] for one in draws]))
        labels = labels_needed(np.array(sizes), errors, level)
        reached = bool(np.isfinite(labels))
        found.append(
            Needed(name, strategy, len(draws), level, labels if reached else sizes[-1], reached)
        )
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, help="folder with data files")
    arguments.add_argument("--output", type=Path, default=Path("label-next"))
    arguments.add_argument("--sets", default="", help="names, with commas between; else all")
    arguments.add_argument("--half", choices=["development", "untouched"])
    arguments.add_argument("--strategies", default="best of handfuls")
    arguments.add_argument("--repetitions", type=int, default=3)
    arguments.add_argument("--most", type=int, default=400, help="labels")
    arguments.add_argument("--jobs", type=int, default=default_jobs())
    arguments.add_argument("--write", action="store_true", help="the table into docs/labeling")
    options = arguments.parse_args()
    with Steps(options.output / "label_next.sqlite") as ledger:
        if not options.write:
            with workers(options.jobs) as pool:
                todo = jobs_of(ledger, options)
                for job, steps in as_they_come(pool, label, todo, options.data, "labeling"):
                    if steps:
                        kept = [
                            (job.set_name, job.repetition, job.strategy, n, error, json.dumps(chosen))
                            for n, error, chosen in steps
                        ]
                        ledger.insert("steps", kept)
        found = needed_by_set(ledger)
    print(f"{'set':20}{'strategy':20}{'draws':>6}{'error of 500 random':>22}{'labels needed':>15}")
    for one in found:
        print(f"{one.set_name:20}{one.strategy:20}{one.draws:6}{one.level:22.4f}{one.words():>15}")
    for strategy in sorted({one.strategy for one in found}):
        of_it = [one for one in found if one.strategy == strategy]
        mean = np.mean([one.labels for one in of_it])
        too_many = [one.set_name for one in of_it if one.labels > 1.05 * REFERENCE]
        print(
            f"{strategy}: mean {mean:.0f} labels instead of {REFERENCE} over {len(of_it)} sets (bar: "
            f"at most 350); more than {1.05 * REFERENCE:.0f} on {', '.join(too_many) or 'no set'} "
            f"(bar: none)"
        )
    if options.write:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / "labels_needed.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["set", "half", "strategy", "draws", "error of 500 random", "labels needed"])
            for one in found:
                half = CONTEST_SETS_BY_NAME[one.set_name].half
                rows.writerow(
                    [one.set_name, half, one.strategy, one.draws, f"{one.level:.6g}", one.words()]
                )


if __name__ == "__main__":
    main()
