"""Does the default hold, on the untouched sets, what was asked of it?

    python benchmarks/contest.py                     the contest in docs/contest
    python benchmarks/contest.py --means means.csv   another one

Reads what `twinviews compare --half untouched` wrote; see its standings for all tables. The contest
stores squared errors of numbers over the variance of the target, and the first bars are on these. Bars
on root mean squared errors take the root of that: in a ratio of two the variance drops out. The speed
of the default fit is measured by fit_speed.py.
"""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from workload import report

MEANS = Path(__file__).parent.parent / "docs" / "contest" / "means.csv"
LABELS = (100, 200, 500)
OURS, BASELINE = "XNV", "KRR"
CLASS_PEERS = (
    "CatBoost",
    "LightGBM",
    "random forest",
    "logistic regression",
    "SVM",
    "label spreading",
)
# One in as many test rows as a draw has at most: no ratio is of a smaller error rate.
LEAST_RATE = 1 / 2000


class Cell(NamedTuple):
    """A set with a number of labels."""

    set_name: str
    n: int


Errors = dict[Cell, dict[str, float]]  # of each method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--means", type=Path, default=MEANS, help="means.csv of a contest")
    parser.add_argument("--per-set", action="store_true", help="ratios to each method, set by set")
    options = parser.parse_args()
    with options.means.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["half"] == "untouched"]
    rows = [row for row in rows if int(row["n"]) in LABELS]
    draws = sorted({int(row["draws"]) for row in rows})
    print(f"{len({row['set'] for row in rows})} untouched sets, draws: {draws}")
    first_bars(rows)
    numbers, classes = (errors_of(rows, task) for task in ("regression", "classification"))
    if numbers:
        print("\nnumbers: ratios of root mean squared errors, geometric means")
        number_bars(numbers)
    if classes:
        print("\nclasses: ratios of error rates, geometric means")
        class_bars(classes)
    if options.per_set:
        for title, errors in (("numbers", numbers), ("classes", classes)):
            if errors:
                tell_sets(title, errors)


def errors_of(rows: list[dict[str, str]], task: str) -> Errors:
    """Root mean squared errors in deviations of the target, or error rates."""
    found: Errors = {}
    for row in rows:
        if row["task"] == task:
            error = float(row["error"])
            known = found.setdefault(Cell(row["set"], int(row["n"])), {})
            known[row["method"]] = np.sqrt(error) if task == "regression" else max(error, LEAST_RATE)
    return {cell: known for cell, known in found.items() if OURS in known and len(known) > 1}


def number_bars(errors: Errors) -> None:
    tell_bar("the best peer of each set in hindsight", best_ratios(errors), 0.97)
    tell_bar("TabPFN v2", ratios_to(errors, "TabPFN v2"), 0.93)
    tell_bar("CatBoost", ratios_to(errors, "CatBoost"), 0.70)


def class_bars(errors: Errors) -> None:
    some = (OURS, *CLASS_PEERS)
    among = {
        cell: {method: error for method, error in known.items() if method in some}
        for cell, known in errors.items()
    }
    missing = [method for method in CLASS_PEERS if not ratios_to(among, method)]
    if missing:
        print(f"  not among the methods: {', '.join(missing)}")
    tell_bar("the best of six peers of each set in hindsight", best_ratios(among), 0.96)
    tell_rank(among)


def best_ratios(errors: Errors) -> dict[Cell, float]:
    """Error of the default over the least error of any other method."""
    return {
        cell: known[OURS] / min(error for method, error in known.items() if method != OURS)
        for cell, known in errors.items()
        if len(known) > 1
    }


def ratios_to(errors: Errors, method: str) -> dict[Cell, float]:
    return {cell: known[OURS] / known[method] for cell, known in errors.items() if method in known}


def tell_bar(peer: str, ratios: dict[Cell, float], bar: float) -> None:
    if not ratios:
        print(f"  {peer}: not measured, as it is not among the methods")
        return
    mean = geometric_mean(ratios.values())
    parts = []
    for n in LABELS:
        some = [ratio for cell, ratio in ratios.items() if cell.n == n]
        if some:
            parts.append(f"n = {n} {geometric_mean(some):.3f} ({len(some)} sets)")
    report(f"against {peer}", mean, f"at most {bar}", mean <= bar)
    print(f"    {', '.join(parts)}")


