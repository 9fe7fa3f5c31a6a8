"""TabPFN v2 among the members: is the ensemble better than the default and than TabPFN, each alone?

    python benchmarks/with_tabpfn.py --data FOLDER --output FOLDER --half untouched --labels 100
    python benchmarks/with_tabpfn.py --data FOLDER --output OTHER --labels 200,500 --apart
    python benchmarks/with_tabpfn.py --output FOLDER --report        what is there so far

TabPFN runs in a Python of its own, which two environment variables name (see tabpfn_apart.py of the
experiments). Sets of numbers of the contest; root mean squared errors of up to 1,000 rows without a
label. The bar is on the ratio to the better of the two of each set, chosen in hindsight. A set takes
some minutes, and with --apart, which compares the two alone, a fraction of that; what is finished is
kept.
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

from honesty import SEED, hidden_rows, mean_of, raw_table
from twinviews import XNVRegressor
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.contest.tabpfn_apart import TabPFNApart
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, workers
from workload import report

MOST_TEST_ROWS = 1000


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int


class Trial(NamedTuple):
    set_name: str
    n: int
    draw: int
    alone: float
    tabpfn: float
    both: float | None  # None: not asked for
    weight: float | None  # of TabPFN among the members

    @property
    def better(self) -> float:
        return min(self.alone, self.tabpfn)


class Trials(ResultStore):
    tables = (
        """trials (
            set_name TEXT, n INTEGER, draw INTEGER, alone REAL, tabpfn REAL, both REAL, weight REAL,
            PRIMARY KEY (set_name, n, draw)
        )""",
    )


class How(NamedTuple):
    """What a job needs to know."""

    data: Path | None
    apart: bool
    test_rows: int


def try_one(job: Job, how: How) -> Trial | None:
    """None where the set is not here, or has too few rows."""
    try:
        rows = draw(raw_table(job.set_name, how.data), "regression", job.draw, SEED)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    if job.n > 0.8 * np.sum(~np.isnan(rows.y)):
        return None
    X, y = rows.X[: job.n], rows.y[: job.n]
    hidden, truth = hidden_rows(rows, job.n)
    members = ["built-in", ("TabPFN", TabPFNApart())]
    default, joined = (
        XNVRegressor(members=some, random_state=job.draw, n_threads=1, progress=False)
        for some in ("auto", members)
    )
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [default, TabPFNApart(random_state=job.draw), *([] if how.apart else [joined])]
        for model in models:
            model.fit(X, y, **({} if isinstance(model, TabPFNApart) else {"X_unlabeled": hidden}))
            off = model.predict(hidden[: how.test_rows]) - truth[: how.test_rows]
            errors.append(float(np.sqrt(np.mean(np.square(off)))))
    if how.apart:
        return Trial(*job, *errors, None, None)
    weight = sum(weight for name, weight in joined.members_ if name.startswith("TabPFN"))
    return Trial(*job, *errors, weight)


def tell(trials: list[Trial]) -> None:
    for n in sorted({trial.n for trial in trials}):
        some = [trial for trial in trials if trial.n == n]
        sets = sorted({trial.set_name for trial in some})
        print(f"\nn = {n}: {len(sets)} sets, {len({trial.draw for trial in some})} draws")
        print(
            f"{'':<24}{'default':>12}{'TabPFN v2':>12}{'both':>12}   both / better   weight of TabPFN"
        )
        ratios, to_default = [], []
        for name in sets:
            own = [trial[3:] for trial in some if trial.set_name == name]
            alone, tabpfn, both, weight = np.mean(np.array(own, dtype=float), axis=0)  # None: NaN
            ratios.append(both / min(alone, tabpfn))
            to_default.append((alone / tabpfn, both / alone, both / tabpfn))
            print(
                f"{name:<24}{alone:>12.4g}{tabpfn:>12.4g}{both:>12.4g}{ratios[-1]:>16.3f}{weight:>14.2f}"
            )
        apart, to_alone, to_tabpfn = (mean_of(column) for column in zip(*to_default, strict=True))
        mean = mean_of(ratios)
        if np.isfinite(mean):
            report("both against the better of the two of each set", mean, "at most 0.97", mean <= 0.97)
            print(f"both / default {to_alone:.3f}, both / TabPFN v2 {to_tabpfn:.3f}")
        report("the default against TabPFN v2", apart, "at most 0.93", apart <= 0.93)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--labels", default="100", help="numbers of labels, with commas between")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--apart", action="store_true", help="not as a member")
    parser.add_argument("--test-rows", type=int, default=MOST_TEST_ROWS, help="of each set, at most")
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Trials(options.output / "trials.sqlite") as store:
        if not options.report:
            run(store, options)
        trials = [Trial(*row) for row in store.rows("SELECT * FROM trials ORDER BY set_name, n, draw")]
    half = options.half
    tell([t for t in trials if half in (None, CONTEST_SETS_BY_NAME[t.set_name].half)])


def run(store: Trials, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT set_name, n, draw FROM trials")}
    jobs = [
        Job(one.name, int(n), number)
        for number in range(options.draws)
        for n in options.labels.split(",")
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if one.task == "regression"
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, trial in as_they_come(
            pool, try_one, todo, How(options.data, options.apart, options.test_rows), "draws"
        ):
            if trial:
                store.insert("trials", [trial])


if __name__ == "__main__":
    main()
