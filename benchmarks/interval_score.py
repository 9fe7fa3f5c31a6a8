"""Interval scores of 90% prediction intervals: the default against MAPIE and CatBoost's quantiles.

    python benchmarks/interval_score.py --data FOLDER --output FOLDER --draws 5
    python benchmarks/interval_score.py --data FOLDER --output FOLDER --methods default    ours alone
    python benchmarks/interval_score.py --output FOLDER --report --against OTHER      of two versions
    python benchmarks/interval_score.py --data FOLDER --output NEW --methods default --peers FOLDER

The interval score (Winkler) of a row is the width of its interval, plus 2/0.1 of the distance by which
the truth lies outside: only intervals that are narrow where they can be, and hold what they say, get
a low one. Sets are the contest's with a number to predict. In each draw every method is given the same
random labels and is judged by the same hidden rows. Of MAPIE's and of CatBoost's methods, the one with
the lowest score on a set stands for all of them, chosen in hindsight: the bar is the higher for it.
What is finished is kept in the output folder, and a run that is stopped goes on from there.
"""

import argparse
import os
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from honesty import SEED, hidden_rows, mean_of, raw_table
from interval_methods import CATBOOST, COVERAGE, DEFAULT, MAPIE, METHODS, Given
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import Draw, draw
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

MOST_HIDDEN = 3000
LABELS = (100,)
BAR = 2 / 3  # share of the sets on which the default has the lower score


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int
    method: str


class Score(NamedTuple):
    set_name: str
    n: int
    draw: int
    method: str
    score: float  # mean over hidden rows, in deviations of their truth
    coverage: float
    width: float  # mean, in the same unit
    seconds: float


class Scores(ResultStore):
    tables = (
        """scores (
            set_name TEXT, n INTEGER, draw INTEGER, method TEXT, score REAL, coverage REAL,
            width REAL, seconds REAL, PRIMARY KEY (set_name, n, draw, method)
        )""",
    )


# --- fits -------------------------------------------------------------------------------------------


@cache
def rows_of(set_name: str, number: int, data: Path | None) -> Draw:
    return draw(raw_table(set_name, data), "regression", number, SEED)


def score_once(job: Job, data: Path | None) -> Score | None:
    """None where the set has too few rows for n labels, or is not here."""
    try:
        rows = rows_of(job.set_name, job.draw, data)
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return None
    if job.n > 0.8 * np.sum(~np.isnan(rows.y)):
        return None
    X, truth = hidden_rows(rows, job.n)
    # Test rows come last among the hidden ones; which are asked must not depend on where a row was.
    asked = np.random.default_rng([SEED, job.draw]).permutation(len(X))[:MOST_HIDDEN]
    given = Given(rows.X[: job.n], rows.y[: job.n], X, X[asked], job.draw)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = METHODS[job.method](given).T
    seconds = time.perf_counter() - start
    return Score(*job, *judge(low, high, truth[asked]), seconds)


def judge(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Mean interval score, coverage and mean width; scores and widths in deviations of the truth."""
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    score = (high - low) + 2 / (1 - COVERAGE) * outside
    unit = truth.std()
    return float(score.mean() / unit), float(np.mean(outside == 0)), float((high - low).mean() / unit)


# --- bars -------------------------------------------------------------------------------------------


def tell(scores: list[Score], before: list[Score]) -> None:
    for n in sorted({score.n for score in scores}):
        means = means_by_set([score for score in scores if score.n == n])
        mine = means.get(DEFAULT, {})
        print(f"\nn = {n}: geometric mean of interval scores, coverage in brackets")
        for method, by_set in means.items():
            some = [score for score in scores if score.n == n and score.method == method]
            print(
                f"  {method:<38}{mean_of(by_set.values()):>8.3f}"
                f"  ({np.mean([score.coverage for score in some]):.1%}, least "
                f"{min(score.coverage for score in some):.1%}; {len(by_set)} sets, "
                f"{len({score.draw for score in some})} draws)"
            )
        for peer in (MAPIE, CATBOOST):
            compare(f"{peer}, best of a set", mine, best_of(means, peer))
        paired = pairs(scores, before, n)
        if paired is not None:
            compare("the older version", *paired)


def means_by_set(scores: list[Score]) -> dict[str, dict[str, float]]:
    """Geometric means over draws: method, then set."""
    found: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        found.setdefault(score.method, {}).setdefault(score.set_name, []).append(score.score)
    return {
        method: {name: mean_of(some) for name, some in sorted(found[method].items())}
        for method in METHODS
        if method in found
    }


def best_of(means: dict[str, dict[str, float]], peer: str) -> dict[str, float]:
    best: dict[str, float] = {}
    for method, by_set in means.items():
        if method.startswith(f"{peer}:"):
            best |= {name: min(score, best.get(name, score)) for name, score in by_set.items()}
    return best


def pairs(
    scores: list[Score], before: list[Score], n: int
) -> tuple[dict[str, float], dict[str, float]] | None:
    """Of both versions, the default's means of the draws that both have; None without any."""
    of_us, of_them = (
        {score[:3]: score for score in some if score.method == DEFAULT and score.n == n}
        for some in (scores, before)
    )
    both = of_us.keys() & of_them.keys()
    if not both:
        return None
    return tuple(means_by_set([some[key] for key in both])[DEFAULT] for some in (of_us, of_them))


def compare(whom: str, mine: dict[str, float], theirs: dict[str, float]) -> None:
    ratios = {name: mine[name] / theirs[name] for name in mine if name in theirs}
    if not ratios:
        return
    print(f"  against {whom}: geometric mean {mean_of(ratios.values()):.3f}")
    print("    " + ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()))
    lower = float(np.mean([ratio < 1 for ratio in ratios.values()]))
    report(f"  lower than {whom}, share of {len(ratios)} sets", lower, "at least 0.667", lower >= BAR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--labels", default="", help="numbers of labels; default: 100")
    parser.add_argument("--methods", choices=["all", "default", "peers"], default="all")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--against", type=Path, help="folder with the scores of another version")
    parser.add_argument("--peers", type=Path, help="folder with the peers' scores, if it is another")
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Scores(options.output / "scores.sqlite") as store:
        if not options.report:
            run(store, options)
        scores = all_scores(store, options.half)
    scores += [one for one in scores_in(options.peers, options.half) if one.method != DEFAULT]
    tell(scores, scores_in(options.against, options.half))


def scores_in(folder: Path | None, half: str | None) -> list[Score]:
    if folder is None:
        return []
    with Scores(folder / "scores.sqlite") as store:
        return all_scores(store, half)


def all_scores(store: Scores, half: str | None) -> list[Score]:
    scores = [Score(*row) for row in store.rows("SELECT * FROM scores ORDER BY set_name, n, draw")]
    return [one for one in scores if half in (None, CONTEST_SETS_BY_NAME[one.set_name].half)]


def run(store: Scores, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT set_name, n, draw, method FROM scores")}
    asked = [int(n) for n in options.labels.split(",") if n]
    jobs = [
        Job(one.name, n, number, method)
        for number in range(options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if one.task == "regression"
        for n in asked or LABELS
        for method in METHODS
        if options.methods == "all" or (method == DEFAULT) == (options.methods == "default")
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, score in as_they_come(pool, score_once, todo, options.data, "fits"):
            if score is not None:
                store.insert("scores", [score])


if __name__ == "__main__":
    main()