def tell_rank(errors: Errors) -> None:
    """Mean rank among the methods of each cell."""
    ranks: dict[str, list[float]] = {}
    for known in errors.values():
        for method, rank in zip(known, rankdata(list(known.values())), strict=True):
            ranks.setdefault(method, []).append(float(rank))
    means = {method: float(np.mean(some)) for method, some in ranks.items()}
    second = min((method for method in means if method != OURS), key=lambda method: means[method])
    what = f"mean rank (next: {second}, {means[second]:.2f})"
    report(what, means[OURS], "first", means[OURS] < means[second])


def tell_sets(title: str, errors: Errors) -> None:
    """Geometric mean over n of the ratio to each method, a line for each set."""
    methods = sorted({method for known in errors.values() for method in known} - {OURS})
    print(f"\n{title}: error of {OURS} over that of")
    print(f"{'':<24}best" + "".join(f"{method[:10]:>12}" for method in methods))
    best = best_ratios(errors)
    for name in sorted({cell.set_name for cell in errors}):
        mean = geometric_mean(ratio for cell, ratio in best.items() if cell.set_name == name)
        line = f"{name:<22}{mean:>6.2f}"
        for method in methods:
            some = [r for cell, r in ratios_to(errors, method).items() if cell.set_name == name]
            line += f"{geometric_mean(some):>12.2f}" if some else f"{'':>12}"
        print(line)
    means = [geometric_mean(ratios_to(errors, method).values()) for method in methods]
    print(f"{'all':<22}{geometric_mean(best.values()):>6.2f}" + "".join(f"{m:>12.2f}" for m in means))


def first_bars(rows: list[dict[str, str]]) -> None:
    """Bars on errors as they are stored, squared for numbers, of all sets together."""
    errors: Errors = {}
    for row in rows:
        errors.setdefault(Cell(row["set"], int(row["n"])), {})[row["method"]] = max(
            float(row["error"]), LEAST_RATE if row["task"] == "classification" else 0.0
        )
    to_baseline, to_best = ratios_to(errors, BASELINE), best_ratios(errors)
    if to_baseline:
        mean = geometric_mean(to_baseline.values())
        report(f"error of {OURS} / {BASELINE}'s, geometric mean", mean, "at most 0.75", mean <= 0.75)
        by_set = {
            name: geometric_mean(ratio for cell, ratio in to_baseline.items() if cell.set_name == name)
            for name in sorted({cell.set_name for cell in to_baseline})
        }
        worst = max(by_set, key=lambda name: by_set[name])
        what = f"worst set against {BASELINE} ({worst})"
        report(what, by_set[worst], "at most 1.03", by_set[worst] <= 1.03)
    mean = geometric_mean(to_best.values())
    report("error / best peer's of each set, in hindsight", mean, "at most 0.95", mean <= 0.95)
    tell_rank(errors)
    tell_intervals(rows)


def tell_intervals(rows: list[dict[str, str]]) -> None:
    """Coverage of the default's intervals, and how far probabilities can be trusted."""
    coverage: dict[str, list[float]] = {}
    calibration: dict[str, list[float]] = {}
    for row in rows:
        if row["method"] == OURS and row["coverage"]:
            coverage.setdefault(row["set"], []).append(100 * float(row["coverage"]))
        if row["calibration"]:
            calibration.setdefault(row["method"], []).append(float(row["calibration"]))
    for name, values in coverage.items():
        inside = float(np.mean(values))
        report(f"coverage of 90% intervals on {name}", inside, "88 to 93", 88 <= inside <= 93)
    if OURS not in calibration or len(calibration) < 2:
        return
    ours = float(np.mean(calibration.pop(OURS)))
    report("expected calibration error", ours, "below 0.05", ours < 0.05)
    peer = min(calibration, key=lambda m: float(np.mean(calibration[m])))
    least = float(np.mean(calibration[peer]))
    report(f"the same of the best calibrated peer ({peer})", least, f"above {ours:.3f}", least > ours)


def geometric_mean(ratios: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(ratios)))))


if __name__ == "__main__":
    main()
