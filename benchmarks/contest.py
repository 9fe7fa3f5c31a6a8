"""Does the default hold, on the untouched sets, what was asked of it?

Reads docs/contest/means.csv, which `twinviews compare --half untouched` wrote; see there for all
tables. The speed of the default fit is measured by fit_speed.py.
"""

import csv
from pathlib import Path

import numpy as np

from workload import report

MEANS = Path(__file__).parent.parent / "docs" / "contest" / "means.csv"
LABELS = (100, 200, 500)
OURS, BASELINE = "XNV", "KRR"


def main() -> None:
    with MEANS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["half"] == "untouched"]
    error = {(row["set"], int(row["n"]), row["method"]): float(row["error"]) for row in rows}
    draws = {int(row["draws"]) for row in rows}
    cells = sorted({(name, n) for name, n, _ in error if n in LABELS})
    methods = {cell: [m for name, n, m in error if (name, n) == cell] for cell in cells}
    task = {row["set"]: row["task"] for row in rows}
    print(f"{len({name for name, _ in cells})} untouched sets, draws: {sorted(draws)}")

    def best_other(cell: tuple[str, int]) -> float:
        return min(error[(*cell, m)] for m in methods[cell] if m != OURS)

    to_baseline = {cell: error[(*cell, OURS)] / error[(*cell, BASELINE)] for cell in cells}
    to_best = {cell: error[(*cell, OURS)] / best_other(cell) for cell in cells}
    mean = _geometric_mean(to_baseline.values())
    report(f"error of {OURS} / {BASELINE}'s, geometric mean", mean, "at most 0.75", mean <= 0.75)
    mean = _geometric_mean(to_best.values())
    report("error / best peer's of each set, in hindsight", mean, "at most 0.95", mean <= 0.95)
    for kind in ("regression", "classification"):
        some = [cell for cell in cells if task[cell[0]] == kind]
        print(
            f"  {kind}: {_geometric_mean(to_baseline[c] for c in some):.3f} of {BASELINE}'s, "
            f"{_geometric_mean(to_best[c] for c in some):.3f} of the best peer's"
        )
    names = sorted(task)
    by_set = {
        name: _geometric_mean(to_baseline[cell] for cell in cells if cell[0] == name)
        for name in names
        if any(cell[0] == name for cell in cells)
    }
    worst = max(by_set, key=lambda name: by_set[name])
    report(
        f"worst set against {BASELINE} ({worst})", by_set[worst], "at most 1.03", by_set[worst] <= 1.03
    )
    ranks: dict[str, list[float]] = {}
    for cell in cells:
        values = [error[(*cell, m)] for m in methods[cell]]
        for m, value in zip(methods[cell], values, strict=True):
            below = sum(other < value for other in values)
            equal = sum(other == value for other in values)
            ranks.setdefault(m, []).append(below + (equal + 1) / 2)
    means = {m: float(np.mean(values)) for m, values in ranks.items()}
    runner_up = min((m for m in means if m != OURS), key=lambda m: means[m])
    report(
        f"mean rank (next: {runner_up}, {means[runner_up]:.2f})",
        means[OURS],
        "first",
        means[OURS] < means[runner_up],
    )
    coverage: dict[str, list[float]] = {}
    calibration: dict[str, list[float]] = {}
    for row in rows:
        if int(row["n"]) in LABELS and row["method"] == OURS and row["coverage"]:
            coverage.setdefault(row["set"], []).append(100 * float(row["coverage"]))
        if int(row["n"]) in LABELS and row["calibration"]:
            calibration.setdefault(row["method"], []).append(float(row["calibration"]))
    for name, values in coverage.items():
        inside = float(np.mean(values))
        report(f"coverage of 90% intervals on {name}", inside, "88 to 93", 88 <= inside <= 93)
    ours = float(np.mean(calibration.pop(OURS)))
    report("expected calibration error", ours, "below 0.05", ours < 0.05)
    peer = min(calibration, key=lambda m: float(np.mean(calibration[m])))
    least = float(np.mean(calibration[peer]))
    report(f"the same of the best calibrated peer ({peer})", least, f"above {ours:.3f}", least > ours)


def _geometric_mean(ratios) -> float:
    return float(np.exp(np.mean(np.log(list(ratios)))))


if __name__ == "__main__":
    main()
