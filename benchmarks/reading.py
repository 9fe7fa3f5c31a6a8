"""What does it cost to find out what a CSV file is, and does it stay out of memory?

Writes files of about 200 and 800 MB: an id, numbers, categories, dates, blanks. Reading finds encoding,
delimiter, decimal sign and the types of all columns from all rows; it takes turns with a bare read of
Arrow's, which finds types from the first megabyte. Then the paper's method is fitted on the smaller
file, end to end, and its parses are counted.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.dataset as ds

from twinviews import XNVRegressor
from twinviews.reading import columnar_copy, read
from workload import best_seconds, report

N_ROWS = 2_000_000


def write(path: Path, parts: int) -> None:
    """``parts`` times the same two million rows, one after the other."""
    rng = np.random.default_rng(0)
    blank = rng.random(N_ROWS) < 0.5
    table = pa.table(
        {
            "id": np.arange(N_ROWS),
            **{f"x{j}": rng.normal(size=N_ROWS).round(6) for j in range(6)},
            "city": rng.choice(["Berlin", "Hamburg", "München", "Köln"], N_ROWS),
            "grade": rng.choice(list("abcdef"), N_ROWS),
            "when": np.datetime64("2020-01-01") + rng.integers(0, 1500, N_ROWS),
            "count": pa.array(rng.integers(0, 1000, N_ROWS), mask=blank),
            "y": pa.array(rng.normal(size=N_ROWS).round(4), mask=~blank),
        }
    )
    with arrow_csv.CSVWriter(path, table.schema) as writer:
        for _ in range(parts):
            writer.write(table)


def peak_megabytes() -> float:
    """Of this process alone, whatever its parent had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def peak_of_reading(path: str) -> None:
    """In a process of its own: megabytes above the imports, to find out and to pass over the rows."""
    before = peak_megabytes()
    for _ in read(path).dataset.to_batches(use_threads=False):
        pass
    print(peak_megabytes() - before)


def counted_fit(path: Path) -> int:
    """Fit from the file as ``twinviews fit --quick`` does; how often the text was parsed."""
    parses = 0
    open_csv = arrow_csv.open_csv

    def counting_open(*arguments, **options):  # type: ignore[no-untyped-def]
        nonlocal parses
        parses += 1
        return open_csv(*arguments, **options)

    def counting_copy(reading):  # type: ignore[no-untyped-def]
        nonlocal parses
        parses += isinstance(getattr(reading.dataset, "format", None), ds.CsvFileFormat)
        return columnar_copy(reading)

    with (
        mock.patch.object(arrow_csv, "open_csv", counting_open),
        mock.patch("twinviews.reading.columnar_copy", counting_copy),
    ):
        XNVRegressor(committee=False, scale="standard", random_state=0).fit_table(path, target="y")
    return parses


def main() -> None:
    if sys.argv[1:]:
        return peak_of_reading(sys.argv[1])
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        for parts in (4, 1):
            write(path, parts)
            command = [sys.executable, __file__, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            peaks.append(float(done.stdout))
            print(
                f"{path.stat().st_size / 1e6:.0f} MB: {peaks[-1]:.0f} MB above the imports", flush=True
            )
        seconds = best_seconds(
            {"bare": lambda: arrow_csv.read_csv(path), "ours": lambda: read(path)}, 5
        )
        start = perf_counter()
        parses = counted_fit(path)
        fit_seconds = perf_counter() - start
    ratio = seconds["ours"] / seconds["bare"]
    report("finding out what a CSV file is, against a bare read of it", ratio, "at most 2", ratio <= 2)
    report("parses of the file in a fit", parses, "at most 3", parses <= 3)
    print(f"fit end to end: {fit_seconds:.1f} s, {fit_seconds / seconds['bare']:.1f} bare reads")
    report(
        "peak memory of the larger file, MB above the imports", peaks[0], "below 600", peaks[0] < 600
    )
    return None


if __name__ == "__main__":
    main()
