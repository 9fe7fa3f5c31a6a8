"""Do intervals for all rows hold, and how narrow are they? Means, shares, medians and more.

    python benchmarks/estimates.py --data FOLDER --output FOLDER --draws 10
    python benchmarks/estimates.py --output FOLDER --report          what is there so far
    python benchmarks/estimates.py --data FOLDER --fits FOLDER --only-fits    keep fits for later
    python benchmarks/estimates.py --speed                           estimate against predict

Sets are the contest's. Up to 4,000 rows of a set are the table; in each draw n of them, chosen at
random, keep their labels, and what is true of all rows is known here. Every question is asked of one
fit. With --peer, ppi-python estimates the same means from predictions of CatBoost, cross-fitted on five
folds. What is finished is kept in the output folder, and a run that is stopped goes on from there.
Fits do not depend on how estimates are made: those of --fits are kept and used again.
"""

import argparse
import os
import sys
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from kept_fits import kept
from twinviews import XNVClassifier, XNVRegressor, estimate
from twinviews._system.cache_folder import default_cache
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import MemberContext, MemberSpec
from twinviews.extend import register_member
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.preparation import prepare
from twinviews_experiments.datasets.public_sources import RawTable
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import best_seconds, make_table, report

LABELS = (30, 50, 100, 200, 500)
MOST_ROWS = 4000
SEED = 19
# Labels of a class that a fit needs at the least, on average.
LEAST_OF_A_CLASS = 5
LEAST_OF_A_GROUP = 10


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int
    design: str = "random"  # or "tilted": labels are five times as likely at one end of a column
    members: str = "auto"  # or "quick": some members only


class How(NamedTuple):
    """What a job needs to know."""

    data: Path | None
    fits: Path | None
    peer: bool
    only_fits: bool
    no_new_fits: bool = False


class Found(NamedTuple):
    """One interval, and that of the labels alone."""

    set_name: str
    n: int
    draw: int
    design: str
    members: str
    what: str
    number: int  # of several groups, classes or columns
    inside: bool
    width: float
    alone_inside: bool
    alone_width: float
    peer_inside: bool | None = None
    peer_width: float | None = None


class Intervals(ResultStore):
    tables = (
        """intervals (
            set_name TEXT, n INTEGER, draw INTEGER, design TEXT, members TEXT, what TEXT,
            number INTEGER, inside INTEGER, width REAL, alone_inside INTEGER, alone_width REAL,
            peer_inside INTEGER, peer_width REAL,
            PRIMARY KEY (set_name, n, draw, design, members, what, number)
        )""",
    )


class Rows(NamedTuple):
    frame: pd.DataFrame  # inputs, and columns of two and of five groups
    inputs: list[str]
    y: np.ndarray


def quick_members(context: MemberContext) -> list[MemberSpec]:
    """Fits of a quarter of a second, for many draws."""
    return [MemberSpec(name, LinearRidge()) for name in context.scales]


register_member("quick", quick_members)


@cache
def all_rows(set_name: str, data: Path | None) -> Rows:
    """The table: its rows are the same in every draw."""
    raw = CONTEST_SETS_BY_NAME[set_name].read(Files(data, default_cache(), online=False))
    known = np.random.default_rng(SEED).permutation(np.flatnonzero(~np.isnan(raw.y)))[:MOST_ROWS]
    features = {name: column[known] for name, column in raw.features.items()}
    is_test = np.arange(len(known)) >= len(known) - 1
    X, y, *_ = prepare(RawTable(features, raw.y[known], is_test), len(known) - 1, seed=0)
    inputs = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=inputs)
    frame["half"] = quantile_groups(X[:, 0], 2)
    frame["fifth"] = quantile_groups(X[:, min(1, X.shape[1] - 1)], 5)
    return Rows(frame, inputs, y)


