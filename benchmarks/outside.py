"""Rows outside what the fit has seen: false alarms on real sets, unit errors found, and the cost.

    python benchmarks/outside.py --data FOLDER

Sets are the contest's, with their columns as the source has them. Each draw fits on a random half of a
set and looks at the other half as it is, and with one column at a time in another unit. What a fit
has seen does not depend on its labels, so the fits are of the first pass alone. The last part measures
`predict` at a million rows.
"""

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from twinviews import XNVRegressor
from twinviews._system.cache_folder import default_cache
from twinviews.estimators._outside import warn_if_outside
from twinviews.passes.input_profile import ColumnRanges, InputProfile
from twinviews.passes.outside_rows import OutsideCounts, look_at_numbers
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from workload import best_seconds, make_table, report

UNITS = {
    "x 10": lambda x: 10 * x,
    "x 100": lambda x: 100 * x,
    "x 1000": lambda x: 1000 * x,
    "/ 100": lambda x: x / 100,
    "Celsius as Fahrenheit": lambda x: 1.8 * x + 32,
    "Fahrenheit as Celsius": lambda x: (x - 32) / 1.8,
}
MOST_ROWS, MOST_COLUMNS = 10_000, 10


def numbers_of(features: object) -> np.ndarray:
    """Columns of numbers without blanks, as the source has them."""
    columns = features.T if isinstance(features, np.ndarray) else list(features.values())
    kept = []
    for column in columns:
        try:
            x = np.asarray(column, dtype=float)
        except (TypeError, ValueError):
            continue
        if np.isfinite(x).all():
            kept.append(x)
    return np.column_stack(kept)


def told(profile: InputProfile, counts: OutsideCounts, names: list[str]) -> list[int]:
    return counts.told_columns(profile, names)


def look_at_sets(data: Path | None, halves: int) -> None:
    calls = alarms = 0
    shares, found = [], {unit: [0, 0] for unit in UNITS}
    by_set: dict[str, list[int]] = {}
    for one in choose_contest_sets([], None):
        try:
            X = numbers_of(one.read(Files(data, default_cache(), online=False)).features)
        except UnobtainableError as problem:
            print(f"{one.name}: {problem}")
            continue
        names = [str(j) for j in range(X.shape[1])]
        by_set[one.name] = [0, 0]
        for draw in range(halves):
            rng = np.random.default_rng(draw)
            order = rng.permutation(len(X))[:MOST_ROWS]
            fitted, new = X[order[: len(order) // 2]], X[order[len(order) // 2 :]]
            profile = InputProfile(len(fitted), ColumnRanges.of(fitted), {})
            counts = look_at_numbers(profile, new).counts
            calls, alarms = calls + 1, alarms + bool(told(profile, counts, names))
            shares.append(counts.n_outside / counts.n_rows)
            if draw == 0:
                count_units(profile, new, names, found, by_set[one.name])
    print(f"{len(by_set)} sets, {calls:,} calls with rows like those of the fit")
    report(
        "share of calls that tell of a column", alarms / calls, "at most 0.001", alarms <= calls / 1000
    )
    report("share of rows outside in some column", mean := float(np.mean(shares)), "-", mean < 0.001)
    for unit, (right, tried) in found.items():
        report(f"columns told, {unit} ({tried})", right / tried, "-", True)
    print(
        "least told: "
        + ", ".join(f"{n} {r}/{t}" for n, (r, t) in sorted(by_set.items()) if r < 0.7 * t)
    )


def count_units(
    profile: InputProfile,
    new: np.ndarray,
    names: list[str],
    found: dict[str, list[int]],
    of_set: list[int],
) -> None:
    """Columns that vary and are not 0 and 1, one at a time in another unit."""
    ranges = profile.ranges
    able = (ranges.most > ranges.least) & ~(
        (ranges.least == 0) & (ranges.most == 1) & (ranges.whole == 1)
    )
    for column in np.flatnonzero(able)[:MOST_COLUMNS]:
        for unit, change in UNITS.items():
            changed = new.copy()
            changed[:, column] = change(new[:, column])
            right = column in told(profile, look_at_numbers(profile, changed).counts, names)
            found[unit][0] += right
            found[unit][1] += 1
            of_set[0] += right
            of_set[1] += 1


def measure_cost(n_rows: int) -> None:
    for what, whole in (("numbers", False), ("whole numbers", True)):
        X, y = make_table(n_rows)
        X = np.round(10 * X) if whole else X
        model = XNVRegressor(members=None, random_state=0, n_threads=1, progress=False).fit(X, y)
        warnings.simplefilter("ignore")
        seconds = best_seconds(
            {"predict": lambda: model.predict(X), "look": lambda: warn_if_outside(model, X)}, 3
        )
        ratio = seconds["look"] / (seconds["predict"] - seconds["look"])
        report(f"looking, against predict without it, {what}", ratio, "at most 0.1", ratio <= 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--halves", type=int, default=200, help="random halves of each set")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    look_at_sets(options.data, options.halves)
    measure_cost(options.rows)


if __name__ == "__main__":
    main()
