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
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from twinviews import XNVRegressor
from twinviews._system.cache_folder import default_cache
from twinviews.estimators._outside import warn_if_outside
from twinviews.estimators._raw_rows import as_arrow
from twinviews.passes.input_profile import ColumnRanges, InputProfile, LevelsSeen
from twinviews.passes.outside_rows import FALSE_ALARMS, chance, look_at_numbers
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


class Halves:
    """A set's columns as the source has them: numbers without blanks, and words."""

    def __init__(self, features: dict[str, np.ndarray]) -> None:
        numbers, self.words = {}, {}
        for name, column in features.items():
            try:
                x = np.asarray(column, dtype=float)
            except (TypeError, ValueError):
                self.words[name] = np.asarray(column).astype(str)
                continue
            if np.isfinite(x).all():
                numbers[name] = x
        self.names = list(numbers)
        self.X = np.column_stack(list(numbers.values()))

    def alarms(self, fitted: np.ndarray, new: np.ndarray) -> tuple[bool, float]:
        """Whether a column is told, and the share of rows that are outside in some."""
        profile = InputProfile(len(fitted), ColumnRanges.of(self.X[fitted]), {})
        found = look_at_numbers(profile, self.X[new])
        alarm = bool(found.counts.told_columns(profile, self.names))
        rows = np.zeros(len(new), bool)
        for flags in found.flags.values():
            rows |= flags
        limit = FALSE_ALARMS / (5 * (len(self.names) + len(self.words)))
        for words in self.words.values():
            levels, count = np.unique(words[fitted], return_counts=True)
            seen = LevelsSeen.of(dict(zip(levels.tolist(), count.tolist(), strict=True)), complete=True)
            unseen = ~np.isin(words[new], levels)
            rows |= unseen
            alarm |= chance(int(unseen.sum()), len(new), len(fitted), seen.rare_rows) < limit
        return alarm, float(rows.mean())


def look_at_sets(data: Path | None, halves: int) -> None:
    calls = alarms = n_words = 0
    shares: dict[str, float] = {}
    found = {unit: [0, 0] for unit in UNITS}
    for one in choose_contest_sets([], None):
        try:
            columns = Halves(one.read(Files(data, default_cache(), online=False)).features)
        except UnobtainableError as problem:
            print(f"{one.name}: {problem}")
            continue
        n_words += len(columns.words)
        of_rows = []
        for draw in range(halves):
            order = np.random.default_rng(draw).permutation(len(columns.X))[:MOST_ROWS]
            fitted, new = np.split(order, [len(order) // 2])
            alarm, share = columns.alarms(fitted, new)
            calls, alarms = calls + 1, alarms + alarm
            of_rows.append(share)
            if draw == 0:
                profile = InputProfile(len(fitted), ColumnRanges.of(columns.X[fitted]), {})
                count_units(profile, columns.X[new], columns.names, found)
        shares[one.name] = float(np.mean(of_rows))
    print(f"{len(shares)} sets ({n_words} columns of words), {calls:,} calls with rows like the fit's")
    most, mean = max(shares, key=lambda name: shares[name]), float(np.mean(list(shares.values())))
    report("calls that tell of a column", float(alarms), "1 in 1,000", alarms <= calls / 1000)
    report("share of rows outside in some column, mean of sets", mean, "at most 0.001", mean <= 0.001)
    print(f"  the most on a set: {shares[most]:.2%} ({most})")
    for unit, (right, tried) in found.items():
        print(f"columns told if they come {unit}: {right:,} of {tried:,}, {right / tried:.1%}")


def count_units(
    profile: InputProfile,
    new: np.ndarray,
    names: list[str],
    found: dict[str, list[int]],
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
            counts = look_at_numbers(profile, changed).counts
            found[unit][0] += column in counts.told_columns(profile, names)
            found[unit][1] += 1


def cost(rows: Any, y: np.ndarray) -> float:
    """Seconds to look at rows, against those to predict them without a look."""
    model = XNVRegressor(members=None, random_state=0, n_threads=1, progress=False).fit(rows, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = rows if isinstance(rows, np.ndarray) else as_arrow(rows)
        seconds = best_seconds(
            {"predict": lambda: model.predict(rows), "look": lambda: warn_if_outside(model, raw)}, 3
        )
    return seconds["look"] / (seconds["predict"] - seconds["look"])


def measure_cost(n_rows: int) -> None:
    X, y = make_table(n_rows)
    frame = pd.DataFrame(X[:, :15], columns=[f"x{j}" for j in range(15)])
    for j in range(5):
        frame[f"word{j}"] = np.char.add("level ", np.round(3 * X[:, 15 + j]).astype(int).astype(str))
    for what, rows in (
        ("numbers", X),
        ("whole numbers", np.round(10 * X)),
        ("15 numbers, 5 words", frame),
    ):
        ratio = cost(rows, y)
        report(
            f"looking at {n_rows:,} rows, against predict without it; {what}",
            ratio,
            "at most 0.1",
            ratio <= 0.1,
        )


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