def quantile_groups(values: np.ndarray, k: int) -> list[str]:
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return [f"g{group}" for group in rank * k // len(values)]


def drawn_labels(job: Job, rows: Rows) -> pd.DataFrame:
    """The table with n labels, or about n, and the probability of each."""
    N, rng = len(rows.y), np.random.default_rng([SEED, job.draw, job.n])
    if job.design == "random":
        chosen, probability = rng.choice(N, job.n, replace=False), np.full(N, job.n / N)
    else:
        rank = np.argsort(np.argsort(rows.frame[rng.choice(rows.inputs)].to_numpy(), kind="stable"))
        tilt = 1 + 4 * rank / N
        probability = np.minimum(job.n * tilt / tilt.sum(), 1.0)
        chosen = np.flatnonzero(rng.uniform(size=N) < probability)
    y = np.full(N, np.nan)
    y[chosen] = rows.y[chosen]
    return rows.frame.assign(y=y, p=probability)


def one_fit(job: Job, how: How) -> list[Found] | None:
    """None where the set is not here, or has too few rows or classes for n labels."""
    try:
        rows = all_rows(job.set_name, how.data)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    if job.n > 0.5 * len(rows.y):
        return None
    if how.no_new_fits and not fit_file(job, how.fits).exists():
        return None
    frame = drawn_labels(job, rows)
    is_number = CONTEST_SETS_BY_NAME[job.set_name].task == "regression"
    classes = np.unique(frame["y"].dropna())
    if not is_number and (len(classes) < 2 or job.n < LEAST_OF_A_CLASS * len(classes)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = the_fit(job, rows, frame, how.fits)
        if how.only_fits:
            return None
        ask = {"model": model, "rows": frame, "target": "y"}
        ask |= {"assume_random": True} if job.design == "random" else {"label_probability": "p"}
        if not is_number:
            return of_classes(job, ask, rows)
        found = of_numbers(job, ask, rows)
        return [with_peer(found[0], rows, frame), *found[1:]] if how.peer else found


def the_fit(job: Job, rows: Rows, frame: pd.DataFrame, fits: Path | None) -> Any:
    Estimator = (
        XNVRegressor if CONTEST_SETS_BY_NAME[job.set_name].task == "regression" else XNVClassifier
    )
    options = {} if job.design == "random" else {"label_probability": "p"}

    def fit() -> Any:
        members = "auto" if job.members == "auto" else [job.members]
        model = Estimator(random_state=job.draw, n_threads=1, progress=False, members=members)
        return model.fit_table(frame, target="y", columns=rows.inputs, **options)

    return kept(None if fits is None else fit_file(job, fits), fit, frame[rows.inputs])


def fit_file(job: Job, fits: Path) -> Path:
    return fits / f"{job.design}-{job.members}" / f"{job.set_name}-{job.n}-{job.draw}"


def of_numbers(job: Job, ask: dict[str, Any], rows: Rows) -> list[Found]:
    high = float(np.quantile(rows.y, 0.75))
    frame = ask["rows"]
    columns = [name for name in rows.inputs if frame[name].nunique() > 2][:2]
    Z = np.column_stack([np.ones(len(rows.y)), frame[columns]])
    truths = np.linalg.lstsq(Z, rows.y, rcond=None)[0]
    found = [
        *judged(job, "mean", estimate(**ask), [rows.y.mean()]),
        *judged(job, "share", estimate(**ask, above=high), [np.mean(rows.y > high)]),
        *judged(
            job,
            "median",
            estimate(**ask, what="quantile"),
            [np.quantile(rows.y, 0.5, method="inverted_cdf")],
        ),
        *by_group(job, ask, rows.y),
    ]
    try:
        told = estimate(**ask, what="coefficients", columns=columns)
    except ValueError:  # some column does not vary among the labels
        return found
    return found + judged(job, "coefficient", list(told)[1:], truths[1:])


def of_classes(job: Job, ask: dict[str, Any], rows: Rows) -> list[Found]:
    classes = ask["model"].classes_
    shares = [np.mean(rows.y == one) for one in classes[:3]]
    return [
        *judged(job, "share", list(estimate(**ask))[:3], shares),
        *by_group(job, ask, (rows.y == classes[0]).astype(float)),
    ]


def by_group(job: Job, ask: dict[str, Any], values: np.ndarray) -> list[Found]:
    """Of the first class, or of numbers."""
    frame = ask["rows"]
    truth = pd.Series(values).groupby(frame["half"].to_numpy()).mean()
    told = [row for row in estimate(**ask, by="half", versus="g0") if not row.is_shrunk][:1]
    found = judged(job, "difference", told, [truth["g1"] - truth["g0"]])
    fifths = pd.Series(values).groupby(frame["fifth"].to_numpy()).mean()
    for row in list(estimate(**ask, by="fifth"))[:5]:
        group = row.group["fifth"]
        what = "group" if row.n_labels >= LEAST_OF_A_GROUP else "small group"
        found += [
            one._replace(number=int(group[1:])) for one in judged(job, what, [row], [fifths[group]])
        ]
    return found


def judged(job: Job, what: str, told: list, truths: list) -> list[Found]:
    return [
        Found(
            *job,
            what,
            number,
            bool(row.low <= truth <= row.high),
            row.high - row.low,
            bool(row.labels_alone_low <= truth <= row.labels_alone_high),
            row.labels_alone_high - row.labels_alone_low,
        )
        for number, (row, truth) in enumerate(zip(told, truths, strict=False))
    ]


def with_peer(mean: Found, rows: Rows, frame: pd.DataFrame) -> Found:
    """The mean by ppi-python, from CatBoost's predictions of five folds."""
    from catboost import CatBoostRegressor
    from ppi_py import ppi_mean_ci

    X, chosen = rows.frame[rows.inputs].to_numpy(), np.flatnonzero(frame["y"].notna())
    others = np.setdiff1d(np.arange(len(X)), chosen)
    fold_of = np.arange(len(chosen)) % 5
    own, of_others = np.empty(len(chosen)), np.zeros(len(others))
    for fold in range(5):
        learned = chosen[fold_of != fold]
        model = CatBoostRegressor(verbose=0, random_seed=0, thread_count=1, allow_writing_files=False)
        model.fit(X[learned], rows.y[learned])
        own[fold_of == fold] = model.predict(X[chosen[fold_of == fold]])
        of_others += model.predict(X[others]) / 5
    low, high = (
        float(np.squeeze(end)) for end in ppi_mean_ci(rows.y[chosen], own, of_others, alpha=0.05)
    )
    return mean._replace(peer_inside=bool(low <= rows.y.mean() <= high), peer_width=high - low)


# --- bars ------------------------------------------------------------------------------------------


def tell(found: list[Found]) -> None:
    for n in sorted({one.n for one in found}):
        some = [one for one in found if one.n == n]
        sets, draws = {one.set_name for one in some}, {one.draw for one in some}
        fits = {one[:5] for one in some}
        print(f"\nn = {n}: {len(fits)} fits, {len(sets)} sets, {len(draws)} draws")
        for what in dict.fromkeys(one.what for one in some):
            tell_of(what, [one for one in some if one.what == what], n)
    peers = [one for one in found if one.peer_width]
    if peers:
        ratio = mean_of([one.width / one.peer_width for one in peers if one.n == 200])
        inside = float(np.mean([one.peer_inside for one in peers]))
        print(f"\nppi-python from CatBoost's predictions: {len(peers)} means, coverage {inside:.3f}")
        report("  width against it, n = 200", ratio, "at most 0.9", ratio <= 0.9)


def tell_of(what: str, some: list[Found], n: int) -> None:
    inside, alone = (
        float(np.mean([getattr(one, field) for one in some])) for field in ("inside", "alone_inside")
    )
    least = 0.90 if n == 30 else 0.93
    report(
        f"  {what}: coverage of 95% intervals ({len(some)}; labels alone {alone:.3f})",
        inside,
        f"{least:.2f} to 0.97",
        least <= inside <= 0.97,
    )
    widths = defaultdict(list)
    for one in some:
        both = np.array([one.width, one.alone_width], dtype=float)  # None: not known
        if np.isfinite(both).all() and both.min() > 0:
            widths[one.set_name].append(one.width / one.alone_width)
    ratios = {name: mean_of(of_set) for name, of_set in widths.items()}
    if ratios:
        ratio, worst = mean_of(list(ratios.values())), max(ratios, key=lambda name: ratios[name])
        report(f"  {what}: width against labels alone", ratio, "at most 0.75", ratio <= 0.75)
        report(
            f"  {what}: the widest set, {worst}", ratios[worst], "at most 1.03", ratios[worst] <= 1.03
        )


def mean_of(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")


def speed(n_rows: int) -> None:
    """Estimate against predict, after the fit; labels are at random places."""
    X, y = make_table(n_rows)
    order = np.random.default_rng(0).permutation(n_rows)
    X, y = X[order], y[order]
    model = XNVRegressor(random_state=0, progress=False).fit(X, y)
    seconds = best_seconds(
        {"predict": lambda: model.predict(X), "estimate": lambda: estimate(model, X, y=y)}, 2
    )
    ratio = seconds["estimate"] / seconds["predict"]
    report(f"estimate against predict, {n_rows:,} rows and 500 labels", ratio, "at most 2", ratio <= 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--task", choices=["regression", "classification"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--labels", default="", help="numbers of labels; default: those of the bars")
    parser.add_argument("--design", choices=["random", "tilted"], default="random")
    parser.add_argument("--members", choices=["auto", "quick"], default="auto")
    parser.add_argument("--fits", type=Path, help="folder of fits, which are used again")
    parser.add_argument("--only-fits", action="store_true", help="keep fits and ask nothing")
    parser.add_argument("--no-new-fits", action="store_true", help="those of --fits and no others")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--peer", action="store_true", help="ppi-python and CatBoost beside the means")
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    parser.add_argument(
        "--speed", action="store_true", help="estimate against predict, and nothing else"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="of --speed")
    options = parser.parse_args()
    if options.speed:
        speed(options.rows)
        return
    if options.only_fits and options.fits:
        keep_fits(options)
        return
    if options.output is None:
        parser.error("name a folder: --output FOLDER")
    with Intervals(options.output / "intervals.sqlite") as store:
        if not options.report:
            run(store, options)
        rows = store.rows("SELECT * FROM intervals ORDER BY set_name, n, draw, what, number")
    tell([Found(*row) for row in rows])


def jobs_of(options: argparse.Namespace) -> list[Job]:
    asked = [int(n) for n in options.labels.split(",") if n] or LABELS
    return [
        Job(one.name, n, number, options.design, options.members)
        for number in range(options.first, options.first + options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], None)
        if options.task in (None, one.task)
        for n in asked
    ]


def keep_fits(options: argparse.Namespace) -> None:
    """One after the other in this process."""
    how = How(options.data, options.fits, False, True)
    for job in jobs_of(options):
        one_fit(job, how)


def run(store: Intervals, options: argparse.Namespace) -> None:
    asked = "SELECT DISTINCT set_name, n, draw, design, members FROM intervals"
    done = {Job(*row) for row in store.rows(asked)}
    todo = [job for job in jobs_of(options) if job not in done]
    how = How(options.data, options.fits, options.peer, False, options.no_new_fits)
    with workers(options.jobs) as pool:
        for _, found in as_they_come(pool, one_fit, todo, how, "fits"):
            if found:
                store.insert("intervals", found)


if __name__ == "__main__":
    main()
