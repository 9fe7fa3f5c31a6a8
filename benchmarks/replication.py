"""Do the results of the last full replication hold what was asked of them?

Reads docs/replication, which `twinviews replicate` wrote; see there for all tables.
"""

import csv
from pathlib import Path

from twinviews_experiments.datasets.paper_sets import PAPER_SETS
from twinviews_experiments.replication.comparison import Cell, is_no_worse, reduction
from twinviews_experiments.replication.published_numbers import TABLE_LABELS, published_errors
from workload import report

FOLDER = Path(__file__).parent.parent / "docs" / "replication"


def main() -> None:
    about = {row["what"]: row["value"] for row in _rows("about.csv")}
    print(f"{about['sets']} sets, {about['repetitions']} repetitions")
    minutes = float(about["minutes"])
    report("minutes of the full replication on 2 cores", minutes, "at most 60", minutes <= 60)
    cells = {
        (row["name"], row["method"], int(row["n"])): Cell(
            float(row["error"]), float(row["deviation"]), int(row["repetitions"])
        )
        for row in _rows("errors.csv")
    }
    names = sorted({name for name, _, _ in cells})
    for n in TABLE_LABELS:
        lower = reduction(
            [
                (cells[name, "XNV", n], [cells[name, rival, n] for rival in ("SSSL_M", "SSSL_2M")])
                for name in names
            ]
        )
        what = f"XNV below the better SSSL at n = {n}, percent: "
        report(f"{what}error", lower.error, "at least 10", lower.error >= 10)
        report(f"{what}spread", lower.spread, "at least 25", lower.spread >= 25)
    for method, rival in (("XNV", "XKS"), ("XNV literal", "XKS literal"), ("XNV", "XKS literal")):
        for n in TABLE_LABELS:
            won = sum(cells[name, method, n].error < cells[name, rival, n].error for name in names)
            share = 100 * won / len(names)
            report(
                f"{method} beats {rival} at n = {n}, percent of sets", share, "at least 85", share >= 85
            )
    for n in (200, 400):
        within = _within_two_deviations(cells, n)
        report(
            f"of 9 complete sets not 2 deviations above the paper, n = {n}",
            within,
            "at least 8",
            within >= 8,
        )
    for row in _rows("tables/runtimes.csv"):
        if row["method"] == "XNV":
            for name in ("bank8", "cal_housing", "sylva"):
                times = float(row[f"{name}, faster"].split()[0].replace(",", ""))
                report(f"run time of XNV on {name}: paper / ours", times, "at least 10", times >= 10)


def _within_two_deviations(cells: dict[tuple[str, str, int], Cell], n: int) -> int:
    printed = published_errors()
    count = 0
    for one in PAPER_SETS:
        if one.whole and (one.name, "XNV", n) in cells:
            count += is_no_worse(cells[one.name, "XNV", n], printed[one.result_row, "XNV", n])
    return count


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
