"""Labels that are no random sample: coverage of 90% intervals and told errors, corrected and not.

    python benchmarks/shift_correction.py --data FOLDER --output FOLDER --draws 2
    python benchmarks/shift_correction.py --output FOLDER --report          what is there so far

Sets are the contest's of numbers. 200 rows have a label (of small sets a quarter of the rows); the
chance of one grows by e^s per deviation along a column, with the levels of a column that is cut into
four, or with the cluster of a row, as in ``shift.py``. The default is fitted once. Beside what it says
stands what it would say if its labels counted as random ones. A row without an interval (its ends are
infinite: no label is like it) has no support. What is finished is kept in the output folder. A draw of
all sets takes 15 minutes of one core: it is not in `make bench`.
"""

import argparse
import os
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from shift import STRENGTHS, Job, labeled_rows, rows_of
from twinviews import XNVRegressor
from twinviews.shift.covariate_shift import ALARM
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, workers
from workload import report

KINDS = ("column", "levels", "clusters")
LOST_COVERAGE = 0.05


class Fit(NamedTuple):
    """One fit of the default; ``plain`` is as if its labels were random ones."""

    set_name: str
    kind: str
    strength: float
    draw: int
    p_value: float
    support: float  # share of the rows with an interval
    coverage: float  # of these
    plain_coverage: float  # of the same rows
    width: float  # median, against the plain ones
    told: float
    plain_told: float
    low: float
    high: float
    true: float  # error over the rows with support
    true_of_all: float


class Fits(ResultStore):
    tables = (
        """fits (
            set_name TEXT, kind TEXT, strength REAL, draw INTEGER, p_value REAL, support REAL,
            coverage REAL, plain_coverage REAL, width REAL, told REAL, plain_told REAL, low REAL,
            high REAL, true REAL, true_of_all REAL, PRIMARY KEY (set_name, kind, strength, draw)
        )""",
    )


def fit_once(job: Job, data: Path | None) -> Fit | None:
    found = rows_of(job.set_name, data)
    if found is None:
        return None
    X, y = (part[~np.isnan(found[1])] for part in found)
    labeled = np.zeros(len(X), dtype=bool)
    labeled[labeled_rows(X, job)] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = XNVRegressor(random_state=job.draw, n_threads=1, progress=False)
        model.fit(X, np.where(labeled, y, np.nan))
        plain = uncorrected(model)
        X, truth = X[~labeled], y[~labeled]
        low, high = model.predict_interval(X, coverage=0.9).T
        plain_low, plain_high = plain.predict_interval(X, coverage=0.9).T
        squared = np.square(model.predict(X) - truth)
    has = np.isfinite(high - low)
    inside = ((low <= truth) & (truth <= high))[has]
    plain_inside = ((plain_low <= truth) & (truth <= plain_high))[has]
    return Fit(
        *job,
        p_value=model.shift_.p_value,
        support=float(has.mean()),
        coverage=float(inside.mean()),
        plain_coverage=float(plain_inside.mean()),
        width=float(np.median((high - low)[has]) / np.median((plain_high - plain_low)[has])),
        told=float(model.cv_error_),
        plain_told=float(plain.cv_error_),
        low=float(model.cv_error_interval_[0]),
        high=float(model.cv_error_interval_[1]),
        true=float(np.sqrt(squared[has].mean())),
        true_of_all=float(np.sqrt(squared.mean())),
    )


def uncorrected(model: Any) -> Any:
    """The same fit, whose labels count as a random sample."""
    plain = copy(model)
    plain._importance = None
    problems = tuple(one._replace(importance=None) for one in model._solution.problems)
    plain._solution = replace(model._solution, problems=problems)
    plain._judge_ensembles()
    return plain


# --- bars ------------------------------------------------------------------------------------------


def tell(fits: list[Fit]) -> None:
    for kind in KINDS:
        for strength in STRENGTHS:
            some = [fit for fit in fits if (fit.kind, fit.strength) == (kind, strength)]
            if some:
                tell_shift(f"{kind}, e^{strength}", some)
    harmed = [fit.p_value <= ALARM for fit in fits if fit.plain_coverage <= 0.9 - LOST_COVERAGE]
    if harmed:
        power = float(np.mean(harmed))
        what = f"shift told, of {len(harmed)} fits that would lose 5 points of coverage"
        report(what, power, "at least 0.9", power >= 0.9)


def tell_shift(what: str, fits: list[Fit]) -> None:
    names = sorted({fit.set_name for fit in fits})
    by_set = {name: np.mean([fit.coverage for fit in fits if fit.set_name == name]) for name in names}
    mean, worst = float(np.mean(list(by_set.values()))), min(by_set, key=lambda name: by_set[name])
    plain, support, width = np.mean([(f.plain_coverage, f.support, f.width) for f in fits], axis=0)
    print(f"{what}: {len(fits)} fits, {len(names)} sets; without correction {plain:.3f}")
    print(f"  rows with support {support:.1%}, intervals {width:.2f} times as wide")
    report("  coverage, mean over sets", mean, "0.87 to 0.94", 0.87 <= mean <= 0.94)
    least = float(by_set[worst])
    report(f"  lowest set ({worst})", least, "at least 0.82", least >= 0.82)
    ratio = mean_of([fit.told / fit.true for fit in fits])
    of_all = mean_of([fit.told / fit.true_of_all for fit in fits])
    plain_ratio = mean_of([fit.plain_told / fit.true_of_all for fit in fits])
    print(f"  told / true error over all rows {of_all:.3f}, without correction {plain_ratio:.3f}")
    report("  told / true error, rows with support", ratio, "0.85 to 1.2", 0.85 <= ratio <= 1.2)
    holds = np.mean([fit.low <= fit.true <= fit.high for fit in fits])
    print(f"  90% interval of the error holds it in {holds:.0%}")


def mean_of(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the number of the first draw")
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="no more runs: what is there")
    options = parser.parse_args()
    with Fits(options.output / "fits.sqlite") as store:
        if not options.report:
            run(store, options)
        tell([Fit(*row) for row in store.rows("SELECT * FROM fits")])


def run(store: Fits, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT set_name, kind, strength, draw FROM fits")}
    sets = choose_contest_sets([name for name in options.sets.split(",") if name], options.half)
    jobs = [
        Job(one.name, kind, strength, number)
        for number in range(options.first, options.first + options.draws)
        for strength in reversed(STRENGTHS)
        for kind in KINDS
        for one in sets
        if one.task == "regression"
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, fit in as_they_come(pool, fit_once, todo, options.data, "fits"):
            if fit is not None:
                store.insert("fits", [fit])


if __name__ == "__main__":
    main()
