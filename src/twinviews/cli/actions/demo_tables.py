"""Tables for trying things out: patients for every command, fruit for labels that anybody can give."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from twinviews._system.whole_files import whole_file

_N_LABELED = 120
N_FRUIT = 3000
# grams, centimetres of length, length over width, Brix degrees of sugar: means and deviations in logs
FRUITS = {
    "apple": ((180, 0.25), (7.5, 0.10), (1.05, 0.05), (12, 0.12), ("red", "green", "yellow")),
    "banana": ((130, 0.20), (18.0, 0.12), (5.00, 0.10), (20, 0.12), ("yellow", "yellow", "green")),
    "lemon": ((110, 0.25), (8.0, 0.10), (1.35, 0.08), (8, 0.12), ("yellow", "yellow", "green")),
    "plum": ((45, 0.30), (4.5, 0.12), (1.20, 0.08), (14, 0.15), ("purple", "purple", "yellow")),
    "melon": ((1500, 0.35), (17.0, 0.12), (1.15, 0.08), (13, 0.15), ("green", "yellow", "green")),
    "cherry": ((8, 0.20), (2.2, 0.08), (1.00, 0.04), (16, 0.12), ("red", "red", "purple")),
}
_ORIGINS = ("near", "Spain", "overseas")


@contextmanager
def _csv_writer(path: Path, delimiter: str) -> Iterator[Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        yield csv.writer(file, delimiter=delimiter)


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
    with _csv_writer(path, ";") as rows:
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


def against_the_truth(predicted: Path, truth: np.ndarray) -> str:
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


def write_fruit(path: Path) -> list[str]:
    """The table without its answers, which are returned."""
    rng = np.random.default_rng(0)
    names = rng.choice(list(FRUITS), N_FRUIT, p=[0.3, 0.2, 0.15, 0.15, 0.08, 0.12])
    with _csv_writer(path, ",") as rows:
        rows.writerow(["weight in g", "length in cm", "width in cm", "colour", "sugar", "from", "peel"])
        for name in names:
            weight, length, shape, sugar, colours = FRUITS[name]
            long = length[0] * np.exp(rng.normal(0, length[1]))
            wide = long / (shape[0] * np.exp(rng.normal(0, shape[1])))
            grams = weight[0] * (long / length[0]) ** 2 * np.exp(rng.normal(0, weight[1] / 2))
            degrees = sugar[0] * np.exp(rng.normal(0, sugar[1]))
            peel = "thick" if name in ("banana", "lemon", "melon") else "thin"
            if rng.random() < 0.05:  # nobody looked
                peel = ""
            rows.writerow(
                [f"{grams:.0f}", f"{long:.1f}", f"{wide:.1f}", rng.choice(colours), f"{degrees:.1f}",
                 rng.choice(_ORIGINS), peel]
            )  # fmt: skip
    return [str(name) for name in names]
