"""A table for trying out labels: things from a market stall that anybody can name."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from twinviews._system.whole_files import whole_file

N_ROWS = 3000
# grams, centimetres of length, length over width, Brix degrees of sugar: means and deviations in logs
_FRUITS = {
    "apple": ((180, 0.25), (7.5, 0.10), (1.05, 0.05), (12, 0.12), ("red", "green", "yellow")),
    "banana": ((130, 0.20), (18.0, 0.12), (5.00, 0.10), (20, 0.12), ("yellow", "yellow", "green")),
    "lemon": ((110, 0.25), (8.0, 0.10), (1.35, 0.08), (8, 0.12), ("yellow", "yellow", "green")),
    "plum": ((45, 0.30), (4.5, 0.12), (1.20, 0.08), (14, 0.15), ("purple", "purple", "yellow")),
    "melon": ((1500, 0.35), (17.0, 0.12), (1.15, 0.08), (13, 0.15), ("green", "yellow", "green")),
    "cherry": ((8, 0.20), (2.2, 0.08), (1.00, 0.04), (16, 0.12), ("red", "red", "purple")),
}
_ORIGINS = ("near", "Spain", "overseas")


def write_fruit(path: Path) -> list[str]:
    """The table without its answers, which are returned."""
    rng = np.random.default_rng(0)
    names = rng.choice(list(_FRUITS), N_ROWS, p=[0.3, 0.2, 0.15, 0.15, 0.08, 0.12])
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["weight in g", "length in cm", "width in cm", "colour", "sugar", "from", "peel"])
        for name in names:
            weight, length, shape, sugar, colours = _FRUITS[name]
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
