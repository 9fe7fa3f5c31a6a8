"""From a label entered to the next row shown, in a real browser: 1,000,000 rows, 500 labels.

    python benchmarks/label_latency.py

The page itself measures: from the key press to the frame in which the next card is painted. The model
is solved again in between, and the next row suggested by it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import Page, sync_playwright

BAR = 150  # milliseconds at the median
COLUMNS = 20
COMMAND = [sys.executable, "-c", "from twinviews.cli import main; main()", "label"]


def write_table(path: Path, n_rows: int) -> np.ndarray:
    """Rows without labels; what their labels would be is returned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, COLUMNS))
    table = pa.table({f"column {j}": X[:, j] for j in range(COLUMNS)})
    pq.write_table(table, path)
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n_rows)


def write_labels(path: Path, y: np.ndarray, n_labels: int) -> None:
    rows = np.random.default_rng(1).permutation(len(y))[:n_labels]
    lines = ["row,target,answer,value,origin,time"]
    lines += [f"{row + 1},y,label,{y[row]:.6f},random,2026-01-01T00:00:00Z" for row in rows]
    path.write_text("\n".join(lines) + "\n")


def label_by_keyboard(page: Page, y: np.ndarray, n: int, pause: float) -> list[float]:
    for done in range(n):
        row = int(page.locator("#row").inner_text().rpartition(" ")[2].replace(",", "")) - 1
        page.keyboard.type(f"{y[row]:.3f}")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "n => performance.getEntriesByName('label-to-next').length > n", arg=done, timeout=10_000
        )
        time.sleep(pause)
    return page.evaluate("performance.getEntriesByName('label-to-next').map(e => e.duration)")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--labels", type=int, default=500)
    arguments.add_argument("--measured", type=int, default=60)
    arguments.add_argument("--pause", type=float, default=0.5, help="seconds that a person thinks")
    arguments.add_argument("--chromium", default="/usr/bin/chromium")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y = write_table(folder / "rows.parquet", options.rows)
        write_labels(folder / "labels.csv", y, options.labels)
        log = (folder / "log.txt").open("w+")
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        start = time.time()
        server = subprocess.Popen(
            [*COMMAND, str(folder / "rows.parquet"), "--target", "y", "--task", "regression",
             "--no-browser"], stdout=log, stderr=log, env=environment,
        )  # fmt: skip
        try:
            while not (found := re.search(r"http://\S+", (folder / "log.txt").read_text())):
                time.sleep(0.1)
            print(f"{options.rows:,} rows: the page answers after {time.time() - start:.1f} s")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.goto(found.group(0))
                page.wait_for_selector("text=column 0")
                page.evaluate(
                    """async ([name, content]) => {
                        const token = location.hash.slice(1) || sessionStorage.getItem("token");
                        const answer = await fetch(`/api/import?target=y&name=${name}`, {method: "POST",
                            body: content, headers: {"Authorization": `Bearer ${token}`,
                            "Content-Type": "application/octet-stream"}});
                        if (!answer.ok) throw new Error(await answer.text());
                    }""",
                    ["labels.csv", (folder / "labels.csv").read_text()],
                )
                while not page.locator("text=The model would say").is_visible():  # it is learning
                    time.sleep(3)
                    page.reload()
                    page.wait_for_selector("text=column 0")
                took = label_by_keyboard(page, y, options.measured, options.pause)
                browser.close()
        finally:
            server.terminate()
            server.wait()
    median, high = np.median(took), np.quantile(took, 0.95)
    print(
        f"label entered to next row shown, {options.labels} labels and more: median {median:.0f} ms "
        f"(bar: under {BAR}), 95% within {high:.0f} ms, {len(took)} labels"
    )
    if not median < BAR:
        raise SystemExit("Too slow.")


if __name__ == "__main__":
    main()
