"""Do the intervals of `forecast_error` hold the truth? Sets of the contest, random labels, views alone.

    python benchmarks/forecast_coverage.py --data FOLDER

For 30, 60, 120 and 240 labels: how often the error on test rows lies in the 90% interval of the error
now, and how often the error with twice the labels lies in the interval of what was promised for them.
"""

import argparse
import os
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from twinviews import XNVClassifier, XNVRegressor, forecast_error
from twinviews._system.cache_folder import default_cache
from twinviews.evaluation.measures import error_rate
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.contest.one_round import Draw, draw
from twinviews_experiments.datasets.downloads import Files

LABELS = (30, 60, 120, 240)
MOST_ROWS = 4000


def error_of(model, rows: Draw) -> float:
    """In the unit of the forecast."""
    predicted = model.predict(rows.X_test)
    if isinstance(model, XNVClassifier):
        return error_rate(rows.y_test, predicted)
    return float(np.sqrt(np.mean(np.square(predicted - rows.y_test))))


def held(kind, rows: Draw, n: int) -> tuple[bool, bool]:
    """Whether the intervals of now and of twice the labels held the truth."""
    X = rows.X[:MOST_ROWS]
    y = np.where(np.arange(len(X)) < n, rows.y[: len(X)], np.nan)
    model = kind(committee=False, scale="standard", random_state=0, progress=False).fit(X, y)
    found = forecast_error(model, X[:n], rows.y[:n], [n])
    now = error_of(model, rows)
    later = error_of(model.relabel(X[: 2 * n], rows.y[: 2 * n]), rows)
    promised = found.promised[0]
    return found.now.lower <= now <= found.now.upper, promised.lower <= later <= promised.upper


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, help="folder with data files")
    arguments.add_argument("--half", choices=["development", "untouched"], default="untouched")
    arguments.add_argument("--repetitions", type=int, default=3)
    options = arguments.parse_args()
    outcomes = defaultdict(list)
    for one in choose_contest_sets([], options.half):
        raw = one.read(Files(options.data, default_cache(), online=False))
        kind = XNVRegressor if one.task == "regression" else XNVClassifier
        for repetition in range(options.repetitions):
            rows = draw(raw, one.task, repetition, seed=0)
            n_known = int(np.sum(~np.isnan(rows.y[:MOST_ROWS])))
            for n in LABELS:
                if 2 * n <= n_known:
                    outcomes[one.task, n].append(held(kind, rows, n))
    print(f"{options.half} half{'labels':>20}{'fits':>6}{'now':>8}{'twice the labels':>18}")
    for (task, n), pairs in sorted(outcomes.items()):
        now, later = np.mean(pairs, axis=0)
        print(f"{task:20}{n:12}{len(pairs):6}{now:8.0%}{later:18.0%}")


if __name__ == "__main__":
    main()
