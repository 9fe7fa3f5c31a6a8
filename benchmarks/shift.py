"""Are labels like all rows? False alarms of the test in every fit, its power, and what shifts cost.

    python benchmarks/shift.py --data FOLDER --output FOLDER --draws 20
    python benchmarks/shift.py --output FOLDER --report            what is there so far

Sets are the contest's. In each draw 200 rows have a label (of small sets a quarter of the rows) and
their labels are not needed: the test looks at rows. Under a shift, the chance of a label grows by e^s
per deviation along one column, along the first principal direction, with the levels of a column that is
cut into four, or with the cluster of a row. For false alarms labels are drawn at random, also from
tables whose columns are cut into few levels, so that many rows are equal. What such shifts cost, and
what correction brings, ``shift_correction.py`` measures. What is finished is kept in the output folder.
Twenty draws of all sets take 15 minutes of one core: it is not in `make bench`.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.cluster.vq import kmeans2

from twinviews._system.cache_folder import default_cache
from twinviews.estimators._compared_labels import COMPARED_ROWS
from twinviews.method.landmarks import RowSample, row_priorities
from twinviews.shift.compared_rows import compared_rows
from twinviews.shift.covariate_shift import ALARM
from twinviews.shift.two_sample_test import compare_samples
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, workers
from workload import report

SEED = 7
LABELS = 200
STRENGTHS = (0.5, 1.0, 1.5)
SHIFTS = ("column", "direction", "levels", "clusters")
# Tables without a shift: as they are, or some columns cut at quantiles into so many levels.
TABLES = {"as it is": None, "243 rows": (5, 3), "thousands of rows": (8, 4)}
CLUSTERS = 8


class Job(NamedTuple):
    set_name: str
    kind: str  # one of TABLES or of SHIFTS
    strength: float  # 0 for TABLES
    draw: int


class Trial(NamedTuple):
    set_name: str
    kind: str
    strength: float
    draw: int
    p_value: float
    seconds: float


class Trials(ResultStore):
    tables = (
        """trials (
            set_name TEXT, kind TEXT, strength REAL, draw INTEGER, p_value REAL, seconds REAL,
            PRIMARY KEY (set_name, kind, strength, draw)
        )""",
    )


@cache
def rows_of(set_name: str, data: Path | None) -> tuple[np.ndarray, np.ndarray] | None:
    """All rows of a set and their targets; None if it is not here."""
    one = CONTEST_SETS_BY_NAME[set_name]
    try:
        rows = draw(one.read(Files(data, default_cache(), online=False)), one.task, 0, SEED)
    except UnobtainableError as problem:
        print(f"{set_name}: {problem}", file=sys.stderr)
        return None
    return np.vstack([rows.X, rows.X_test]), np.concatenate([rows.y, rows.y_test])


def cut(X: np.ndarray, n_columns: int, n_levels: int) -> np.ndarray:
    """The first columns, cut at quantiles."""
    levels = np.arange(1, n_levels) / n_levels
    columns = [np.searchsorted(np.quantile(x, levels), x) for x in X[:, :n_columns].T]
    return np.column_stack(columns).astype(float)


def tilt(X: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """(rows,) with mean 0 and variance 1: what the chance of a label grows with."""
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    if kind == "column":
        along = Z[:, rng.integers(Z.shape[1])]
    elif kind == "direction":
        some = Z[rng.permutation(len(Z))[:2000]]
        along = Z @ np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][0]
    elif kind == "levels":
        levels = cut(Z, Z.shape[1], 4)
        several = np.flatnonzero(np.ptp(levels, axis=0))
        along = rng.normal(size=4)[levels[:, rng.choice(several)].astype(int)]
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cluster may be empty
            cluster = kmeans2(Z, CLUSTERS, minit="++", seed=int(rng.integers(2**31)))[1]
        along = rng.normal(size=CLUSTERS)[cluster]
    return (along - along.mean()) / max(along.std(), 1e-12)


def labeled_rows(X: np.ndarray, job: Job) -> np.ndarray:
    """Which rows have a label."""
    rng = np.random.default_rng([SEED, job.draw, int(10 * job.strength), len(job.kind)])
    n = min(LABELS, len(X) // 4)
    if job.strength == 0:
        return rng.permutation(len(X))[:n]
    chance = np.exp(np.clip(job.strength * tilt(X, job.kind, rng), -8, 8))
    return rng.choice(len(X), n, replace=False, p=chance / chance.sum())


def test_once(job: Job, data: Path | None) -> Trial | None:
    found = rows_of(job.set_name, data)
    if found is None:
        return None
    X, _ = found
    if TABLES.get(job.kind) is not None:
        X = cut(X, *TABLES[job.kind])
    labeled = labeled_rows(X, job)
    sample = RowSample.of(X, row_priorities(X, job.draw), COMPARED_ROWS)
    start = time.perf_counter()
    rows = compared_rows(sample, X[labeled], len(X), job.draw)
    if rows is None:
        return None
    p_value = compare_samples(rows.X, rows.is_labeled, inflation=rows.inflation).p_value
    return Trial(*job, p_value, time.perf_counter() - start)


# --- bars ------------------------------------------------------------------------------------------


def tell(trials: list[Trial]) -> None:
    for kind in TABLES:
        some = [one for one in trials if one.kind == kind]
        tell_false_alarms(kind, some)
    for kind in SHIFTS:
        for strength in STRENGTHS:
            some = [one for one in trials if one.kind == kind and one.strength == strength]
            if some:
                found, worst = shares(some)
                print(f"power, {kind}, e^{strength}: {found:.3f} ({len(some)}); lowest of {worst}")
    if trials:
        print(f"seconds of a test, median: {np.median([one.seconds for one in trials]):.3f}")


def shares(trials: list[Trial]) -> tuple[float, str]:
    """Share of alarms, and the set with the fewest."""
    by_set: dict[str, list[bool]] = {}
    for one in trials:
        by_set.setdefault(one.set_name, []).append(one.p_value <= ALARM)
    worst = min(by_set, key=lambda name: np.mean(by_set[name]))
    found = float(np.mean([one.p_value <= ALARM for one in trials]))
    return found, f"{worst}, {np.mean(by_set[worst]):.2f}"


def tell_false_alarms(kind: str, trials: list[Trial]) -> None:
    if not trials:
        return
    found, _ = shares(trials)
    twentieth = np.mean([one.p_value <= 0.05 for one in trials])
    print(f"{kind}: {len(trials)} draws of {len({one.set_name for one in trials})} sets")
    report(f"  false alarms, p <= {ALARM}, share of draws", found, "at most 0.01", found <= 0.01)
    report("  p <= 0.05, share of draws", float(twentieth), "at most 0.06", twentieth <= 0.06)


# --- runs ------------------------------------------------------------------------------------------


def jobs_of(names: Iterable[str], draws: int) -> list[Job]:
    kinds = [(kind, 0.0) for kind in TABLES]
    kinds += [(kind, strength) for kind in SHIFTS for strength in STRENGTHS]
    return [Job(name, *kind, number) for number in range(draws) for name in names for kind in kinds]


def run(store: Trials, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT set_name, kind, strength, draw FROM trials")}
    sets = choose_contest_sets([name for name in options.sets.split(",") if name], options.half)
    todo = [job for job in jobs_of([one.name for one in sets], options.draws) if job not in done]
    todo = [job for job in todo if options.kinds == "" or job.kind in options.kinds.split(",")]
    with workers(options.jobs) as pool:
        for _, found in as_they_come(pool, test_once, todo, options.data, "trials"):
            if found is not None:
                store.insert("trials", [found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=20, help="of each set, table, shift and strength")
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--kinds", default="", help="of tables and shifts, with commas between")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="no more runs: what is there")
    options = parser.parse_args()
    with Trials(options.output / "trials.sqlite") as store:
        if not options.report:
            run(store, options)
        tell([Trial(*row) for row in store.rows("SELECT * FROM trials")])


if __name__ == "__main__":
    main()
