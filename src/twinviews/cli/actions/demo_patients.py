"""twinviews demo, as a function: a real table made as messy as tables are, then every command on it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from twinviews._system.whole_files import whole_file
from twinviews.cli.actions.fit_model import fit_model
from twinviews.cli.actions.predict_rows import predict_rows

_N_LABELED = 120
_NOTHING_SAID: dict[str, Any] = {
    "delimiter": None,
    "quote": None, "encoding": None, "decimal": None, "sheet": None, "missing": None, "kinds": {},
}  # fmt: skip


def run_demo(folder: Path, *, say: Callable[[str], None]) -> None:
    """Write a table, fit, report and predict; ``say`` shows each command and what it says."""
    folder.mkdir(parents=True, exist_ok=True)
    table, model = folder / "patients.csv", folder / "patients.twinviews"
    truth = write_patients(table)
    say(f"$ twinviews fit {table} --target progression -o {model} --report {folder / 'report.html'}")
    fit_model(
        str(table), "progression", model, unlabeled=[], task=None, report=folder / "report.html",
        quick=False, seed=0, reading=_NOTHING_SAID, say=say,
    )  # fmt: skip
    out = folder / "predicted.csv"
    say(f"\n$ twinviews predict {model} {table} -o {out}")
    predict_rows(
        model,
        str(table),
        str(out),
        keep=None,
        coverage=0.9,
        formulas=False,
        reading=_NOTHING_SAID,
        say=say,
    )
    say(f"\n{_against_the_truth(out, truth)}")
    say(f"The report is {folder / 'report.html'}: open it in a browser.")


def write_patients(path: Path) -> np.ndarray:
    """Write the diabetes table with an id, words, dates and blanks, and with most labels blanked.

    The labels that were blanked are returned; NaN for the others.
    """
    data = load_diabetes(scaled=False)
    rng = np.random.default_rng(0)
    hidden = np.full(len(data.target), True)
    hidden[rng.permutation(len(data.target))[:_N_LABELED]] = False
    names = ["age", "sex", "body mass", "blood pressure", "cholesterol", "LDL", "HDL", "ratio"]
    names += ["triglycerides", "glucose"]
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["patient", *names, "clinic", "visit", "progression"])
        for i, (values, y) in enumerate(zip(data.data, data.target, strict=True)):
            cells = [_cell(value) for value in values]
            cells[1] = "female" if values[1] == 1 else "male"
            for blank in np.flatnonzero(rng.random(len(cells)) < 0.03):
                cells[blank] = ""
            clinic = rng.choice(["North", "South", "Harbour"])
            visit = date(2024, 1, 1) + timedelta(days=int(rng.integers(0, 365)))
            label = "" if hidden[i] else _cell(y)
            rows.writerow([f"P{i + 1:04d}", *cells, clinic, visit.strftime("%d.%m.%Y"), label])
    return np.where(hidden, data.target, np.nan)


def _cell(value: float) -> str:
    """The number as a German spreadsheet writes it."""
    return f"{value:.10g}".replace(".", ",")


def _against_the_truth(predicted: Path, truth: np.ndarray) -> str:
    with predicted.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    guess, low, high = (
        np.array([float(row[name]) for row in rows]) for name in ("prediction", "lower", "upper")
    )
    hidden = ~np.isnan(truth)
    root = float(np.sqrt(np.mean(np.square(guess - truth)[hidden])))
    inside = float(np.mean((low <= truth)[hidden] & (truth <= high)[hidden]))
    return (
        f"Of the {hidden.sum()} results that were blanked: root mean squared error {root:.1f} (their "
        f"deviation is {truth[hidden].std():.1f}), and {inside:.0%} lie within their 90% interval."
    )
